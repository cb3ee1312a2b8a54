//! A cluster between this host and agents: all draw the same trains, meet, start at one instant, and
//! what each saw is put together on the clock of the senders.

mod account;
mod care;
mod clocks;
mod patience;
mod probe;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_control::client::Silence;
use btu_core::manifest::unhex;
use btu_core::role::Role;
use btu_core::traffic;
use btu_core::traffic::Block;
use btu_core::traffic::Cluster;
use btu_core::traffic::Scenario;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::comm::Seat;
use btu_engine::traffic as engine;
use btu_engine::traffic::Door;
use btu_engine::traffic::Flow;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::Job;
use btu_engine::traffic::JobEnd;
use btu_engine::traffic::Side;
use btu_engine::traffic::SideEnd;
use btu_engine::traffic::SideReport;
use btu_engine::traffic::Watch;
use btu_engine::traffic::hands;

use self::account::Account;
use self::care::BEYOND;
use self::care::Care;
use self::care::Lost;
use self::care::is_of;
use self::clocks::Clocks;
use super::peers::Peers;
use super::peers::misfit;
use super::words;
use super::words::Preparation;
use super::words::Told;
use super::words::Word;
use crate::traffic::expand;
use crate::traffic::expand::Cast;
use crate::traffic::expand::Talked;
use crate::traffic::gauge::Gauge;
use btu_engine::time::now;

pub(in crate::traffic) use self::clocks::Between;
pub(in crate::traffic) use self::probe::capacity;
pub(in crate::traffic) use self::probe::path_mtu;
pub(in crate::traffic) use self::probe::responsiveness;

/// What is carried.
pub(in crate::traffic) struct Order<'a> {
    pub(in crate::traffic) cluster: &'a Cluster,
    pub(in crate::traffic) sessions: u32,
    pub(in crate::traffic) seed: u64,
    pub(in crate::traffic) linger: Nanos,
    pub(in crate::traffic) stall: Nanos,
    /// Set by whoever wants all to end.
    pub(in crate::traffic) interrupt: &'a AtomicBool,
    /// Who looks meanwhile.
    pub(in crate::traffic) gauge: &'a Gauge,
}

/// What came of it.
pub(in crate::traffic) struct Carried {
    pub(in crate::traffic) end: JobEnd,
    /// Of each conversation.
    pub(in crate::traffic) talks: Vec<Result<FlowEnd, EngineError>>,
    /// The clocks of the agents, by part.
    pub(in crate::traffic) clocks: BTreeMap<Role, Between>,
}

/// A cluster on its way.
struct Course<'a> {
    peers: &'a Peers,
    order: &'a Order<'a>,
    job: u32,
    /// The agents that have an end in it.
    roles: Vec<Role>,
    flows: Vec<Flow>,
    /// From the first block to the end of the last flow or conversation.
    span: Nanos,
    /// Set where an end of all is wanted, or an agent is lost.
    over: Arc<AtomicBool>,
}

/// Carries the flows and conversations of a cluster.
pub(in crate::traffic) fn carry(
    peers: &Peers,
    order: &Order<'_>,
    cast: &Cast,
    mut talks: Vec<Talked>,
) -> Result<Carried, EngineError> {
    peers.admits()?;
    let of_talks = talks.iter().map(|talk| talk.connections);
    let _opened = peers.open(of_talks.fold(cast.flows.len(), usize::saturating_add))?;
    let ends = cast.flows.iter().flat_map(|named| [named.from, named.to]);
    let of_talks = talks.iter().map(|talk| talk.said.to);
    let mut roles: Vec<Role> = ends.chain(of_talks).filter(|role| *role != Role::Test).collect();
    roles.sort_unstable();
    roles.dedup();
    if let Some(talk) = talks.iter().find(|talk| talk.said.from != Role::Test) {
        return Err(EngineError::Refused(format!("{}: {ASKED_HERE}", talk.said.test)));
    }
    let mut flows: Vec<Flow> = cast.flows.iter().map(|named| named.flow.clone()).collect();
    let of_flows = flows.iter().map(|flow| flow.start.saturating_add(flow.duration));
    let of_talks = talks.iter().map(|t| t.dialogue.start.saturating_add(t.dialogue.duration));
    let span = of_flows.chain(of_talks).max().unwrap_or(Nanos::ZERO);
    let (job, over) = (peers.next_job(), Arc::default());
    let drawn = words::drawn(cast, &talks);
    if let Some(bounds) = &peers.bounds {
        bounds.hold(&mut flows, &mut talks);
    }
    let course = Course { peers, order, job, roles, flows, span, over };
    let carried = course.carry(&drawn, talks);
    peers.close(job, &course.roles);
    carried
}

