//! The lines of a journal of traffic: every run with its flows, as both ends saw them.

use serde::Deserialize;
use serde::Serialize;

use super::clock::ClockSample;
use super::plan::Cell;
use super::plan::Plan;
use super::probe::ProbeSample;
use super::trace::Trace;
use super::trace::float;
use crate::role::Role;
use crate::sample::DirectionSample;
use crate::sample::Flag;
use crate::sample::HostSample;
use crate::sample::Outcome;
use crate::sample::SocketOptions;
use crate::traffic::figures::flow::Figures;
use crate::traffic::figures::places::Places;
use crate::traffic::figures::slowdown::Slowdown;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::verb;

/// A line of `samples.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// One run of one cell.
    TrafficRun(Box<RunSample>),
    /// A cell that was decided on the way; its runs follow.
    TrafficCell(Box<Cell>),
}

impl Line {
    /// The run of this line.
    pub fn run(&self) -> Option<&RunSample> {
        match self {
            Self::TrafficRun(run) => Some(run),
            Self::TrafficCell(_) => None,
        }
    }

    /// The cell of this line.
    pub fn cell(&self) -> Option<&Cell> {
        match self {
            Self::TrafficCell(cell) => Some(cell),
            Self::TrafficRun(_) => None,
        }
    }
}

/// One run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSample {
    /// The number of the cell.
    pub cell: u32,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// The clusters, in the order in which they ended.
    pub clusters: Vec<ClusterSample>,
    /// What was run in their place.
    pub probe: Option<ProbeSample>,
    /// What the emulator did, per direction; empty on the direct path.
    pub emulation: Vec<DirectionSample>,
    /// The test host around the run.
    pub host: HostSample,
    /// What a reader should know of the run.
    pub flags: Vec<Flag>,
}

/// The flows of one cluster: one start, one end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterSample {
    /// Its name in the scenario.
    pub name: String,
    /// Why it could not be run; then it has no flows.
    pub failed: Option<String>,
    /// Its flows.
    pub flows: Vec<FlowSample>,
    /// CPU time of all sending threads.
    pub sender_cpu_ns: Nanos,
    /// CPU time of all receiving threads.
    pub receiver_cpu_ns: Nanos,
    /// Sending threads.
    pub sender_threads: u32,
    /// From the beginning of the run to its own; zero in results that are older than this key.
    #[serde(default)]
    pub began_ns: Nanos,
    /// From the start to the last byte read.
    pub elapsed_ns: Nanos,
    /// The clocks of the other hosts; empty where all flows are on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockSample>,
    /// How messages of tests were slowed, by their size: of those whose messages have several sizes and one clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowdowns: Vec<SlowdownSample>,
}

/// How the messages of a test were slowed in one direction, all its sessions and connections together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowdownSample {
    /// The name of the test.
    pub test: String,
    /// The host that its flows are from.
    pub from: Role,
    /// The host that they are to.
    pub to: Role,
    /// By size, smallest first.
    pub sizes: Vec<Slowdown>,
}

/// One flow as both ends saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowSample {
    /// The name of its test.
    pub test: String,
    /// Which of the sessions of the test, from 1.
    pub session: u32,
    /// The sending host.
    pub from: Role,
    /// The receiving host.
    pub to: Role,
    /// `tcp` or `udp`.
    pub transport: String,
    /// What it sends, as the scenario says.
    pub traffic: String,
    /// How much later than its schedule it began: a random part of the period, where equal sessions have a
    /// constant one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_ns: Option<Nanos>,
    /// From the start of its cluster to its own; zero in results that are older than this key.
    #[serde(default)]
    pub start_ns: Nanos,
    /// T.
    pub duration_ns: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// What is said of it, from the whole trace.
    pub figures: Figures,
    /// How well the clocks of its ends are known to agree; `None` where they are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Agreement>,
    /// Where its queue stood; `None` for datagrams.
    pub places: Option<Places>,
    /// Payload acknowledged at T: what was transmitted; `None` for datagrams.
    pub acknowledged_bytes: Option<Bytes>,
    /// Retransmitted payload.
    pub retransmitted_bytes: Option<Bytes>,
    /// Smallest round trip of the connection.
    pub least_rtt_ns: Option<Nanos>,
    /// Datagrams that the kernel of the sender threw away; they count as sent.
    pub refused: u64,
    /// How the sender waited.
    pub pace: String,
    /// CPU time of the asker and of the answerer of a conversation, or of both ends of media, counted in that of the
    /// cluster, too; `None` between hosts, and for flows with a schedule, which share threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<[Nanos; 2]>,
    /// What the user of the application of a conversation, or of media, noticed: `page load p50, s` and its value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noticed: Vec<(String, f64)>,
    /// Socket options of the sender, as the kernel has them.
    pub sender_options: SocketOptions,
    /// Of the receiver.
    pub receiver_options: SocketOptions,
    /// A(t) and D(t), thinned for pictures.
    pub curves: Curves,
}

