//! What was seen of a sweep: the journal's lines, one per configuration and one per visit.
//!
//! Raw first: times are those of whole exchanges as the clock gave them; halving and dividing is
//! left to who reads. A visit keeps its first times in order, and all of them as a histogram.

mod times;

use serde::Deserialize;
use serde::Serialize;

use super::chasm::Answer;
use super::configuration::Configuration;
use super::plan::Path;
use super::schedule::Order;
use super::schedule::SHORT_UNITS;
use super::schedule::Stopped;
use super::schedule::Visit;
use super::statistic::Statistic;
use crate::sample::Flag;
use crate::sample::SocketOptions;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::units::Ratio;

pub use times::Times;

/// One line of a ping-pong's part of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A configuration, before its first visit.
    PingPongConfiguration {
        /// What its visits call it.
        id: ConfigurationId,
        /// Its settings.
        configuration: Configuration,
        /// The largest block that its transport carries.
        largest_bytes: Bytes,
    },
    /// A transport that was asked for and is not there.
    PingPongMissing {
        /// Its name.
        transport: String,
        /// What the machine lacks.
        reason: String,
    },
    /// A file of another tool, laid over the curves.
    PingPongFile {
        /// Its name, as given.
        file: String,
        /// All of it.
        text: String,
    },
    /// A curve of another result, laid over the curves.
    PingPongForeign(Box<ForeignCurve>),
    /// A visit.
    PingPongVisit(Box<VisitSample>),
    /// The points that got fewer rounds than were asked for, once the sweep is over.
    PingPongStops {
        /// The configuration.
        id: ConfigurationId,
        /// Each with its reason, by rising size.
        stops: Vec<Stopped>,
    },
    /// What the chasm finder was told: with these lines it finds the same again.
    PingPongAnswer {
        /// The configuration that it searched.
        id: ConfigurationId,
        /// The answer, in the order of the requests.
        answer: Answer,
    },
}

/// The number of a configuration in its journal.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ConfigurationId(pub u32);

/// A curve of another result: what is needed to draw and to compare it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignCurve {
    /// The directory that it came from, as given.
    pub directory: String,
    /// What it is called there.
    pub label: String,
    /// The host that it was measured on, in a line.
    pub host: String,
    /// How it was measured.
    pub configuration: Configuration,
    /// What its times are.
    pub statistic: Statistic,
    /// In which order its sizes were visited.
    #[serde(default)]
    pub order: Order,
    /// What its plan says besides; `None` in a journal that does not keep it.
    #[serde(default)]
    pub circumstances: Option<Circumstances>,
    /// Its points, by rising size.
    pub points: Vec<ForeignPoint>,
}

/// Where a curve was measured, and what was read back of its sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// Between which hosts.
    pub path: Path,
    /// CPUs of the end that starts; those of its host where none were named.
    pub near_cpus: Option<String>,
    /// CPUs of the end that answers.
    pub far_cpus: Option<String>,
    /// Connections, one after the other.
    pub connections: u32,
    /// Whether each visit had a connection of its own.
    pub reset: bool,
    /// The congestion control that was read back; `None` where there is none.
    pub congestion: Option<String>,
}

/// A point of another result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignPoint {
    /// The block.
    pub size_bytes: Bytes,
    /// T, in microseconds.
    pub time_us: f64,
    /// The 95 % interval of T.
    pub interval_us: Option<[f64; 2]>,
    /// The medians of its rounds.
    pub rounds_us: Vec<f64>,
}

/// One visit: some exchanges of one size over one configuration, without a pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitSample {
    /// The configuration.
    pub configuration: ConfigurationId,
    /// The block.
    pub size_bytes: Bytes,
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the random order of the round, from 1.
    pub position: u32,
    /// 1 for the first try; a visit that was disturbed is repeated once.
    pub attempt: u32,
    /// Number of the connection of this configuration, from 1.
    pub connection: u32,
    /// From the first byte of the warm-up, connection included, to the end of the last exchange.
    pub elapsed_ns: Nanos,
    /// The times of the exchanges.
    pub times: Times,
    /// Exchanges whose every byte was checked; nothing is timed then.
    #[serde(default)]
    pub verified: u64,
    /// What the visit cost and suffered besides.
    pub host: VisitHost,
    /// How it ended.
    pub ended: Ended,
    /// Options read back; of the first visit of a connection.
    pub options: Option<SocketOptions>,
    /// What a reader should know of the visit.
    pub flags: Vec<Flag>,
}

