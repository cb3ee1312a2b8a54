//! The time of one agent, and what its host says of itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_control::Identity;
use btu_control::client::Fault;
use btu_control::message::Answer;
use btu_control::message::Offer;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::units::Nanos;

use super::ANSWER;
use super::Meanwhile;
use super::NamedAgent;
use super::PeerLink;
use crate::exit::Failure;

/// Who asks for an agent's time.
pub(crate) struct Asking<'a> {
    /// This host.
    pub(crate) own: &'a Identity,
    /// Set by whoever wants all waiting to end.
    pub(crate) cancel: &'a Arc<AtomicBool>,
    /// Who hears the place in its queue.
    pub(crate) tell: &'a dyn Fn(&str),
    /// Called some times a second while anything is waited for.
    pub(crate) meanwhile: &'a dyn Fn(),
}

/// An agent whose time is ours.
pub(crate) struct Granted {
    /// The connection to it.
    pub(crate) link: PeerLink,
    /// How many conductors share it.
    pub(crate) shared: u32,
    /// Where its links can be emulated, or why not.
    pub(crate) emulation: Offer,
}

impl Asking<'_> {
    /// Gets the time of an agent; the inner error is its refusal.
    pub(crate) fn reserve(
        &self,
        agent: &NamedAgent,
        wanted: Reservation,
    ) -> Result<Result<Granted, String>, Fault> {
        let name = &agent.name;
        let mut hears = |meanwhile| match meanwhile {
            Meanwhile::Queued(place) => {
                (self.tell)(&format!("agent {name} works for others: place {place} in its queue"));
            }
            Meanwhile::Waiting => (self.meanwhile)(),
        };
        let mut link = PeerLink::connect(agent, self.own, self.cancel, &mut hears)?;
        match link.ask(Request::Reserve(wanted), RESERVATION, &mut hears)?.answer {
            Answer::Granted { shared, emulation } => Ok(Ok(Granted { link, shared, emulation })),
            Answer::Refused { reason } => Ok(Err(reason)),
            _ => Err(Fault::Lied("no answer to a reservation".to_owned())),
        }
    }
}

/// What an agent's host says of itself.
pub(crate) fn facts(link: &mut PeerLink, agent: &NamedAgent) -> Result<HostFacts, Failure> {
    let seq = link.next_seq();
    let reply = link.ask(Request::Facts { seq }, ANSWER, &mut |_| ());
    let reply = reply.map_err(|fault| super::failure(agent, fault))?;
    let read = serde_json::from_slice::<Disclosure>(&reply.document);
    let lied = |error| super::failure(agent, Fault::Lied(format!("its facts: {error}")));
    let mut said = read.map_err(lied)?;
    let mut facts = said.hosts.remove("test").unwrap_or_default();
    facts.insert("tool".to_owned(), said.tool);
    let own = [("address", &agent.address), ("identity", &agent.id.to_string())];
    let own = own.map(|(name, value)| (name.to_owned(), Fact::known(value.as_str())));
    facts.insert("agent".to_owned(), own.into());
    Ok(facts)
}

/// An agent tells the place in its queue every few seconds: there is no end to waiting but silence.
const RESERVATION: Nanos = Nanos::from_secs(30);
