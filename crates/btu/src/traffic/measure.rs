//! Every run of the plan, kept in the journal before the next one.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Builder;

use btu_core::role::Role;
use btu_core::sample::Flag;
use btu_core::traffic::Block;
use btu_core::traffic::Cluster;
use btu_core::traffic::Keep;
use btu_core::traffic::course::Next;
use btu_core::traffic::findings::LONGER_FRAMES;
use btu_core::traffic::findings::OF_IPV6;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Probe;
use btu_core::traffic::probe::CapacitySample;
use btu_core::traffic::probe::PathMtuSample;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::probe::ResponsivenessSample;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sample::RunSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::files::Files;
use btu_engine::probe::observe;
use btu_engine::traffic as engine;
use btu_engine::traffic::CapacityOrder;
use btu_engine::traffic::Job;
use btu_engine::traffic::JobEnd;
use btu_engine::traffic::Watch;
use btu_engine::traffic::Way;
use btu_engine::traffic::hands;

use super::expand;
use super::expand::Cast;
use super::expand::Layout;
use super::expand::Played;
use super::expand::Said;
use super::expand::Until;
use super::gauge::Gauge;
use super::path::Hosts;
use super::path::LINGER;
use super::path::Regained;
use super::path::Testbed;
use super::scenario;
use super::seen::compare_clocks;
use super::seen::failed;
use super::seen::guarded;
use super::seen::is_sent_by;
use super::seen::sample;
use super::seen::seen;
use super::start::Started;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::Ending;
use crate::measurement::journal::journal_failure;
use crate::measurement::losses::Losses;
use crate::measurement::place::timestamp;
use crate::traffic::remote::distant;
use crate::traffic::remote::peers::Apart;
use crate::traffic::remote::peers::Peers;
use btu_engine::time::now;

/// Runs everything that the journal does not hold yet.
pub(super) fn measure(started: &mut Started, interrupt: &Interrupt) -> Result<Ending, Failure> {
    let plan = started.plan.clone();
    started.progress.found(started.lines.iter().filter_map(Line::run).count());
    let mut losses = Losses::default();
    while let Some(Next { pass, cell, decided }) = plan.next_run(&started.lines) {
        let showing = started.progress.begins(pass, &cell);
        let gauge = &started.progress.gauge;
        let sample = run(&mut started.hosts, &plan, (pass, &cell), gauge, interrupt)?;
        drop(showing);
        if interrupt.flag().load(Relaxed) {
            return Ok(ended(started, Ending::Interrupted));
        }
        match started.hosts.regain() {
            Regained::NoneLost => {}
            // What a lost agent left of a run says nothing of the path.
            Regained::All => match losses.one_more() {
                Ok(()) => continue,
                Err(reason) => return Ok(ended(started, Ending::Lost(reason))),
            },
            Regained::Not(reason) => return Ok(ended(started, Ending::Lost(reason))),
        }
        losses = Losses::default();
        if decided {
            keep(started, Line::TrafficCell(Box::new(cell.clone())))?;
        }
        keep(started, Line::TrafficRun(Box::new(sample.clone())))?;
        started.progress.done(&cell, &sample, started.hosts.take_untold());
    }
    Ok(ended(started, Ending::Complete))
}

fn ended(started: &Started, ending: Ending) -> Ending {
    started.progress.finish();
    ending
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
    (pass, cell): (u32, &Cell),
    gauge: &Gauge,
    interrupt: &Interrupt,
) -> Result<RunSample, Failure> {
    let seed = plan.seed_of(pass);
    hosts.set_link(cell.link.as_ref().or(plan.link.as_ref()), seed)?;
    let files = Files::host();
    let (started_at, before) = (timestamp(), observe(&files));
    let (clusters, probe) = if let Some(probe) = &cell.probe {
        probed(hosts, probe, interrupt)?
    } else {
        let scenario = scenario::stored(cell)?;
        let (begin, done) = (now(), Mutex::default());
        let stage = Stage { hosts, plan, cell, seed, interrupt, gauge, begin, done };
        stage.block(&scenario.run);
        (stage.done.into_inner().unwrap_or_else(PoisonError::into_inner), None)
    };
    let host = before.finish(&files);
    let emulation = hosts.emulation()?;
    let mut flags = limited(hosts, &clusters, probe.as_ref());
    // Once for each size: where the search for its throughput begins.
    if cell.group == Group::Ceiling && hosts.is_over_ipv6() {
        flags.push(Flag::new(LONGER_FRAMES, OF_IPV6));
    }
    Ok(RunSample { cell: cell.id, pass, started_at, clusters, probe, emulation, host, flags })
}