impl Course<'_> {
    fn carry(&self, drawn: &str, talks: Vec<Talked>) -> Result<Carried, EngineError> {
        let (doors, talk_doors) = self.prepare(drawn, &talks)?;
        let side = engine::call(&self.flows, HERE, &doors)?;
        self.roles.iter().try_for_each(|role| self.met(*role))?;
        let mut clocks = Clocks::before(self.peers, &self.roles)?;
        let lead = LEAD.saturating_add(clocks.slowest() * 4);
        let silence = self.span.saturating_add(Silence::LEASE);
        // Agents without an end in it must hear of it, too, and before anything is due.
        self.peers.promise(self.job, now().saturating_add(lead).saturating_add(silence));
        self.peers.feed();
        let begin = now().saturating_add(lead);
        self.peers.promise(self.job, begin.saturating_add(silence));
        for role in &self.roles {
            let at_ns = clocks.start(*role, begin);
            self.peers.say(*role, &Word::Start { job: self.job, at_ns })?;
        }
        let watch = side.watch();
        // Nothing of a stream that is held to a rate goes on once its job is closed.
        let is_held = self.peers.rate().is_some();
        let _held = is_held.then(|| side.hold()).transpose()?;
        let spoken: Vec<_> = talks.iter().map(|talk| Arc::clone(&talk.dialogue.moved)).collect();
        let carried = watch.clone();
        let moved = move || {
            let spoken = spoken.iter().map(|moved| Bytes::new(moved.load(Relaxed)));
            spoken.fold(carried.moved(), Bytes::saturating_add)
        };
        self.order.gauge.add(moved.clone());
        let counting = self.peers.count(moved);
        let (own, talks, mut lost) = self.run((side, &watch), begin, talks, talk_doors);
        drop(counting);
        let mut own = own?;
        clocks.after(self.peers);
        let mut sides = Vec::new();
        for role in &self.roles {
            let there = expand::place(*role);
            own.shift(&self.flows, &clocks.shift_there(*role), |flow| flow.from == there);
            if lost.contains_key(role) {
                continue;
            }
            match self.report(*role, &watch) {
                Ok(mut end) => {
                    end.shift(&self.flows, &clocks.shift_here(*role), |flow| flow.to == there);
                    sides.push(end);
                }
                Err(cause) => drop(lost.insert(*role, cause.sentence())),
            }
        }
        sides.push(own);
        let reason = |flow: &Flow| lost.iter().find(|(role, _)| is_of(**role, flow));
        let missing = |flow: &Flow| reason(flow).map_or_else(String::new, |(_, why)| why.clone());
        let end = engine::together(&self.flows, sides, missing);
        Ok(Carried { end, talks, clocks: clocks.finish() })
    }

    /// Lets the agents listen. Gives where each flow and each conversation is received.
    fn prepare(
        &self,
        drawn: &str,
        talks: &[Talked],
    ) -> Result<(Vec<Door>, Vec<Door>), EngineError> {
        let mut flow_doors = vec![None; self.flows.len()];
        let mut talk_doors = vec![None; talks.len()];
        for role in &self.roles {
            self.peers.feed();
            let seat = self.peers.seat(*role, self.job)?;
            let word = Word::Prepare(Box::new(self.preparation(*role)));
            let told = self.peers.say(*role, &word)?;
            let Told::Listening { address, ports, talks, drawn: theirs, certificate } = told else {
                return Err(misfit());
            };
            if theirs != drawn {
                let reason = "the agent draws other trains from this scenario: install the same \
                              version of btu on both hosts";
                return Err(EngineError::Refused(reason.to_owned()));
            }
            let shown = certificate.map(|digits| unhex(&digits).ok_or_else(misfit)).transpose()?;
            let certificate: Option<Arc<[u8]>> = shown.map(Into::into);
            let host = self.peers.door(*role, SocketAddr::new(address, 0))?;
            let open = |doors: &mut Vec<Option<Door>>, ports: Vec<Option<u16>>, first: usize| {
                for ((number, door), port) in (first..).zip(doors).zip(ports) {
                    let Some(port) = port else { continue };
                    let flow = u16::try_from(number).unwrap_or(u16::MAX);
                    let mut at = host;
                    at.set_port(port);
                    let certificate = certificate.clone();
                    *door = Some(Door { at, seat: Seat { flow, ..seat }, certificate });
                }
            };
            open(&mut flow_doors, ports, 0);
            open(&mut talk_doors, talks, self.flows.len());
        }
        let all = |doors: Vec<Option<Door>>| doors.into_iter().collect::<Option<Vec<Door>>>();
        all(flow_doors).zip(all(talk_doors)).ok_or_else(misfit)
    }

    fn preparation(&self, role: Role) -> Preparation {
        let Order { cluster, sessions, seed, linger, stall, .. } = self.order;
        let run = Block::Cluster((*cluster).clone());
        let hosts = run.hosts();
        let scenario = Scenario { seed: None, run, hosts, matrix: Vec::new() };
        Preparation {
            job: self.job,
            role,
            scenario: traffic::to_toml(&scenario),
            sessions: *sessions,
            seed: *seed,
            linger_ns: *linger,
            stall_ns: *stall,
        }
    }

    /// Waits until an agent has all of its connections. It gives up by itself, or is given up.
    fn met(&self, role: Role) -> Result<(), EngineError> {
        let refused = |what: &str| {
            let name = self.peers.name(role);
            Err(EngineError::Refused(format!("agent {name}: {what}")))
        };
        let end = now().saturating_add(MEETING);
        while let Told::Waiting {} = self.peers.say(role, &Word::Met { job: self.job })? {
            if self.order.interrupt.load(Relaxed) {
                return refused("interrupted");
            }
            if now() > end {
                return refused(&format!("it awaits connections for {} s", MEETING.seconds()));
            }
            self.peers.feed();
            thread::park_timeout(Duration::from(SLICE));
        }
        Ok(())
    }

    /// Carries the ends that are here, and looks after the agents.
    fn run(
        &self,
        (side, watch): (Side, &Watch),
        begin: Nanos,
        talks: Vec<Talked>,
        doors: Vec<Door>,
    ) -> (Result<SideEnd, EngineError>, Vec<Result<FlowEnd, EngineError>>, Lost) {
        let Order { linger, stall, .. } = *self.order;
        let (parties, flows) = (&self.peers.parties, &self.flows);
        let job = Job { parties, flows, linger, stall, cancel: Arc::clone(&self.over) };
        thread::scope(|scope| {
            let job = &job;
            let carrying = hands::start(scope, "traffic-carry", move || {
                let raised = btu_sys::limit::raise_descriptors();
                raised.map_err(EngineError::from).and_then(|_| side.carry(job, begin))
            });
            let talking: Vec<_> = talks
                .into_iter()
                .zip(doors)
                .map(|(talk, door)| {
                    let mut dialogue = talk.dialogue;
                    dialogue.cancel = Arc::clone(&self.over);
                    hands::start(scope, "traffic-talk", move || {
                        engine::converse_with(dialogue, &door, begin)
                    })
                })
                .collect();
            let mut care = Care::new(self, watch);
            care.take(begin, || hands::is_over(&carrying) && talking.iter().all(hands::is_over));
            let talks = talking.into_iter().map(hands::join).collect();
            (hands::join(carrying), talks, care.lost)
        })
    }

    /// What an agent saw; nothing where the run is not kept.
    fn report(&self, role: Role, watch: &Watch) -> Result<SideEnd, EngineError> {
        if self.over.load(Relaxed) {
            return Err(EngineError::Refused("the run was given up".to_owned()));
        }
        let there = expand::place(role);
        let account = Account {
            peers: self.peers,
            role,
            job: self.job,
            longest: watch.longest_report(&self.flows, there),
            patience: self.order.stall.saturating_add(BEYOND),
            interrupt: self.order.interrupt,
        };
        let told = serde_json::from_str::<SideReport>(&account.read()?);
        let broken = |cause| EngineError::Refused(format!("the agent's report: {cause}"));
        told.map_err(broken)?.into_end(&self.flows, there)
    }
}

/// Why a conversation begins at this host.
pub(in crate::traffic) const ASKED_HERE: &str = "a model that waits for answers is asked from this host: an agent \
                                     connects to nobody, and opens none of its connections";
/// The place of this host among the parties.
pub(in crate::traffic) const HERE: usize = 0;
/// From the last connection to the first block, beside what the words take.
const LEAD: Nanos = Nanos::from_millis(100);
/// How often somebody who waits looks again.
const SLICE: Nanos = Nanos::from_millis(10);
/// How long the connections of a cluster may take: twice what an agent waits for them.
const MEETING: Nanos = Nanos::from_secs(30);
