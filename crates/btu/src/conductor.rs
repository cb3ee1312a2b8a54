//! The conductor's connections to agents: who they are by name, and one that is made and asked.

mod patience;
mod peer;
mod reservation;
mod service;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::anyhow;
use btu_control::HostId;
use btu_control::client::Fault;
use btu_control::invite::Invite;
use btu_control::invite::Secret;
use btu_control::message::BlackBox;
use btu_core::units::BitRate;

use crate::exit::Failure;
use crate::state::StateDir;

pub(crate) use patience::ANSWER;
pub(crate) use patience::Retries;
pub(crate) use peer::Meanwhile;
pub(crate) use peer::PeerLink;
pub(crate) use peer::Steps;
pub(crate) use reservation::Asking;
pub(crate) use reservation::Granted;
pub(crate) use reservation::facts;
pub(crate) use service::RATE_OF_CONNECTION;
pub(crate) use service::RemoteService;
pub(crate) use service::Wanted;

/// An agent that is named on the command line.
#[derive(Clone, Debug)]
pub(crate) struct NamedAgent {
    /// As it was named, for people.
    pub(crate) name: String,
    /// Who it has to be.
    pub(crate) id: HostId,
    /// Where it listens, `host:port`.
    pub(crate) address: String,
    /// Where it was reached before: its name is not looked up again.
    pub(crate) reached: Option<SocketAddr>,
    /// With an invitation in the place of a name: its secret.
    pub(crate) secret: Option<Secret>,
}

impl NamedAgent {
    /// The agent with this name, or of this invitation. `option` is where it was named.
    pub(crate) fn find(state: &StateDir, option: &str, text: &str) -> Result<Self, Failure> {
        match text.parse::<Invite>() {
            Ok(invite) => return Ok(Self::invited(invite)),
            // What was pasted with a fault in it holds a secret all the same, and is not repeated.
            Err(cause) if is_secret(text) => {
                let cause = anyhow::Error::new(cause).context(option.to_owned());
                return Err(Failure::usage(cause));
            }
            Err(_name) => {}
        }
        let agents = state.agents()?;
        let Some(known) = agents.get(text) else {
            let names = agents.keys().cloned().collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "none".to_owned() } else { names };
            let cause = anyhow!("{option} {text}: no agent of this name; known here: {names}");
            return Err(Failure::usage(cause)
                .hint("on the agent: btu agent invite; here: btu pair INVITE --name NAME"));
        };
        let id = known.id.parse().map_err(Failure::usage)?;
        let (name, address) = (text.to_owned(), known.address.clone());
        Ok(Self { name, id, address, reached: None, secret: None })
    }

    /// A black box of an order.
    pub(crate) fn of_box(one: &BlackBox) -> Result<Self, Failure> {
        let id = one.id.parse().map_err(Failure::usage)?;
        let (name, address) = (one.name.clone(), one.address.clone());
        Ok(Self { name, id, address, reached: None, secret: None })
    }

    fn invited(invite: Invite) -> Self {
        let Invite { agent, secret, address } = invite;
        let name = address.clone();
        Self { name, id: agent, address, reached: None, secret: Some(secret) }
    }
}

/// True for an invitation, whole or damaged: nothing that the program says may hold one.
fn is_secret(text: &str) -> bool {
    text.trim_start().starts_with("btu1.")
}

/// How an agent is called in what a user reads: by the name that was given, but never by an invitation.
/// That is good once: another one takes its place.
pub(crate) fn shown(agent: &str) -> &str {
    if is_secret(agent) { "INVITE" } else { agent }
}

/// Where an agent is to get data: where it wants them on the host that was reached. It may name no other:
/// what is paired is that host, and who else lives at an address is not asked.
pub(crate) fn door(reached: Option<SocketAddr>, told: SocketAddr) -> Result<SocketAddr, String> {
    let reached = reached.ok_or("it is gone")?;
    if told.ip().to_canonical() != reached.ip().to_canonical() {
        return Err(format!(
            "it wants data at {}, and was reached at {}: nothing is sent to another host; pair it by \
             an address that is its own, without translation on the way",
            told.ip(),
            reached.ip()
        ));
    }
    // With the zone of a link-local address, which only the own host knows.
    let mut door = reached;
    door.set_port(told.port());
    Ok(door)
}

/// What a result says of an agent that sent no faster than its policy allows.
pub(crate) fn held_to(agent: &str, rate: BitRate) -> String {
    format!("max_rate in the policy of agent {agent}: {rate} per connection")
}

/// Uses an invitation: afterwards the agent knows this host.
pub(crate) fn join(state: &StateDir, invite: Invite) -> Result<(), Failure> {
    let agent = NamedAgent::invited(invite);
    let link = PeerLink::connect(&agent, &state.identity()?, &Arc::default(), &mut |_| ());
    link.map(drop).map_err(|fault| failure(&agent, fault))
}

/// A lost agent with its exit code, and what can be done.
pub(crate) fn failure(agent: &NamedAgent, fault: Fault) -> Failure {
    let hint = match &fault {
        Fault::Lost(_) | Fault::Silent(..) => {
            "is btu agent running there, and listening to this network?"
        }
        Fault::Stranger(_) | Fault::Unknown => "pair again: btu agent invite there, btu pair here",
        Fault::Version { .. } => "install the same version on both hosts",
        Fault::Bye(_) | Fault::Endless(_) | Fault::Lied(_) | Fault::Refused(_) => {
            "btu agent status, there, says more"
        }
    };
    let cause =
        anyhow::Error::new(fault).context(format!("agent {} at {}", agent.name, agent.address));
    Failure::agent(cause).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_to_the_host_that_was_reached_and_to_no_other() {
        let door = |reached: &str, told: &str| {
            door(Some(reached.parse().unwrap()), told.parse().unwrap()).map(|at| at.to_string())
        };
        for (reached, told, at) in [
            ("10.0.4.7:7411", "10.0.4.7:7420", "10.0.4.7:7420"),
            ("10.0.4.7:7411", "[::ffff:10.0.4.7]:7420", "10.0.4.7:7420"),
            ("[fe80::7%3]:7411", "[fe80::7]:7420", "[fe80::7%3]:7420"),
        ] {
            assert_eq!(door(reached, told), Ok(at.to_owned()));
        }
        for told in ["10.0.4.8:7420", "127.0.0.1:7420", "[::1]:22", "0.0.0.0:7420"] {
            let refused = door("10.0.4.7:7411", told).unwrap_err();
            assert!(refused.contains("was reached at 10.0.4.7: nothing is sent to another host"));
        }
    }
}