/// Agents whose policy held back what they sent.
fn limited(hosts: &Hosts, clusters: &[ClusterSample], probe: Option<&ProbeSample>) -> Vec<Flag> {
    // Round trips under load are answered by the one agent.
    let answers = matches!(probe, Some(ProbeSample::Responsiveness(_)));
    let sends = |role: Role| {
        clusters.iter().flat_map(|cluster| &cluster.flows).any(|flow| is_sent_by(flow, role))
    };
    let held = hosts.held_to().into_iter().filter(|(role, _)| answers || sends(*role));
    held.map(|(_, detail)| Flag::new(Flag::POLICY_LIMITED, detail)).collect()
}

/// What an engine does by itself, from the test host to the active one. One that fails is told as a
/// cluster that did not run.
fn probed(
    hosts: &Hosts,
    probe: &Probe,
    interrupt: &Interrupt,
) -> Result<(Vec<ClusterSample>, Option<ProbeSample>), Failure> {
    let cancel = interrupt.flag();
    let found = match hosts {
        Hosts::Apart(peers) => ask(
            probe,
            |order| distant::capacity(peers, order, cancel),
            |timer| distant::path_mtu(peers, timer, cancel),
            |interval, most| distant::responsiveness(peers, interval, most, cancel),
        ),
        Hosts::Here(testbed) => {
            let [near, far] = [Role::Test, Role::Active].map(|role| testbed.place(role));
            let address = testbed.address(Role::Test, Role::Active)?;
            let way = Way { near: &near, far: &far, address };
            ask(
                probe,
                |order| engine::capacity(&way, order, cancel),
                |timer| engine::path_mtu(&way, timer, cancel),
                |interval, most| engine::responsiveness(&way, interval, most, cancel),
            )
        }
    };
    Ok(match found {
        Ok(sample) => (Vec::new(), Some(sample)),
        Err(cause) => (vec![failed("probe", &cause)], None),
    })
}

/// Lets a probe be done by whoever does those of its kind.
fn ask(
    probe: &Probe,
    capacity: impl FnOnce(CapacityOrder) -> Result<CapacitySample, EngineError>,
    path_mtu: impl FnOnce(Nanos) -> Result<PathMtuSample, EngineError>,
    responsiveness: impl FnOnce(Nanos, u32) -> Result<ResponsivenessSample, EngineError>,
) -> Result<ProbeSample, EngineError> {
    match *probe {
        Probe::Capacity { time_ns: time, datagram_bytes: datagram, adjustment } => {
            capacity(CapacityOrder { datagram, time, adjustment }).map(ProbeSample::Capacity)
        }
        // Without it a method goes on as if packets of 1500 bytes came through, and says so.
        Probe::PathMtu { timer_ns } => {
            let not_known = |cause: EngineError| PathMtuSample {
                unavailable: Some(cause.sentence()),
                timer_ns,
                ..PathMtuSample::default()
            };
            Ok(ProbeSample::PathMtu(path_mtu(timer_ns).unwrap_or_else(not_known)))
        }
        Probe::Responsiveness { interval_ns, intervals } => {
            responsiveness(interval_ns, intervals).map(ProbeSample::Responsiveness)
        }
    }
}

/// A scenario while it runs.
struct Stage<'a> {
    hosts: &'a Hosts,
    plan: &'a Plan,
    cell: &'a Cell,
    seed: u64,
    interrupt: &'a Interrupt,
    gauge: &'a Gauge,
    begin: Nanos,
    done: Mutex<Vec<ClusterSample>>,
}

/// Whether the next block of a series may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    Badly,
    Well,
}

