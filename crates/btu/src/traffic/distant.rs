//! A cluster between this host and agents: they draw the same trains, meet, start at one instant, and
//! what each saw is put together on the clock of the senders.

mod clocks;
mod probe;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::cell::Role;
use btu_core::traffic;
use btu_core::traffic::Block;
use btu_core::traffic::Cluster;
use btu_core::traffic::Scenario;
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

use self::clocks::Clocks;
use super::expand;
use super::expand::Cast;
use super::expand::Talked;
use super::peers::LEASE;
use super::peers::Peers;
use super::peers::misfit;
use super::peers::now;
use super::words;
use super::words::Preparation;
use super::words::Told;
use super::words::Word;

pub(super) use self::clocks::Between;
pub(super) use self::probe::capacity;
pub(super) use self::probe::responsiveness;

/// What is carried.
pub(super) struct Order<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) sessions: u32,
    pub(super) seed: u64,
    pub(super) linger: Nanos,
    pub(super) stall: Nanos,
    /// Set by whoever wants all to end.
    pub(super) interrupt: &'a AtomicBool,
}

/// What came of it.
pub(super) struct Carried {
    pub(super) end: JobEnd,
    /// Of each conversation.
    pub(super) talks: Vec<Result<FlowEnd, EngineError>>,
    /// The clocks of the agents, by part.
    pub(super) clocks: BTreeMap<Role, Between>,
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
pub(super) fn carry(
    peers: &Peers,
    order: &Order<'_>,
    cast: &Cast,
    talks: Vec<Talked>,
) -> Result<Carried, EngineError> {
    let ends = cast.flows.iter().flat_map(|named| [named.from, named.to]);
    let of_talks = talks.iter().map(|talk| talk.said.to);
    let mut roles: Vec<Role> = ends.chain(of_talks).filter(|role| *role != Role::Test).collect();
    roles.sort_unstable();
    roles.dedup();
    if let Some(talk) = talks.iter().find(|talk| talk.said.from != Role::Test) {
        return Err(EngineError::Refused(format!("{}: {ASKED_HERE}", talk.said.test)));
    }
    let flows: Vec<Flow> = cast.flows.iter().map(|named| named.flow.clone()).collect();
    let of_flows = flows.iter().map(|flow| flow.start.saturating_add(flow.duration));
    let of_talks = talks.iter().map(|t| t.dialogue.start.saturating_add(t.dialogue.duration));
    let span = of_flows.chain(of_talks).max().unwrap_or(Nanos::ZERO);
    let (job, over) = (peers.next_job(), Arc::default());
    let course = Course { peers, order, job, roles, flows, span, over };
    let drawn = words::drawn(cast, &talks);
    let carried = course.carry(&drawn, talks);
    for role in &course.roles {
        // An agent that is lost has ended it by itself.
        let _ = peers.say(*role, &Word::Close { job }, LEASE);
    }
    carried
}

impl Course<'_> {
    fn carry(&self, drawn: &str, talks: Vec<Talked>) -> Result<Carried, EngineError> {
        let (doors, talk_doors) = self.prepare(drawn, &talks)?;
        let side = engine::call(&self.flows, HERE, &doors)?;
        self.roles.iter().try_for_each(|role| self.met(*role))?;
        let mut clocks = Clocks::before(self.peers, &self.roles)?;
        let begin = now().saturating_add(LEAD).saturating_add(clocks.slowest() * 4);
        let lease = begin.saturating_add(self.span).since(now()).saturating_add(LEASE);
        for role in &self.roles {
            let at_ns = clocks.start(*role, begin);
            self.peers.say(*role, &Word::Start { job: self.job, at_ns }, lease)?;
        }
        let (own, talks) = self.run(side, begin, talks, talk_doors);
        let mut own = own?;
        clocks.after(self.peers);
        let mut missing = "the other host is lost".to_owned();
        let mut sides = Vec::new();
        for role in &self.roles {
            let there = expand::place(*role);
            own.shift(&self.flows, &clocks.shift_there(*role), |flow| flow.from == there);
            match self.report(*role) {
                Ok(mut end) => {
                    end.shift(&self.flows, &clocks.shift_here(*role), |flow| flow.to == there);
                    sides.push(end);
                }
                Err(cause) => missing = cause.sentence(),
            }
        }
        sides.push(own);
        let end = engine::together(&self.flows, sides, &missing);
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
            let seat = self.peers.seat(*role, self.job)?;
            let word = Word::Prepare(Box::new(self.preparation(*role)));
            let told = self.peers.say(*role, &word, LEASE)?;
            let Told::Listening { address, ports, talks, drawn: theirs } = told else {
                return Err(misfit());
            };
            if theirs != drawn {
                let reason = "the agent draws other trains from this scenario: install the same \
                              version of btu on both hosts";
                return Err(EngineError::Refused(reason.to_owned()));
            }
            let open = |doors: &mut Vec<Option<Door>>, ports: Vec<Option<u16>>, first: usize| {
                for ((number, door), port) in (first..).zip(doors).zip(ports) {
                    let Some(port) = port else { continue };
                    let flow = u16::try_from(number).unwrap_or(u16::MAX);
                    let at = SocketAddr::new(address, port);
                    *door = Some(Door { at, seat: Seat { flow, ..seat } });
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
        let scenario = Scenario { seed: None, run, hosts: hosts(cluster), matrix: Vec::new() };
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

    /// Waits until an agent has all of its connections.
    fn met(&self, role: Role) -> Result<(), EngineError> {
        // The agent gives up by itself.
        while let Told::Waiting {} = self.peers.say(role, &Word::Met { job: self.job }, LEASE)? {
            thread::park_timeout(Duration::from(SLICE));
        }
        Ok(())
    }

    /// Carries the ends that are here, and looks after the agents.
    fn run(
        &self,
        side: Side,
        begin: Nanos,
        talks: Vec<Talked>,
        doors: Vec<Door>,
    ) -> (Result<SideEnd, EngineError>, Vec<Result<FlowEnd, EngineError>>) {
        let watch = side.watch();
        let Order { linger, stall, .. } = *self.order;
        let (parties, flows) = (&self.peers.parties, &self.flows);
        let job = Job { parties, flows, linger, stall, cancel: Arc::clone(&self.over) };
        let panicked = || EngineError::Refused("a traffic thread panicked".to_owned());
        thread::scope(|scope| {
            let job = &job;
            let carrying = scope.spawn(move || {
                let raised = btu_sys::limit::raise_descriptors();
                raised.map_err(EngineError::from).and_then(|_| side.carry(job, begin))
            });
            let talking: Vec<_> = talks
                .into_iter()
                .zip(doors)
                .map(|(talk, door)| {
                    let mut dialogue = talk.dialogue;
                    dialogue.cancel = Arc::clone(&self.over);
                    scope.spawn(move || {
                        btu_sys::clock::sleep_until(begin.count());
                        engine::converse_with(dialogue, door)
                    })
                })
                .collect();
            self.look_after(&watch, begin, || {
                carrying.is_finished() && talking.iter().all(thread::ScopedJoinHandle::is_finished)
            });
            let join = |talk: thread::ScopedJoinHandle<'_, _>| {
                talk.join().unwrap_or_else(|_| Err(panicked()))
            };
            let talks = talking.into_iter().map(join).collect();
            (carrying.join().unwrap_or_else(|_| Err(panicked())), talks)
        })
    }

    /// Says nothing while blocks are due, and only looks whether the agents are there; then tells each host what the others have sent, until all
    /// have ended here.
    fn look_after(&self, watch: &Watch, begin: Nanos, is_over: impl Fn() -> bool) {
        let quiet_until = begin.saturating_add(self.span);
        let mut told = false;
        while !is_over() {
            thread::park_timeout(Duration::from(SLICE));
            let gone = |role: &Role| self.peers.is_closed(*role);
            if self.order.interrupt.load(Relaxed) || self.roles.iter().any(gone) {
                self.give_up(watch);
            }
            if now() < quiet_until || self.over.load(Relaxed) {
                continue;
            }
            if self.exchange(watch, &mut told).is_err() {
                self.give_up(watch);
            }
        }
        // Whoever only sends is often done before it was looked at again.
        if !self.over.load(Relaxed) && self.exchange(watch, &mut told).is_err() {
            self.give_up(watch);
        }
    }

    fn give_up(&self, watch: &Watch) {
        self.over.store(true, Relaxed);
        watch.give_up();
    }

    /// What was sent here goes there, and the other way round.
    fn exchange(&self, watch: &Watch, told: &mut bool) -> Result<(), EngineError> {
        let sent = watch.sent_here().filter(|_| !*told);
        *told |= sent.is_some();
        for role in &self.roles {
            if let Some(datagrams) = sent.clone() {
                let word = Word::Sent { job: self.job, datagrams };
                self.peers.say(*role, &word, LEASE)?;
            }
            match self.peers.say(*role, &Word::Ask { job: self.job }, LEASE)? {
                Told::Running { sent: Some(datagrams) } | Told::Over { sent: datagrams, .. } => {
                    watch.sent_elsewhere(&self.of(*role, datagrams));
                }
                Told::Running { sent: None } => {}
                _ => return Err(misfit()),
            }
        }
        Ok(())
    }

    /// Datagrams of the flows that an agent sends; it says nothing of others.
    fn of(&self, role: Role, datagrams: Vec<Option<u64>>) -> Vec<Option<u64>> {
        let there = expand::place(role);
        let own = self.flows.iter().zip(datagrams);
        own.map(|(flow, count)| count.filter(|_| flow.from == there)).collect()
    }

    /// What an agent saw.
    fn report(&self, role: Role) -> Result<SideEnd, EngineError> {
        let text = self.text(role)?;
        let told = serde_json::from_str::<SideReport>(&text);
        let broken = |cause| EngineError::Refused(format!("the agent's report: {cause}"));
        told.map_err(broken)?.into_end(self.flows.len())
    }

    fn text(&self, role: Role) -> Result<String, EngineError> {
        read_report(self.peers, role, self.job, || self.over.load(Relaxed))
    }
}

/// The report of a job, once it is over.
fn read_report(
    peers: &Peers,
    role: Role,
    job: u32,
    is_given_up: impl Fn() -> bool,
) -> Result<String, EngineError> {
    let length = loop {
        match peers.say(role, &Word::Ask { job }, LEASE)? {
            Told::Over { length, .. } if length <= LONGEST_REPORT => break length,
            Told::Running { .. } if !is_given_up() => thread::park_timeout(Duration::from(SLICE)),
            Told::Running { .. } => {
                return Err(EngineError::Refused("the job was given up".to_owned()));
            }
            _ => return Err(misfit()),
        }
    };
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let Told::Part { text: part } =
            peers.say(role, &Word::Read { job, from: text.len() }, LEASE)?
        else {
            return Err(misfit());
        };
        if part.is_empty() || text.len() + part.len() > length {
            return Err(misfit());
        }
        text.push_str(&part);
    }
    Ok(text)
}

/// Every host of a cluster, in the order of its paths.
fn hosts(cluster: &Cluster) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for host in cluster.tests.iter().flat_map(|test| [&test.from.host, &test.to.host]) {
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    }
    hosts
}

/// Why a conversation begins at this host.
pub(super) const ASKED_HERE: &str = "a model that waits for answers is asked from this host: an agent \
                                     connects to nobody, and opens none of its connections";
/// The place of this host among the parties.
const HERE: usize = 0;
/// From the last connection to the first block, beside what the words take.
const LEAD: Nanos = Nanos::from_millis(100);
/// How often somebody who waits looks again.
const SLICE: Nanos = Nanos::from_millis(10);
/// Of a report: as much as of any document.
const LONGEST_REPORT: usize = 256 << 20;
