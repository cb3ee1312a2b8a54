//! Paired hosts as the hosts of a scenario: this machine plays `test`, their agents the others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::anyhow;
use btu_control::client::Silence;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::role::Role;
use btu_core::traffic::clock::Reading;
use btu_core::traffic::plan::Plan;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::comm::Seat;
use btu_engine::time::now;
use btu_sys::socket::Settings;
use serde::Deserialize;
use serde_json::Value;

use super::bounds::Bounds;
use super::bounds::Opened;
use super::meter::Counting;
use super::words;
use super::words::Told;
use super::words::Word;
use crate::conductor;
use crate::conductor::NamedAgent;
use crate::conductor::RemoteService;
use crate::conductor::Wanted;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::state::StateDir;
use crate::traffic::expand::Layout;

/// Hosts that a network joins: this one with each agent.
pub(crate) struct Apart;

impl Layout for Apart {
    fn place(&self, role: Role) -> Place {
        Place::here(role)
    }

    /// Where a flow is received is told by the agent; here it is only whether the two are joined.
    fn address(&self, from: Role, to: Role) -> Result<IpAddr, Failure> {
        match (from, to) {
            (Role::Test, Role::Test) => {
                Err(Failure::usage(anyhow!("{from} -> {to}: both ends are on one host")))
            }
            (Role::Test, _) | (_, Role::Test) => Ok(Ipv4Addr::UNSPECIFIED.into()),
            _ => Err(Failure::usage(anyhow!("{from} -> {to}: {NO_THIRD}"))
                .hint("write the connections of each host in a scenario of its own")),
        }
    }

    fn linger(&self) -> Option<Nanos> {
        None
    }
}

/// Why two black boxes exchange nothing.
pub(in crate::traffic) const NO_THIRD: &str =
    "one host has an end in every connection, and neither is that one";

/// The agents of a measurement.
pub(in crate::traffic) struct Peers {
    lines: BTreeMap<Role, Line>,
    /// In the order of [`Role::ALL`].
    pub(in crate::traffic) parties: Vec<Party>,
    /// What the policy of this host leaves, where another one ordered the measurement.
    pub(in crate::traffic) bounds: Option<Arc<Bounds>>,
    /// This host as an agent of that one, by its name there.
    name: Option<String>,
    jobs: AtomicU32,
    /// Data went to an agent over IPv6.
    ipv6: AtomicBool,
}

/// What leads to one agent.
struct Line {
    service: Mutex<RemoteService>,
    /// Locked for moments only, and by whoever speaks while he has the service.
    silence: Mutex<Silence>,
}

/// What is asked of agents, and by whom.
pub(in crate::traffic) struct Company<'a> {
    pub(in crate::traffic) agents: &'a BTreeMap<Role, NamedAgent>,
    pub(in crate::traffic) state: &'a StateDir,
    pub(in crate::traffic) reconnect: Nanos,
    pub(in crate::traffic) quiet: bool,
    /// Of this host, where another one ordered the measurement.
    pub(in crate::traffic) bounds: Option<Arc<Bounds>>,
}

/// What the hosts of agents say of themselves, by part.
pub(in crate::traffic) type FarFacts = BTreeMap<String, HostFacts>;

impl Peers {
    /// Gets the time of all agents, always in the order of their identities, so that two conductors
    /// never wait for each other.
    pub(in crate::traffic) fn begin(
        company: &Company<'_>,
        needs: &Needs,
        plan: &Plan,
        interrupt: &Interrupt,
    ) -> Result<(Self, FarFacts), Failure> {
        let mut order: Vec<(&Role, &NamedAgent)> = company.agents.iter().collect();
        order.sort_by_key(|(_, agent)| agent.id.to_string());
        let (mut lines, mut far) = (BTreeMap::new(), FarFacts::new());
        for (role, agent) in order {
            let wanted = Wanted {
                service: words::SERVICE,
                plan: format!("traffic {:016x}", plan.seed),
                order: Value::Null,
                flows: needs.connections,
                silence: needs.silence,
                reconnect: company.reconnect,
                quiet: company.quiet,
            };
            let own = company.state.identity()?;
            let mut service = RemoteService::begin(agent.clone(), own, wanted, interrupt.flag())?;
            far.insert(role.to_string(), service.facts()?);
            let (service, silence) = (Mutex::new(service), Mutex::default());
            lines.insert(*role, Line { service, silence });
        }
        let parties = Role::ALL.map(|role| Party {
            place: Place::here(role),
            address: Ipv4Addr::UNSPECIFIED.into(),
            sockets: Settings::default(),
        });
        let (bounds, name) = (company.bounds.clone(), plan.agents.get(&Role::Test).cloned());
        let (parties, jobs, ipv6) = (parties.into(), AtomicU32::new(0), AtomicBool::default());
        Ok((Self { lines, parties, bounds, name, jobs, ipv6 }, far))
    }

