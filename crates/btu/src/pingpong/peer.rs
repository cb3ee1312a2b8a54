//! A paired host as the far one: what the engine says to it goes to its agent's service `pingpong`.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;
use btu_core::pingpong::plan::Plan;
use btu_core::role::Role;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::comm::Seat;
use btu_engine::pingpong::LONGEST_WITH_A_PEER;
use btu_engine::pingpong::Sessions;
use btu_engine::pingpong::host::Host;
use btu_engine::pingpong::host::Meeting;
use btu_engine::pingpong::host::Talk;
use btu_engine::pingpong::host::Told;
use btu_engine::pingpong::host::Word;
use btu_sys::socket::Settings;
use serde::Deserialize;
use serde_json::Value;

use super::options::PingPongArgs;
use super::path::Hosts;
use crate::conductor::NamedAgent;
use crate::conductor::RemoteService;
use crate::conductor::Wanted;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::state::StateDir;

/// An agent that answers words of the ping-pong.
#[derive(Debug)]
struct Peer(RemoteService);

/// The agent that --peer names.
pub(super) fn named(args: &PingPongArgs, name: &str) -> Result<NamedAgent, Failure> {
    NamedAgent::find(&StateDir::open(&args.state)?, "--peer", name)
}

/// This host and a paired one.
pub(super) fn hosts(
    args: &PingPongArgs,
    name: &str,
    plan: &Plan,
    interrupt: &Interrupt,
) -> Result<Hosts, Failure> {
    let agent = named(args, name)?;
    let own = StateDir::open(&args.state)?.identity()?;
    let mut service = RemoteService::begin(agent, own, wanted(args, plan), interrupt.flag())?;
    let far = Some(service.facts()?);
    let near = Party {
        place: Place::here(Role::Test),
        address: service.own_address().unwrap_or([0, 0, 0, 0].into()),
        sockets: Settings::default(),
    };
    let facts = [
        ("network", Fact::known("the network between two hosts, as their systems have it")),
        ("shared_active", Fact::known(service.shared())),
    ];
    let mut facts: BTreeMap<_, _> = facts.map(|(name, fact)| (name.to_owned(), fact)).into();
    facts.extend(service.held_to().map(|held| ("policy_active".to_owned(), Fact::known(held))));
    let mut host = Host::new(Peer(service));
    host.cpus.clone_from(&plan.far_cpus);
    let sessions = Sessions::with_host(near, host, plan.patience_ns, interrupt.flag().clone());
    Ok(Hosts { sessions, facts, far })
}

fn wanted(args: &PingPongArgs, plan: &Plan) -> Wanted {
    // One connection of each configuration, and in the search one of each factor.
    let most = plan.configurations.len().max(if plan.chasms.is_some() { FACTORS } else { 1 });
    Wanted {
        service: "pingpong",
        plan: format!("pingpong {:016x}", plan.seed),
        order: Value::Null,
        flows: u32::try_from(most).unwrap_or(u32::MAX),
        silence: SILENCE.saturating_add(plan.patience_ns),
        reconnect: Nanos::from_secs(args.reconnect.into()),
        quiet: args.result.quiet,
    }
}

impl Talk for Peer {
    fn say(&mut self, word: &Word, within: Nanos) -> Result<Told, EngineError> {
        // A new connection is where a lost agent may come back; in an old one nobody is left.
        if matches!(word, Word::Listen { .. }) {
            self.0.regain(&|| ())?;
        }
        let refused = |cause: serde_json::Error| {
            EngineError::Refused(format!("the agent does not keep to the protocol: {cause}"))
        };
        let word = serde_json::to_value(word).map_err(refused)?;
        let mut told = Told::deserialize(self.0.say(word, within, SILENCE)?).map_err(refused)?;
        if let Told::Listening { at: Meeting::At(at) | Meeting::Secure(at, _) } = &mut told {
            *at = self.0.door(*at)?;
        }
        Ok(told)
    }

    fn seat(&self) -> Seat {
        self.0.seat()
    }

    fn lost(&self) -> Option<String> {
        self.0.lost()
    }
}

/// The longest time between two words: a visit beyond its limit, or copies of memory in between.
const SILENCE: Nanos = LONGEST_WITH_A_PEER;
/// Configurations that the search for chasms has open at once.
const FACTORS: usize = 24;
