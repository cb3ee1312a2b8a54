//! Every run of the plan, kept in the journal before the next one.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::cell::Role;
use btu_core::sample::SocketOptions;
use btu_core::traffic::Block;
use btu_core::traffic::Cluster;
use btu_core::traffic::Keep;
use btu_core::traffic::analysis::figures::Figures;
use btu_core::traffic::analysis::places::Places;
use btu_core::traffic::course::Next;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Probe;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Curves;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sample::RunSample;
use btu_engine::EngineError;
use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_engine::traffic as engine;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::Job;
use btu_engine::traffic::JobEnd;
use btu_engine::traffic::Way;
use btu_sys::socket::Effective;

use super::expand;
use super::expand::Cast;
use super::expand::Named;
use super::expand::Talked;
use super::expand::Until;
use super::path::Hosts;
use super::scenario;
use super::start::Started;
use crate::closing::Ending;
use crate::exit::Failure;
use crate::run::Interrupt;
use crate::run::place::timestamp;
use crate::run::start::journal_failure;

/// Runs everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let plan = started.plan.clone();
    started.progress.found(started.lines.iter().filter_map(Line::run).count());
    while let Some(Next { pass, cell, decided }) = plan.next_run(&started.lines) {
        started.progress.begins(pass, &cell);
        let sample = run(&mut started.hosts, &plan, pass, &cell, interrupt)?;
        if interrupt.flag().load(Relaxed) {
            started.progress.finish();
            return Ok(Ending::Interrupted);
        }
        started.progress.done(&cell, &sample);
        if decided {
            keep(started, Line::TrafficCell(Box::new(cell)))?;
        }
        keep(started, Line::TrafficRun(Box::new(sample)))?;
    }
    started.progress.finish();
    Ok(Ending::Complete)
}

fn keep(started: &mut Started, line: Line) -> Result<(), Failure> {
    started.journal.append(&line).map_err(journal_failure)?;
    started.lines.push(line);
    Ok(())
}

/// One run of one cell.
fn run(
    hosts: &mut Hosts,
    plan: &Plan,
    pass: u32,
    cell: &Cell,
    interrupt: &Interrupt,
) -> Result<RunSample, Failure> {
    // Each pass draws its own trains; the same pass of the same plan draws the same.
    let seed = plan.seed.wrapping_add(u64::from(pass - 1));
    hosts.set_link(cell.link.as_ref().or(plan.link.as_ref()), seed)?;
    let files = Files::host();
    let (started_at, before) = (timestamp(), observe(&files));
    let (clusters, probe) = if let Some(probe) = &cell.probe {
        probed(hosts, probe, interrupt)?
    } else {
        let scenario = scenario::stored(&cell.scenario)?;
        let stage = Stage { hosts, plan, cell, seed, interrupt, done: Mutex::default() };
        stage.block(&scenario.run)?;
        (stage.done.into_inner().unwrap_or_else(PoisonError::into_inner), None)
    };
    let host = before.finish(&files);
    let emulation = hosts.emulation()?;
    let flags = Vec::new();
    Ok(RunSample { cell: cell.id, pass, started_at, clusters, probe, emulation, host, flags })
}

/// What an engine does by itself, from the test host to the active one. One that fails is told as a
/// cluster that did not run.
fn probed(
    hosts: &Hosts,
    probe: &Probe,
    interrupt: &Interrupt,
) -> Result<(Vec<ClusterSample>, Option<ProbeSample>), Failure> {
    let [near, far] = [Role::Test, Role::Active].map(|role| hosts.place(role));
    let way = Way { near, far, address: hosts.address(Role::Test, Role::Active)? };
    let cancel = interrupt.flag();
    let found = match probe {
        Probe::Capacity { time_ns, datagram_bytes } => {
            engine::capacity(&way, *datagram_bytes, *time_ns, cancel).map(ProbeSample::Capacity)
        }
        Probe::Responsiveness { interval_ns, intervals } => {
            engine::responsiveness(&way, *interval_ns, *intervals, cancel)
                .map(ProbeSample::Responsiveness)
        }
    };
    Ok(match found {
        Ok(sample) => (Vec::new(), Some(sample)),
        Err(cause) => (vec![sample("probe", Vec::new(), Err(cause), Vec::new())], None),
    })
}

/// A scenario while it runs.
struct Stage<'a> {
    hosts: &'a Hosts,
    plan: &'a Plan,
    cell: &'a Cell,
    seed: u64,
    interrupt: &'a Interrupt,
    done: Mutex<Vec<ClusterSample>>,
}

/// Whether the next block of a series may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    Badly,
    Well,
}