    /// What is to be said of the hosts.
    pub(in crate::traffic) fn facts(&self) -> BTreeMap<String, Fact> {
        let network = "the network between the hosts, as their systems have it";
        let mut facts = BTreeMap::from([("network".to_owned(), Fact::known(network))]);
        let own =
            self.name.iter().map(|name| ("agent_test".to_owned(), Fact::known(name.as_str())));
        let held = self.held_here().map(|held| ("policy_test".to_owned(), Fact::known(held)));
        facts.extend(own.chain(held));
        for role in self.lines.keys() {
            let Ok(service) = self.service(*role) else { continue };
            facts.insert(format!("agent_{role}"), Fact::known(service.name()));
            facts.insert(format!("shared_{role}"), Fact::known(service.shared()));
            let held = service.held_to().map(|held| (format!("policy_{role}"), Fact::known(held)));
            facts.extend(held);
        }
        facts
    }

    /// What the policies of agents hold their connections to, in words.
    pub(in crate::traffic) fn held_to(&self) -> Vec<(Role, String)> {
        let held = |role: &Role| Some((*role, self.service(*role).ok()?.held_to()?));
        let own = self.held_here().map(|held| (Role::Test, held));
        own.into_iter().chain(self.lines.keys().filter_map(held)).collect()
    }

    /// What the policy of this host holds its own connections to, in words.
    fn held_here(&self) -> Option<String> {
        let name = self.name.as_deref().unwrap_or("test");
        self.rate().map(|rate| conductor::held_to(name, rate))
    }

    /// What the policy of this host lets one of its connections send.
    pub(in crate::traffic) fn rate(&self) -> Option<BitRate> {
        self.bounds.as_ref().and_then(|bounds| bounds.rate())
    }

    /// Whether the policy of this host lets the next run begin.
    pub(in crate::traffic) fn admits(&self) -> Result<(), EngineError> {
        let admitted = self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.admits());
        admitted.map_err(EngineError::Refused)
    }

    /// The same of so many connections at once, until what is given is dropped.
    pub(in crate::traffic) fn open(
        &self,
        connections: usize,
    ) -> Result<Option<Opened<'_>>, EngineError> {
        self.bounds.as_ref().map(|bounds| bounds.open(connections)).transpose()
    }

    /// The same of a probe, which sends what nobody holds to a rate.
    pub(in crate::traffic) fn admits_probes(&self) -> Result<(), EngineError> {
        self.admits()?;
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.admits_probes())
    }

    /// Counts payload that is moved here by a figure that only grows, until what is given is dropped.
    pub(in crate::traffic) fn count(
        &self,
        source: impl Fn() -> Bytes + Send + 'static,
    ) -> Option<Counting> {
        self.bounds.as_ref().map(|bounds| bounds.count(source))
    }

    /// The number of the next job.
    pub(in crate::traffic) fn next_job(&self) -> u32 {
        self.jobs.fetch_add(1, Relaxed) + 1
    }

    /// What data connections of a job have to know.
    pub(in crate::traffic) fn seat(&self, role: Role, job: u32) -> Result<Seat, EngineError> {
        Ok(Seat { attempt: job, ..self.service(role)?.seat() })
    }

    /// Where data go that an agent wants at this address.
    pub(in crate::traffic) fn door(
        &self,
        role: Role,
        told: SocketAddr,
    ) -> Result<SocketAddr, EngineError> {
        let at = self.service(role)?.door(told)?;
        self.ipv6.fetch_or(at.ip().to_canonical().is_ipv6(), Relaxed);
        Ok(at)
    }

    /// Whether an agent was reached over IPv6.
    pub(in crate::traffic) fn is_over_ipv6(&self) -> bool {
        self.ipv6.load(Relaxed)
    }

    /// Says a word to an agent; after it the conductor may be silent as long as was promised, and for
    /// [`Silence::LEASE`] at least. A refusal is an error.
    pub(in crate::traffic) fn say(&self, role: Role, word: &Word) -> Result<Told, EngineError> {
        let line = self.line(role)?;
        line.say(&mut locked(&line.service), word)
    }

    /// A job has nothing to say until then, and whatever is said meanwhile to any agent must not end it.
    pub(in crate::traffic) fn promise(&self, job: u32, until: Nanos) {
        self.lines.values().for_each(|line| locked(&line.silence).promise(job, until));
    }

    /// Ends a job at all agents that have a part in it.
    pub(in crate::traffic) fn close(&self, job: u32, roles: &[Role]) {
        self.lines.values().for_each(|line| locked(&line.silence).forget(job));
        for role in roles {
            // An agent that is lost has ended it by itself.
            let _ = self.say(*role, &Word::Close { job });
        }
    }

    /// Says something to every agent that has waited for long, and to which nobody speaks now.
    pub(in crate::traffic) fn feed(&self) {
        for line in self.lines.values() {
            if !locked(&line.silence).is_due(now()) {
                continue;
            }
            if let Ok(mut service) = line.service.try_lock()
                && !service.is_away()
            {
                // One that is lost is found to be by whoever needs it.
                let _ = line.say(&mut service, &Word::Clock {});
            }
        }
    }

    /// An agent as it was named, for people.
    pub(in crate::traffic) fn name(&self, role: Role) -> String {
        self.service(role).map_or_else(|_| role.to_string(), |service| service.name().to_owned())
    }

    /// Reads an agent's clock between two looks at ours, some times.
    pub(in crate::traffic) fn read_clock(&self, role: Role) -> Result<Vec<Reading>, EngineError> {
        let mut readings = Vec::new();
        for _ in 0..READINGS {
            self.feed();
            let asked = now();
            let Told::Clock { now_ns: told } = self.say(role, &Word::Clock {})? else {
                return Err(misfit());
            };
            if told > LONGEST_UPTIME {
                return Err(EngineError::Refused(format!("no clock says {told}")));
            }
            readings.push(Reading { asked, told, heard: now() });
        }
        Ok(readings)
    }

    /// True where an agent is gone, seen in passing while nothing is said.
    pub(in crate::traffic) fn is_closed(&self, role: Role) -> bool {
        // One that somebody speaks to now is found to be gone there.
        let service = self.line(role).ok().and_then(|line| line.service.try_lock().ok());
        service.is_some_and(|mut service| service.is_closed())
    }

    /// True where an agent was lost and not yet regained.
    pub(in crate::traffic) fn is_away(&self) -> bool {
        self.lines.keys().any(|role| self.is_lost(*role))
    }

    /// Gets lost agents back, as long as the user's patience lasts; the reason where it does not. Those
    /// that are not lost keep their time meanwhile.
    pub(in crate::traffic) fn regain(&self) -> Result<(), String> {
        let regain = |role: Role| self.service(role)?.regain(&|| self.feed());
        let roles: Vec<Role> = self.lines.keys().copied().collect();
        let regained = all_back(&roles, |role| self.is_lost(role), regain);
        regained.map_err(|cause| cause.sentence())
    }

    fn is_lost(&self, role: Role) -> bool {
        self.service(role).is_ok_and(|service| service.is_away())
    }

    fn service(&self, role: Role) -> Result<MutexGuard<'_, RemoteService>, EngineError> {
        self.line(role).map(|line| locked(&line.service))
    }

    fn line(&self, role: Role) -> Result<&Line, EngineError> {
        let none = || EngineError::Refused(format!("no agent plays {role}"));
        self.lines.get(&role).ok_or_else(none)
    }
}

