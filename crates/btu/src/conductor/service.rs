//! A service of an agent, as the host that wants it has it: begun, told words, lost and begun again.

use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::anyhow;
use btu_control::Identity;
use btu_control::client::Fault;
use btu_control::message::Answer;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::ServiceOrder;
use btu_control::message::ServiceWord;
use btu_control::message::Which;
use btu_control::secret::Hex32;
use btu_core::disclosure::HostFacts;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::comm::Seat;
use serde_json::Value;

use super::ANSWER;
use super::Asking;
use super::Granted;
use super::NamedAgent;
use super::PeerLink;
use super::Retries;
use crate::exit::Failure;
use crate::output;

/// What is wanted of an agent.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Name of the service.
    pub(crate) service: &'static str,
    /// What the agent's log calls the plan.
    pub(crate) plan: String,
    /// What the service has to do, in its own form.
    pub(crate) order: Value,
    /// The most data connections at once.
    pub(crate) flows: u32,
    /// The longest time between two words.
    pub(crate) silence: Nanos,
    /// How long a lost agent is waited for.
    pub(crate) reconnect: Nanos,
    /// Whether nothing is said of queues and losses.
    pub(crate) quiet: bool,
}

/// A service that was begun. Dropped, the agent's time is given back.
pub(crate) struct RemoteService {
    agent: NamedAgent,
    own: Identity,
    wanted: Wanted,
    cancel: Arc<AtomicBool>,
    /// `None` where the agent is lost.
    link: Option<PeerLink>,
    shared: u32,
    secret: Hex32,
    lost: Option<String>,
    /// What the agent's policy lets one of its connections send.
    rate: Option<BitRate>,
}

impl std::fmt::Debug for RemoteService {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "RemoteService({} of {})", self.wanted.service, self.agent.name)
    }
}

impl RemoteService {
    /// Gets the agent's time and begins the service.
    pub(crate) fn begin(
        agent: NamedAgent,
        own: Identity,
        wanted: Wanted,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut service = Self {
            agent,
            own,
            wanted,
            cancel: Arc::clone(cancel),
            link: None,
            shared: 1,
            secret: Hex32::new([0; 32]),
            lost: None,
            rate: None,
        };
        service.reach(&|| ())?;
        // An invitation is good once; from now on both know each other.
        service.agent.secret = None;
        Ok(service)
    }

    /// How many conductors share the agent.
    pub(crate) const fn shared(&self) -> u32 {
        self.shared
    }

    /// What the agent's policy holds its connections to, in words; `None` for what the path takes.
    pub(crate) fn held_to(&self) -> Option<String> {
        self.rate.map(|rate| super::held_to(&self.agent.name, rate))
    }

    /// What data connections have to know.
    pub(crate) const fn seat(&self) -> Seat {
        Seat { secret: *self.secret.bytes(), run: RUN, attempt: ATTEMPT, flow: 0 }
    }

    /// As it was named, for people.
    pub(crate) fn name(&self) -> &str {
        &self.agent.name
    }

    /// True where the agent was lost and not yet regained.
    pub(crate) const fn is_away(&self) -> bool {
        self.link.is_none()
    }

