//! What was seen of parallel applications: the journal's lines, one per launch.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::class::ProblemClass;
use super::kernel::Outcome;
use super::ranks::Split;
use super::ranks::Tally;
use crate::sample::Flag;
use crate::sample::HostSample;
use crate::units::Nanos;

/// One line of an application's part of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A message layer, or a job over it, that was asked for and is not there.
    AppMissing {
        /// What: `shm`, or `sp, 3 ranks`.
        what: String,
        /// What is lacking.
        reason: String,
    },
    /// A launch.
    AppLaunch(Box<LaunchSample>),
}

/// What is launched: a kernel with some ranks over a message layer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Job {
    /// The kernel.
    pub kernel: String,
    /// How large its problem is.
    pub class: ProblemClass,
    /// How many ranks.
    pub ranks: u32,
    /// The message layer.
    pub layer: String,
    /// How a rank waits for a message.
    pub wait: Wait,
}

/// How a rank waits for a message.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// In the kernel: its CPU does something else meanwhile.
    #[default]
    Block,
    /// It asks again and again.
    Spin,
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Block => "block",
            Self::Spin => "spin",
        })
    }
}

/// One launch, seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchSample {
    /// What was launched.
    pub job: Job,
    /// Number of the round, from 1.
    pub round: u32,
    /// Place in the random order of the round, from 1.
    pub position: u32,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// Each rank, in their order.
    pub ranks: Vec<RankSample>,
    /// The machine around the launch; `None` where it could not be watched.
    pub host: Option<HostSample>,
    /// How many CPUs the ranks could use: with fewer than ranks, they wait for each other's CPU, not for messages.
    pub cpus: u32,
    /// What a reader should know of the launch.
    pub flags: Vec<Flag>,
}

/// One rank of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankSample {
    /// Its number, from 0.
    pub rank: u32,
    /// The timed part; `None` where it did not come to its end.
    pub elapsed_ns: Option<Nanos>,
    /// Where that time went.
    pub split: Split,
    /// CPU time of the rank, from its start to its end.
    pub cpu_ns: Option<Nanos>,
    /// How long it was ready and had no CPU, from its start to its end.
    pub run_delay_ns: Option<Nanos>,
    /// How long it lived: what the two above are parts of.
    pub lived_ns: Nanos,
    /// What it passed, warm-up included.
    pub tally: Tally,
    /// What it found; `None` where it did not come so far.
    pub outcome: Option<Outcome>,
    /// Why it did not come to its end; `None` where it did.
    pub failure: Option<String>,
}