impl Stage<'_> {
    /// Flows, conversations and media of a cluster, at once.
    fn carried(&self, cluster: &Cluster, testbed: &Testbed, cast: Cast) -> ClusterSample {
        let flows: Vec<engine::Flow> = cast.flows.iter().map(|one| one.flow.clone()).collect();
        let job = Job {
            parties: &testbed.parties,
            flows: &flows,
            linger: testbed.linger(),
            stall: self.plan.stall_ns,
            cancel: Arc::clone(self.interrupt.flag()),
        };
        let of_talks = cast.talks.iter().map(|talk| &talk.dialogue.moved);
        for moved in of_talks.chain(cast.media.iter().map(|one| &one.flow.moved)) {
            let moved = Arc::clone(moved);
            self.gauge.add(move || Bytes::new(moved.load(Relaxed)));
        }
        let (ended, talks) = std::thread::scope(|scope| {
            let talks = cast.talks.into_iter();
            let mut talks: Vec<_> = talks
                .map(|talk| {
                    let (said, dialogue) = talk.parts();
                    let talking = move || Ok(seen(said, engine::converse(dialogue)?));
                    hands::start(scope, "traffic-talk", talking)
                })
                .collect();
            talks.extend(cast.media.into_iter().map(|one| {
                let Played { said, flow } = one;
                hands::start(scope, "traffic-play", move || Ok(seen(said, engine::play(flow)?)))
            }));
            let see = |watch: Watch| self.gauge.add(move || watch.read());
            let none = flows.is_empty();
            let ended = if none { Ok(JobEnd::default()) } else { engine::run_seen(&job, see) };
            (ended, talks.into_iter().map(hands::join).collect())
        });
        sample(&cluster.name, cast.flows, ended, talks)
    }

    /// The same between this host and agents.
    fn carried_apart(&self, cluster: &Cluster, peers: &Peers, mut cast: Cast) -> ClusterSample {
        let order = distant::Order {
            cluster,
            sessions: self.cell.sessions,
            seed: self.seed,
            linger: LINGER,
            stall: self.plan.stall_ns,
            interrupt: self.interrupt.flag(),
            gauge: self.gauge,
        };
        let talks = std::mem::take(&mut cast.talks);
        let said: Vec<Said> = talks.iter().map(|talk| talk.said.clone()).collect();
        match distant::carry(peers, &order, &cast, talks) {
            Err(cause) => failed(&cluster.name, &cause),
            Ok(distant::Carried { end, talks, clocks }) => {
                let talks = said.into_iter().zip(talks);
                let talks = talks.map(|(said, end)| Ok(seen(said, end?))).collect();
                let mut whole = sample(&cluster.name, cast.flows, Ok(end), talks);
                whole.clocks = clocks.iter().map(|(role, clock)| clock.sample(*role)).collect();
                compare_clocks(&mut whole, &clocks);
                whole
            }
        }
    }

    /// Carries a block out. What goes wrong in it is part of the result.
    fn block(&self, block: &Block) -> Went {
        match block {
            Block::Cluster(cluster) => self.cluster(cluster),
            Block::Parallel(blocks) => self.at_once(blocks),
            Block::Serial(blocks, keep) => {
                let mut went = Went::Well;
                for block in blocks {
                    went = self.block(block);
                    let over = went == Went::Badly && *keep == Keep::No;
                    if over || self.interrupt.flag().load(Relaxed) {
                        return went;
                    }
                }
                went
            }
        }
    }

    fn at_once(&self, blocks: &[Block]) -> Went {
        let ended: Vec<Went> = std::thread::scope(|scope| {
            let start =
                |block| (block, Builder::new().spawn_scoped(scope, move || self.block(block)));
            let threads: Vec<_> = blocks.iter().map(start).collect();
            let joined = threads.into_iter().map(|(block, thread)| match thread {
                // Of a cluster it is caught there; what is left is a fault of the whole measurement.
                Ok(thread) => thread.join().unwrap_or_else(|said| resume_unwind(said)),
                Err(source) => self.not_started(block, source),
            });
            joined.collect()
        });
        if ended.contains(&Went::Badly) { Went::Badly } else { Went::Well }
    }

    /// No thread is to be had for a block.
    fn not_started(&self, block: &Block, source: io::Error) -> Went {
        let cause = EngineError::Thread { name: "traffic-block".to_owned(), source };
        let failed = block.clusters().into_iter().map(|one| failed(&one.name, &cause));
        self.done.lock().unwrap_or_else(PoisonError::into_inner).extend(failed);
        Went::Badly
    }

    fn cluster(&self, cluster: &Cluster) -> Went {
        let sample = guarded(&cluster.name, || self.sampled(cluster));
        let well = sample.failed.is_none() && sample.flows.iter().all(|f| f.outcome.is_complete());
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        if well { Went::Well } else { Went::Badly }
    }

    fn sampled(&self, cluster: &Cluster) -> ClusterSample {
        let until = Until {
            patience: self.plan.stall_ns,
            cancel: Arc::clone(self.interrupt.flag()),
            most_blocks: usize::MAX,
        };
        let layout: &dyn Layout = match self.hosts {
            Hosts::Apart(_) => &Apart,
            Hosts::Here(testbed) => &**testbed,
        };
        let cast = expand::flows(cluster, self.cell.sessions, self.seed, layout, &until);
        let began_ns = now().since(self.begin);
        let sample = match (cast, self.hosts) {
            (Ok(cast), Hosts::Apart(peers)) => self.carried_apart(cluster, peers, cast),
            (Ok(cast), Hosts::Here(testbed)) => self.carried(cluster, testbed, cast),
            // The train of another pass can be longer than that of the first one, which was looked at before.
            (Err(refused), _) => {
                failed(&cluster.name, &EngineError::Refused(format!("{:#}", refused.cause)))
            }
        };
        ClusterSample { began_ns, ..sample }
    }
}