    /// True where the agent is gone, seen in passing while nothing is said.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.link.as_mut().is_none_or(PeerLink::is_closed)
    }

    /// Why the agent is lost for good, if it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.clone()
    }

    /// Where data go that the agent wants there.
    pub(crate) fn door(&self, told: SocketAddr) -> Result<SocketAddr, EngineError> {
        let refused =
            |what: String| EngineError::Refused(format!("agent {}: {what}", self.agent.name));
        super::door(self.agent.reached, told).map_err(refused)
    }

    /// The address of this host on the way to the agent.
    pub(crate) fn own_address(&self) -> Option<IpAddr> {
        self.link.as_ref().and_then(|link| link.own_address().ok())
    }

    /// What the agent's host says of itself.
    pub(crate) fn facts(&mut self) -> Result<HostFacts, Failure> {
        match &mut self.link {
            Some(link) => super::facts(link, &self.agent),
            None => Err(super::failure(&self.agent, Fault::Lost("given up before".to_owned()))),
        }
    }

    /// Says a word, whose answer may take `within` and after which this host may be silent for
    /// `lease`. An agent that is lost here is lost until [`regain`](Self::regain).
    pub(crate) fn say(
        &mut self,
        word: Value,
        within: Nanos,
        lease: Nanos,
    ) -> Result<Value, EngineError> {
        let name = &self.agent.name;
        let refused = |what: &str| EngineError::Refused(format!("agent {name}: {what}"));
        let Some(link) = &mut self.link else { return Err(refused("it was lost before")) };
        let which = Which { run: RUN, attempt: ATTEMPT, seq: link.next_seq() };
        let lease_ns = within.saturating_add(lease).saturating_add(ANSWER);
        let word = Request::Word(Box::new(ServiceWord { which, lease_ns, word }));
        match link.ask(word, within.saturating_add(ANSWER), &mut |_| ()) {
            Ok(reply) => match reply.answer {
                Answer::Said { said, .. } => Ok(said),
                Answer::Failed { reason, .. } => {
                    let refused = refused(&reason);
                    self.lose_for(&Fault::Refused(reason));
                    Err(refused)
                }
                _ => Err(refused("it took a word for an older one")),
            },
            Err(fault) => {
                self.link = None;
                let refused = refused(&fault.to_string());
                self.lose_for(&fault);
                Err(refused)
            }
        }
    }

    /// What the agent's policy forbids it forbids the next time, too: it is not asked again.
    fn lose_for(&mut self, fault: &Fault) {
        if fault.is_by_policy() {
            self.link = None;
            self.lost = Some(format!("agent {}: {fault}", self.agent.name));
        }
    }

    /// Tries to get a lost agent back as long as the user's patience lasts. The service begins anew: what it
    /// had open is gone. `meanwhile` is called often: others may wait for a word of this host.
    pub(crate) fn regain(&mut self, meanwhile: &dyn Fn()) -> Result<(), EngineError> {
        if self.link.is_some() {
            return Ok(());
        }
        if let Some(lost) = &self.lost {
            return Err(EngineError::Refused(lost.clone()));
        }
        if !self.wanted.quiet {
            output::message(&format!("agent {} is lost; trying again", self.agent.name));
        }
        let mut retries = Retries::new(self.wanted.reconnect, &self.cancel);
        loop {
            meanwhile();
            let failure = match self.reach(meanwhile) {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            if retries.are_over() {
                let lost = format!("{:#}", failure.cause);
                self.lost = Some(lost.clone());
                return Err(EngineError::Refused(lost));
            }
            retries.wait(meanwhile);
        }
    }

    /// Connects, reserves, begins.
    fn reach(&mut self, meanwhile: &dyn Fn()) -> Result<(), Failure> {
        let quiet = self.wanted.quiet;
        let tell = |text: &str| {
            if !quiet {
                output::message(text);
            }
        };
        let asking = Asking { own: &self.own, cancel: &self.cancel, tell: &tell, meanwhile };
        let granted = asking.reserve(&self.agent, self.reservation());
        let granted = granted.map_err(|fault| super::failure(&self.agent, fault))?;
        let Granted { mut link, shared, .. } = granted.map_err(|reason| self.refused(&reason))?;
        self.secret = Hex32::random().map_err(Failure::environment)?;
        let which = Which { run: RUN, attempt: ATTEMPT, seq: link.next_seq() };
        let order = ServiceOrder {
            which,
            service: self.wanted.service.to_owned(),
            flows: self.wanted.flows,
            lease_ns: self.wanted.silence,
            secret: self.secret,
            order: self.wanted.order.clone(),
        };
        let begun = link.ask(Request::Service(Box::new(order)), ANSWER, &mut |_| meanwhile());
        match begun.map_err(|fault| super::failure(&self.agent, fault))?.answer {
            Answer::Said { said, .. } => {
                self.agent.reached = link.reached();
                (self.link, self.shared) = (Some(link), shared);
                self.rate = said[RATE_OF_CONNECTION].as_u64().map(BitRate::new);
                Ok(())
            }
            Answer::Failed { reason, .. } => Err(self.refused(&reason)),
            _ => Err(self.refused("no answer to the beginning of a service")),
        }
    }

    fn reservation(&self) -> Reservation {
        Reservation {
            plan: self.wanted.plan.clone(),
            longest_run_ns: self.wanted.silence,
            silence_ns: self.wanted.silence,
            flows: self.wanted.flows,
            activities: Vec::new(),
            emulation: false,
            services: vec![self.wanted.service.to_owned()],
            test: false,
        }
    }

    fn refused(&self, reason: &str) -> Failure {
        Failure::agent(anyhow!("agent {}: {reason}", self.agent.name))
            .hint("btu agent status, there, says more")
    }
}

/// The key under which a service that was begun says what one of its connections may send.
pub(crate) const RATE_OF_CONNECTION: &str = "connection_bit_s";
/// A reservation has one service, which is its first run.
const RUN: u64 = 1;
const ATTEMPT: u32 = 1;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn others_are_fed_while_a_lost_agent_is_waited_for() {
        let own = Identity::ephemeral().unwrap();
        // Nobody listens on a port that was given back.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let agent = NamedAgent {
            name: "lab1".to_owned(),
            id: own.id(),
            address: free.to_string(),
            reached: None,
            secret: None,
        };
        let wanted = Wanted {
            service: "traffic",
            plan: String::new(),
            order: Value::Null,
            flows: 1,
            silence: Nanos::from_secs(60),
            // Eight tries, were they all that is done.
            reconnect: Nanos::from_secs(60),
            quiet: true,
        };
        let cancel = Arc::<AtomicBool>::default();
        let mut service = RemoteService {
            agent,
            own,
            wanted,
            cancel: Arc::clone(&cancel),
            link: None,
            shared: 1,
            secret: Hex32::new([0; 32]),
            lost: None,
            rate: None,
        };
        let times = Cell::new(0);
        let feed = || {
            times.set(times.get() + 1);
            cancel.store(times.get() >= 10, Relaxed);
        };
        service.regain(&feed).unwrap_err();
        assert!(times.get() >= 10);
        assert!(service.is_away());
    }
}