impl Line {
    /// What is announced is decided by whoever has the service: words leave in that order.
    fn say(&self, service: &mut RemoteService, word: &Word) -> Result<Told, EngineError> {
        let broken = |cause: serde_json::Error| {
            EngineError::Refused(format!("the agent does not keep to the protocol: {cause}"))
        };
        let word = serde_json::to_value(word).map_err(broken)?;
        let lease = locked(&self.silence).announce(now());
        let told = service.say(word, WITHIN, lease)?;
        match Told::deserialize(told).map_err(broken)? {
            Told::Refused { reason } => {
                Err(EngineError::Refused(format!("agent {}: {reason}", service.name())))
            }
            told => Ok(told),
        }
    }
}

/// Regains one after the other until nobody is lost: one may be while another is waited for.
fn all_back<E>(
    roles: &[Role],
    is_lost: impl Fn(Role) -> bool,
    mut regain: impl FnMut(Role) -> Result<(), E>,
) -> Result<(), E> {
    while let Some(role) = roles.iter().copied().find(|role| is_lost(*role)) {
        regain(role)?;
    }
    Ok(())
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is asked of every agent as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The most data connections at once.
    pub(in crate::traffic) connections: u32,
    /// The longest time without a word.
    pub(in crate::traffic) silence: Nanos,
}

/// An answer that does not fit the word.
pub(in crate::traffic) fn misfit() -> EngineError {
    EngineError::Refused("the agent told what nobody asked for".to_owned())
}

/// How long an answer may take beside the way.
const WITHIN: Nanos = Nanos::from_secs(5);
/// What every lease has beside the time of a run: the answer, its way, and the steps in between.
pub(in crate::traffic) const SPARE: Nanos = Nanos::from_secs(40);
/// No host is up for a century, and differences of such times are numbers, too.
const LONGEST_UPTIME: Nanos = Nanos::from_secs(100 * 366 * 86_400);
/// Of a clock, before and after a run each.
const READINGS: usize = 16;

#[cfg(test)]
mod tests;