/// What one of the causes of a cluster's failure begins with where the fault is the program's.
pub const INTERNAL_ERROR: &str = "internal error (please report it)";

/// How the flow of a conversation waits.
const ASKED: &str = "answers";
/// What a full stream is called in a scenario.
const FULL: &str = "full";

/// How well the clocks of a sender and a receiver are known to agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Delays of one way may be off by so much.
    Within(Nanos),
    /// They cannot be compared, with the reason.
    Unknown(String),
}

/// A(t) and D(t) at some times, the first value and then differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curves {
    /// Nanoseconds from the start of the flow.
    pub t_ns: Vec<u64>,
    /// Bytes that had arrived.
    pub arrived_bytes: Vec<u64>,
    /// Bytes that had been read.
    pub read_bytes: Vec<u64>,
}

/// A journal that was read back, whole.
pub type Journal = verb::Journal<Plan, Line>;

impl Journal {
    /// The same with the cells of the plan that were decided on the way.
    #[must_use]
    pub fn with_decided_cells(mut self) -> Self {
        let Self { plan, lines, .. } = &mut self;
        plan.cells.extend(lines.iter().filter_map(Line::cell).cloned());
        self
    }

    /// Every run, in order.
    pub fn runs(&self) -> impl Iterator<Item = &RunSample> {
        self.lines.iter().filter_map(Line::run)
    }
}

impl FlowSample {
    /// True for a flow of a conversation: it waits for answers, and has threads of its own.
    pub fn is_asked(&self) -> bool {
        self.pace == ASKED
    }

    /// True where nothing fell due in its time: it was there and sent nothing.
    pub fn is_silent(&self) -> bool {
        self.outcome.is_complete() && self.figures.blocks.due == 0
    }

    /// True where it failed before anything of it moved: 0 bit/s would be a statement about the path.
    pub fn has_never_moved(&self) -> bool {
        let figures = &self.figures;
        matches!(self.outcome, Outcome::Failed { .. })
            && figures.arrived_bytes.is_empty()
            && figures.delivered_bytes.is_empty()
    }

    /// True for a stream that always has more, and so fills the path.
    pub fn is_full(&self) -> bool {
        self.traffic.split('(').next() == Some(FULL)
    }

    /// From the start of its cluster to its end, or to the last byte that was read after it.
    pub fn lasts(&self) -> Nanos {
        let seen = self.curves.t_ns.iter().fold(0, |sum: u64, step| sum.saturating_add(*step));
        self.start_ns.saturating_add(self.duration_ns.max(Nanos::new(seen)))
    }

    /// True where the CPU time of its cluster is without that of its threads.
    pub fn is_uncounted(&self) -> bool {
        self.is_asked() && self.cpu_ns.is_none()
    }

    /// How far its delays of one way may be off, seconds; `None` where one clock measured them.
    pub fn delay_bound_s(&self) -> Option<f64> {
        match self.clocks.as_ref()? {
            Agreement::Within(bound) => Some(bound.seconds()),
            Agreement::Unknown(_) => None,
        }
    }

    /// A delay of one way, where the clocks of both ends are known well enough to say it.
    pub fn one_way(&self, seconds: Option<f64>) -> Option<f64> {
        let seconds = seconds?;
        match &self.clocks {
            None => Some(seconds),
            Some(Agreement::Within(bound)) => (seconds >= bound.seconds()).then_some(seconds),
            Some(Agreement::Unknown(_)) => None,
        }
    }

    /// The 99th percentile of delay over the smallest one. Between two clocks the smallest is what was read,
    /// but no less than half of the smallest round trip, which one clock measured.
    pub fn slowdown(&self) -> Option<f64> {
        let delay = self.figures.delay?;
        if self.clocks.is_none() {
            return Some(delay.p99_s / delay.min_s.max(1e-9));
        }
        let least = (self.least_rtt_ns?.seconds() / 2.0).max(delay.min_s);
        (least > 0.0).then(|| (least + delay.pdv_p99_s) / least)
    }