/// What a visit cost and suffered besides its time. `None`: not available on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitHost {
    /// Time that the measuring threads were runnable but not running.
    pub run_delay_ns: Option<Nanos>,
    /// CPU time taken by the hypervisor, all CPUs together.
    pub steal_ns: Option<Nanos>,
    /// Voluntary context switches of the measuring threads.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches of the measuring threads.
    pub involuntary_switches: Option<u64>,
    /// CPU time of the measuring threads.
    pub cpu_ns: Option<Nanos>,
}

/// How a visit ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ended {
    /// All exchanges were made.
    Complete,
    /// Fewer exchanges were made than asked for; those made count.
    Early {
        /// Why.
        cause: Early,
    },
    /// It broke off; the exchanges before count no more than a hint.
    Failed {
        /// What went wrong.
        fault: Fault,
        /// Operation, operand and cause.
        detail: String,
    },
}

/// Why a visit made fewer exchanges than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Early {
    /// The first exchanges were far slower than those of a clean neighbour.
    Slow,
    /// The visit's time was over.
    TimeCap,
}

/// What can go wrong with an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The peer closed or reset the connection.
    PeerGone,
    /// The peer did not answer within the visit's cap.
    Stalled,
    /// The answer had other bytes than the block.
    Corrupted,
    /// The answer was shorter than the block.
    Short,
    /// An answer to an earlier block came.
    Late,
    /// The same answer came twice.
    Duplicated,
    /// A system call failed.
    System,
}

impl VisitSample {
    /// What is known of a visit before its times are.
    pub fn of(visit: &Visit, elapsed_ns: Nanos, ended: Ended) -> Self {
        Self {
            configuration: visit.configuration,
            size_bytes: visit.size,
            round: visit.round,
            position: visit.position,
            attempt: visit.attempt,
            connection: visit.connection,
            elapsed_ns,
            times: Times::default(),
            verified: 0,
            host: VisitHost::default(),
            ended,
            options: None,
            flags: Vec::new(),
        }
    }

    /// True where the times may be used.
    pub fn counts(&self) -> bool {
        !matches!(self.ended, Ended::Failed { .. }) && !self.times.is_empty()
    }

    /// The share of the visit in which its threads waited for a CPU; more than 5 % is a disturbance.
    pub fn run_delay_share(&self) -> Option<Ratio> {
        let delay = self.host.run_delay_ns?.seconds();
        let elapsed = self.elapsed_ns.seconds();
        (elapsed > 0.0).then(|| Ratio::new(delay / elapsed))
    }

    /// True for a visit of a stream whose units are too short for their acknowledgement.
    pub fn has_short_units(&self) -> bool {
        self.flags.iter().any(|flag| flag.name == SHORT_UNITS)
    }

    /// True for a visit that should be repeated once: other work took the CPU away.
    pub fn is_disturbed(&self) -> bool {
        self.run_delay_share().is_some_and(|share| share > MOST_RUN_DELAY)
    }
}

/// The largest share of a visit that its threads may wait for a CPU.
const MOST_RUN_DELAY: Ratio = Ratio::new(0.05);

#[cfg(test)]
mod tests {
    use super::*;

    fn visit() -> VisitSample {
        VisitSample {
            configuration: ConfigurationId(1),
            size_bytes: Bytes::new(64),
            round: 2,
            position: 17,
            attempt: 1,
            connection: 1,
            elapsed_ns: Nanos::from_micros(100),
            times: Times::fold(&[20_000, 21_000, 19_000], 1, 64),
            verified: 0,
            host: VisitHost::default(),
            ended: Ended::Complete,
            options: None,
            flags: vec![],
        }
    }

    #[test]
    fn a_visit_comes_back_from_its_line() {
        let line = Line::PingPongVisit(Box::new(visit()));
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.starts_with(r#"{"kind":"ping_pong_visit","configuration":1,"size_bytes":64"#));
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
    }

    #[test]
    fn more_than_a_twentieth_of_run_delay_is_a_disturbance() {
        let delayed = |delay| VisitSample {
            host: VisitHost { run_delay_ns: Some(Nanos::new(delay)), ..VisitHost::default() },
            ..visit()
        };
        assert!(!visit().is_disturbed() && !delayed(5_000).is_disturbed());
        assert!(delayed(5_001).is_disturbed());
    }

    #[test]
    fn a_failed_or_empty_visit_does_not_count() {
        let failed = Ended::Failed { fault: Fault::Stalled, detail: "recv: no answer".into() };
        assert!(visit().counts());
        assert!(!VisitSample { ended: failed, ..visit() }.counts());
        assert!(!VisitSample { times: Times::default(), ..visit() }.counts());
    }
}