impl Stage<'_> {
    /// Flows and conversations of a cluster, at once.
    fn carried(&self, name: &str, cast: Cast) -> ClusterSample {
        let flows: Vec<engine::Flow> = cast.flows.iter().map(|one| one.flow.clone()).collect();
        let job = Job {
            parties: &self.hosts.parties,
            flows: &flows,
            linger: self.hosts.linger(),
            stall: self.plan.stall_ns,
            cancel: Arc::clone(self.interrupt.flag()),
        };
        let (ended, talks) = std::thread::scope(|scope| {
            let talks = cast.talks.into_iter();
            let talks: Vec<_> = talks.map(|talk| scope.spawn(|| conversation(talk))).collect();
            let ended = if flows.is_empty() { Ok(JobEnd::default()) } else { engine::run(&job) };
            let panicked = || EngineError::Refused("a conversation panicked".to_owned());
            let joined =
                talks.into_iter().map(|talk| talk.join().unwrap_or_else(|_| Err(panicked())));
            (ended, joined.collect())
        });
        sample(name, cast.flows, ended, talks)
    }

    /// Carries a block out. What goes wrong in it is part of the result; an `Err` is the user's.
    fn block(&self, block: &Block) -> Result<Went, Failure> {
        match block {
            Block::Cluster(cluster) => self.cluster(cluster),
            Block::Parallel(blocks) => self.at_once(blocks),
            Block::Serial(blocks, keep) => {
                let mut went = Went::Well;
                for block in blocks {
                    went = self.block(block)?;
                    let over = went == Went::Badly && *keep == Keep::No;
                    if over || self.interrupt.flag().load(Relaxed) {
                        return Ok(went);
                    }
                }
                Ok(went)
            }
        }
    }

    fn at_once(&self, blocks: &[Block]) -> Result<Went, Failure> {
        let ended: Vec<Result<Went, Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                blocks.iter().map(|block| scope.spawn(|| self.block(block))).collect();
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.map(|ended| ended.unwrap_or(Ok(Went::Badly))).collect()
        });
        let mut all = Went::Well;
        for went in ended {
            if went? == Went::Badly {
                all = Went::Badly;
            }
        }
        Ok(all)
    }

    fn cluster(&self, cluster: &Cluster) -> Result<Went, Failure> {
        let until =
            Until { patience: self.plan.stall_ns, cancel: Arc::clone(self.interrupt.flag()) };
        let cast = expand::flows(cluster, self.cell.sessions, self.seed, self.hosts, &until)?;
        let sample = self.carried(&cluster.name, cast);
        let well = sample.failed.is_none() && sample.flows.iter().all(|f| f.outcome.is_complete());
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        Ok(if well { Went::Well } else { Went::Badly })
    }
}

/// What flows and conversations of a cluster came to.
fn sample(
    name: &str,
    named: Vec<Named>,
    ended: Result<JobEnd, EngineError>,
    talks: Vec<Result<FlowSample, EngineError>>,
) -> ClusterSample {
    let mut failed = None;
    let mut keep = |cause: EngineError| failed = Some(cause.sentence());
    let mut talked = Vec::new();
    for talk in talks {
        match talk {
            Ok(talk) => talked.push(talk),
            Err(cause) => keep(cause),
        }
    }
    let end = ended.unwrap_or_else(|cause| {
        keep(cause);
        JobEnd::default()
    });
    let flows = named.into_iter().zip(end.flows).map(|(named, end)| flow(named, end));
    ClusterSample {
        name: name.to_owned(),
        flows: flows.chain(talked).collect(),
        failed,
        sender_cpu_ns: end.sender_cpu,
        receiver_cpu_ns: end.receiver_cpu,
        sender_threads: u32::try_from(end.sender_threads).unwrap_or(u32::MAX),
        elapsed_ns: end.elapsed,
    }
}

fn conversation(talk: Talked) -> Result<FlowSample, EngineError> {
    let duration_ns = talk.dialogue.duration;
    let end = engine::converse(talk.dialogue)?;
    // Nobody but the answers decides when such a sender goes on.
    let figures = Figures { pacing: None, ..Figures::of(&end.trace) };
    Ok(FlowSample {
        test: talk.test,
        session: talk.session,
        from: talk.from,
        to: talk.to,
        transport: "tcp".to_owned(),
        traffic: talk.traffic,
        duration_ns,
        outcome: end.outcome,
        figures,
        places: None,
        acknowledged_bytes: None,
        retransmitted_bytes: None,
        least_rtt_ns: None,
        refused: 0,
        pace: end.pace.to_owned(),
        sender_options: options(end.sender),
        receiver_options: options(end.receiver),
        curves: Curves::of(&end.trace),
    })
}

fn flow(named: Named, end: FlowEnd) -> FlowSample {
    FlowSample {
        test: named.test,
        session: named.session,
        from: named.from,
        to: named.to,
        transport: match named.flow.carrier {
            Carrier::Tcp(_) => "tcp",
            Carrier::Udp => "udp",
        }
        .to_owned(),
        traffic: named.traffic,
        duration_ns: named.flow.duration,
        outcome: end.outcome,
        figures: Figures::of(&end.trace),
        places: Places::of(&end.trace, &end.glances),
        acknowledged_bytes: end.tcp.map(|tcp| tcp.acknowledged),
        retransmitted_bytes: end.tcp.map(|tcp| tcp.retransmitted),
        least_rtt_ns: end.tcp.map(|tcp| tcp.least_rtt),
        refused: end.refused,
        pace: end.pace.to_owned(),
        sender_options: options(end.sender),
        receiver_options: options(end.receiver),
        curves: Curves::of(&end.trace),
    }
}

fn options(read: Effective) -> SocketOptions {
    SocketOptions {
        congestion: read.congestion,
        nodelay: read.nodelay,
        send_buffer_bytes: read.send_buffer,
        receive_buffer_bytes: read.receive_buffer,
        mss_bytes: read.mss,
        window_clamp_bytes: read.window_clamp,
    }
}