    /// Why delays of one way are missing, where some are.
    pub fn delay_reason(&self) -> Option<String> {
        match self.clocks.as_ref()? {
            Agreement::Within(bound) => {
                let delay = self.figures.delay;
                let said = [delay.map(|delay| delay.p50_s), self.figures.window_delay_s];
                let hidden = said.into_iter().flatten().any(|said| said < bound.seconds());
                hidden.then(|| {
                    let bound = bound.millis();
                    format!(
                        "smaller than the clocks of both hosts are known to agree: {bound:.3} ms"
                    )
                })
            }
            Agreement::Unknown(reason) => Some(reason.clone()),
        }
    }
}

impl RunSample {
    /// Every flow of every cluster.
    pub fn flows(&self) -> impl Iterator<Item = &FlowSample> {
        self.clusters.iter().flat_map(|cluster| &cluster.flows)
    }

    /// The same, each with the name of its cluster.
    pub fn flows_by_cluster(&self) -> impl Iterator<Item = (&str, &FlowSample)> {
        self.clusters
            .iter()
            .flat_map(|cluster| cluster.flows.iter().map(|flow| (cluster.name.as_str(), flow)))
    }

    /// True where a cluster failed for a fault of the program, not of path or hosts.
    pub fn has_internal_error(&self) -> bool {
        let mut causes = self.clusters.iter().filter_map(|cluster| cluster.failed.as_ref());
        causes.any(|cause| cause.split("; ").any(|one| one.starts_with(INTERNAL_ERROR)))
    }

    /// True where every flow came to its end.
    pub fn is_complete(&self) -> bool {
        let failed = self.clusters.iter().any(|cluster| cluster.failed.is_some());
        !failed && self.flows().all(|flow| flow.outcome.is_complete())
    }
}

impl Curves {
    /// A(t) and D(t) at most [`Curves::POINTS`] evenly spaced times, until the last byte was read.
    pub fn of(trace: &Trace) -> Self {
        let end = trace.reads.last().map_or(Nanos::ZERO, |read| read.at).max(trace.duration);
        let mut curves = Self::default();
        let mut last = [0; 3];
        let arrivals = trace.arrivals();
        for point in 0..=Self::POINTS {
            let at = Nanos::new(end.count() / Self::POINTS * point);
            let values = [at.count(), arrivals.by(at).count(), trace.read_by(at).count()];
            let columns = [&mut curves.t_ns, &mut curves.arrived_bytes, &mut curves.read_bytes];
            for ((column, value), last) in columns.into_iter().zip(values).zip(&mut last) {
                column.push(value - std::mem::replace(last, value));
            }
        }
        curves
    }

    /// The times and both curves, summed up again.
    pub fn points(&self) -> Vec<(Nanos, Bytes, Bytes)> {
        let mut sums = [0; 3];
        let rows = self.t_ns.iter().zip(&self.arrived_bytes).zip(&self.read_bytes);
        rows.map(|((t, arrived), read)| {
            for (sum, step) in sums.iter_mut().zip([t, arrived, read]) {
                *sum += step;
            }
            (Nanos::new(sums[0]), Bytes::new(sums[1]), Bytes::new(sums[2]))
        })
        .collect()
    }

    /// What was read from the first bytes to the last, bit/s: what a path carries of a stream that fills it, however
    /// long its way is. `None` where all came at once.
    pub fn read_rate(&self) -> Option<f64> {
        let points = self.points();
        let (_, _, all) = *points.last()?;
        let (from, _, before) = *points.iter().find(|(_, _, read)| !read.is_empty())?;
        let (to, _, _) = *points.iter().find(|(_, _, read)| *read == all)?;
        let seconds = to.since(from).seconds();
        (seconds > 0.0).then(|| float(all.saturating_sub(before).bits()) / seconds)
    }

    /// Points of a picture.
    const POINTS: u64 = 160;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 s over a way of 400 ms only 600 ms deliver, and the rest comes afterwards: 10 Mb/s all the time.
    #[test]
    fn the_rate_of_a_stream_does_not_depend_on_the_length_of_its_way() {
        let read = |at: u64| (at.clamp(3, 13) - 3) * 125_000;
        let curves = |until: u64| Curves {
            t_ns: (0..=until).map(|at| if at == 0 { 0 } else { 100_000_000 }).collect(),
            arrived_bytes: vec![0; 20],
            read_bytes: (0..=until).map(|at| read(at) - read(at.saturating_sub(1))).collect(),
        };
        for until in [10, 14, 16] {
            assert!((curves(until).read_rate().unwrap() - 10e6).abs() < 1.0, "{until}");
        }
        assert_eq!([0, 3, 4].map(|until| curves(until).read_rate()), [None; 3]);
    }
}
