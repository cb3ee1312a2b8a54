//! What was seen: one record per run, as it came from the engine and the emulator.
//!
//! Raw first: nothing here is averaged or judged. Field names carry their units, because these
//! types are the lines of the journal. `None` means "not available on this machine", never zero.

mod activity;
mod capture;
mod comm;
mod emulation;
mod host;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::run::cell::Cell;

pub use activity::ActivitySample;
pub use capture::CaptureFile;
pub use capture::CapturePoint;
pub use capture::CaptureSample;
pub use capture::CaptureSource;
pub use comm::CommSample;
pub use comm::ConnectionSample;
pub use comm::EndSample;
pub use comm::Hold;
pub use comm::Negotiated;
pub use comm::Series;
pub use comm::SessionUse;
pub use comm::SocketOptions;
pub use comm::TcpInfo;
pub use emulation::DirectionSample;
pub use emulation::Quantiles;
pub use emulation::VerificationSample;
pub use host::CounterDelta;
pub use host::HostSample;

/// One run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSample {
    /// The point of the matrix.
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the random order of the pass, from 1.
    pub position: u32,
    /// 1 for the first try; a repeated run has the next number.
    pub attempt: u32,
    /// When the run began, UTC, RFC 3339.
    pub started_at: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The traffic; `None` where no connection came up.
    pub comm: Option<CommSample>,
    /// What the host activity did inside COMM's window; `None` for a baseline.
    pub activity_sample: Option<ActivitySample>,
    /// What the emulator did, per link and direction; empty on a direct path.
    pub emulation: Vec<DirectionSample>,
    /// The test host around the run.
    pub host: HostSample,
    /// Why the run must not be scored; empty for a valid run.
    pub invalid: Vec<String>,
    /// What a reader should know of the run.
    pub flags: Vec<Flag>,
}

impl CellSample {
    /// True where the run measured nothing that should count: it is repeated, and what was measured
    /// before or after it stands.
    pub fn is_void(&self) -> bool {
        !self.invalid.is_empty() || matches!(self.outcome, Outcome::Failed { .. })
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
pub enum Outcome {
    /// Every bit arrived.
    Complete,
    /// The run passed its time cap; its time is the cap.
    Capped {
        /// What it waited for.
        reason: String,
    },
    /// The run could not be made.
    Failed {
        /// Operation, operand and cause.
        reason: String,
    },
}

/// A remark on a run or a cell: a short name for machines, a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Flag {
    /// Kebab case, stable: `few-units`, `blackbox-limited`, `emulation-late`.
    pub name: String,
    /// What was seen, with its number and its limit.
    pub detail: String,
}

impl Flag {
    /// Ranks of an application waited for a CPU, not for messages: where their time went is not told.
    pub const OVERSUBSCRIBED: &str = "oversubscribed";
    /// An agent's policy held back what it sent: such a result is not ranked.
    pub const POLICY_LIMITED: &str = "policy-limited";

    /// A flag with its sentence.
    pub fn new(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { name: name.into(), detail: detail.into() }
    }
}

impl Outcome {
    /// True where every bit arrived.
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

/// `complete`, or what it ended with: `capped: no byte for 5 s`.
impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => out.write_str("complete"),
            Self::Capped { reason } => write!(out, "capped: {reason}"),
            Self::Failed { reason } => write!(out, "failed: {reason}"),
        }
    }
}
