//! What will be measured, and how: only legal values.
//!
//! A plan comes from an edition (an immutable, hashed file) plus a preset plus what the user asked
//! for. Who holds a [`Plan`] checks nothing.

mod bounds;
mod calls;
mod cap;
mod capture;
mod class;
mod edition;
mod error;
mod estimate;
mod link;
mod matrix;
mod raw;
mod resolve;
mod select;
mod stored;
mod text;

use serde::Deserialize;
use serde::Serialize;

use crate::placement::Placement;
use crate::run::calls::Calls;
use crate::run::cell::ActivityName;
use crate::run::cell::Application;
use crate::run::cell::Case;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::units::Ratio;

pub use capture::CaptureLimits;
pub use capture::Captured;
pub use capture::UnknownChoice;
pub use class::TestbedClass;
pub use edition::EDITIONS;
pub use edition::Edition;
pub use error::PlanError;
pub use estimate::StepTimes;
pub use link::Elements;
pub use link::LinkPlan;
pub use resolve::Choices;
pub use resolve::Vocabulary;

/// Everything that `btu run` needs to know before it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `btu-26` or `btu-96`.
    pub edition: String,
    /// BLAKE3 of the edition's file, hexadecimal.
    pub edition_hash: String,
    /// `quick`, `official`, `faithful`, or `custom` for a plan of the user's own.
    pub preset: String,
    /// Where a result of it comes from.
    pub testbed_class: TestbedClass,
    /// Seed of every random choice of the run.
    pub seed: u64,
    /// The cases x, in the paper's order.
    pub cases: Vec<Case>,
    /// The applications y, in order of message size.
    pub applications: Vec<Application>,
    /// The activities z, without `none`.
    pub activities: Vec<ActivityName>,
    /// True where a case, an application or an activity of the edition's is missing. With one that the
    /// edition has not, the preset is `custom`. `None` of a stored plan that does not say so itself, of
    /// an edition that this build does not have.
    pub partial: Option<bool>,
    /// How much each cell sends.
    pub amount: Amount,
    /// How much a host activity does beside COMM.
    pub work: Work,
    /// How long an activity runs before COMM starts.
    #[serde(rename = "lead_in_ns")]
    pub lead_in: Nanos,
    /// Window of an activity alone, once per pass.
    #[serde(rename = "alone_window_ns")]
    pub alone_window: Nanos,
    /// How many passes.
    pub passes: PassRule,
    /// Time that repeats of disturbed runs may take in all.
    #[serde(rename = "repeat_allowance_ns")]
    pub repeat_allowance: Nanos,
    /// The emulated link.
    pub link: LinkPlan,
    /// Socket settings.
    pub sockets: SocketPlan,
    /// By which calls COMM writes and reads.
    #[serde(default, skip_serializing_if = "Calls::is_default")]
    pub comm: Calls,
    /// On which CPUs COMM's ends run.
    #[serde(default, skip_serializing_if = "Placement::is_split")]
    pub placement: Placement,
    /// Sizes of the host activities.
    pub activity: ActivityPlan,
    /// Which cells are run again with capture.
    #[serde(default)]
    pub captured: Captured,
}

/// How much a cell sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// A fixed amount per cell, shared by its connections (btu-96).
    #[serde(rename = "fixed_bytes")]
    Fixed(Bytes),
    /// As much as passes in a window (btu-26).
    #[serde(rename = "window_ns")]
    Window(Nanos),
}

/// How much a host activity does beside COMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A fixed number of units that alone takes about as long as COMM does (btu-96).
    Calibrated,
    /// It runs at full rate from before COMM starts until after it ends (btu-26).
    Steady,
}

/// How many passes a run makes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassRule {
    /// Always made.
    pub min: u32,
    /// Never exceeded.
    pub max: u32,
    /// No pass beyond `min` starts if it would end after this time.
    #[serde(rename = "budget_ns")]
    pub budget: Nanos,
    /// Passes end early once the composite's relative half width is at most this.
    pub half_width: Ratio,
}

/// Socket settings; `None` leaves the system's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketPlan {
    /// Congestion control on the local testbed.
    pub congestion: Option<String>,
    /// `SO_SNDBUF` and `SO_RCVBUF` of the black boxes.
    #[serde(rename = "black_box_buffer_bytes")]
    pub black_box_buffer: Option<Bytes>,
    /// `TCP_WINDOW_CLAMP` of the black boxes.
    #[serde(rename = "black_box_window_clamp_bytes")]
    pub black_box_window_clamp: Option<Bytes>,
}

/// Sizes of the host activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityPlan {
    /// Threads of `cpu`; `None` for one per CPU of the test role.
    pub cpu_threads: Option<u32>,
    /// Size of the file that `io` copies.
    #[serde(rename = "io_file_bytes")]
    pub io_file: Bytes,
    /// Size of one transfer of `ftp`.
    #[serde(rename = "ftp_transfer_bytes")]
    pub ftp_transfer: Bytes,
}

#[cfg(test)]
mod tests;
