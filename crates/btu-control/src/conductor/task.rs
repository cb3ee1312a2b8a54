//! What a conductor has done on the testbed: one run, or one check of the emulation.

use btu_core::journal::AloneSample;
use btu_core::journal::Journal;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Cell;
use btu_core::sample::ActivitySample;
use btu_core::sample::Flag;
use btu_core::sample::HostSample;
use btu_core::units::Nanos;

/// Something that takes time on the testbed.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// An activity without COMM.
    Alone(AloneRun),
    /// A cell once more, with capture.
    Capture(CaptureRun),
    /// A cell.
    Cell(CellRun),
    /// The check of the emulation.
    Verify(When),
}

/// An activity alone: one per pass.
#[derive(Clone, Debug, PartialEq)]
pub struct AloneRun {
    /// The activity z.
    pub activity: ActivityName,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the pass, from 1.
    pub position: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// With calibrated work: the time that the fixed work should take alone.
    pub calibrate_to: Option<Nanos>,
}

impl AloneRun {
    /// What it did, and the host around it, as a run that began at this time.
    pub fn sampled(
        &self,
        started_at: String,
        sample: ActivitySample,
        host: HostSample,
    ) -> AloneSample {
        AloneSample {
            activity: self.activity.clone(),
            pass: self.pass,
            position: self.position,
            attempt: self.attempt,
            started_at,
            sample,
            invalid: host.drift.clone(),
            host: Some(host),
            flags: Vec::new(),
        }
    }
}

/// One run of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRun {
    /// The point of the matrix.
    pub cell: Cell,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the pass, from 1.
    pub position: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// With calibrated work: the units that the activity has to do.
    pub fixed_units: Option<f64>,
}

/// A cell once more, with its packets recorded. Nothing of it is scored; its pass is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureRun {
    /// The run.
    pub run: CellRun,
    /// What made the cell abnormal; empty for one that was asked for.
    pub why: Vec<Flag>,
}

/// When the emulation is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the last cell.
    After,
    /// Before the first cell.
    Before,
}

impl When {
    /// `before` or `after`, as samples say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::After => "after",
            Self::Before => Journal::BEFORE,
        }
    }
}
