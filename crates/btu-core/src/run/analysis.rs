//! What the samples mean: cells, scores, penalties, remarks. A pure function of a journal.

mod abnormal;
mod congestion;
mod count;
mod estimate;
mod fold;
mod gaps;
mod handshakes;
mod omitted;
mod progress;
mod rank;
mod second;
mod summary;
#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

use crate::run::anomaly;
use crate::run::cell::ActivityName;
use crate::run::cell::Application;
use crate::run::cell::Cell;
use crate::sample::Flag;
use crate::units::Bytes;
use crate::units::Nanos;

pub use abnormal::AbnormalCell;
pub use abnormal::abnormal_cells;
pub use congestion::CongestionWindow;
pub use count::CountedRun;
pub use fold::analyse;
pub use handshakes::handshakes;
pub use omitted::Omitted;
pub use omitted::Reason;
pub use progress::composite_half_width;
pub use progress::is_settled;
pub use progress::pass_composites;
pub use progress::running_score;
pub use progress::settled_cells;
pub use second::Carried;
pub use second::Chart;
pub use second::Followed;
pub use second::RunAgain;
pub use second::SecondRun;
pub use second::second_run;
pub use second::second_runs;
pub(crate) use summary::cpu_s_per_gb;
pub(crate) use summary::writes_per_segment;

/// Everything that a report shows, computed from one journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// The runs that count, one per cell and pass, in order of pass and position.
    pub runs: Vec<ScoredRun>,
    /// Each activity alone, one per pass.
    pub activity_runs: Vec<AloneRun>,
    /// Every cell over its passes, in the order of the plan (case, application, activity).
    pub cells: Vec<CellSummary>,
    /// One entry per application of the plan.
    pub applications: Vec<ApplicationScore>,
    /// The score (maly1996, eq. 7), Mb/s.
    pub btu_mbps: Estimate,
    /// The same formula over the baselines, Mb/s.
    pub btu_idle_mbps: Estimate,
    /// The score over that of the baselines, pass by pass: what is left of the idle host.
    pub share_of_idle: Estimate,
    /// (GM of slowdowns - 1) x 100, percent.
    pub penalty_percent: Estimate,
    /// maly1996 eq. 9-11 literally, percent.
    pub penalty_classic_percent: Estimate,
    /// The score of each complete pass, Mb/s: what two results are compared by.
    pub pass_btu_mbps: Vec<f64>,
    /// Passes in which every cell was measured.
    pub complete_passes: u32,
    /// True when the run came to its end.
    pub complete: bool,
    /// True where the matrix is smaller than the edition's, or cells are missing.
    pub partial: bool,
    /// Why the result must not be ranked; empty for a rankable one.
    pub not_rankable_reasons: Vec<String>,
    /// Remarks on the run as a whole.
    pub warnings: Vec<Flag>,
    /// The second runs, in the order in which they were made: without their packets, until somebody
    /// reads them ([`second_runs`]).
    pub second_runs: Vec<SecondRun>,
    /// The cells that were due for one and have none.
    pub omitted: Vec<Omitted>,
    /// The smallest relative change of the score that this run could have shown; `None` under 3 passes.
    pub detectable_change: Option<f64>,
}

impl Analysis {
    /// How many of the runs that count something else disturbed.
    pub fn disturbed_runs(&self) -> usize {
        let is_disturbed = |run: &&ScoredRun| run.flags.iter().any(anomaly::is_disturbance);
        self.runs.iter().filter(is_disturbed).count()
    }
}

/// A figure with its interval, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: Option<f64>,
    /// Why there is no figure.
    pub reason: Option<String>,
    /// The passes that it and its interval are over.
    pub n: u32,
    /// 95 % interval over passes.
    pub ci95: Option<[f64; 2]>,
    /// Why there is no interval.
    pub ci95_reason: Option<String>,
    /// Whole-pass bootstrap, 95 %, beside the interval.
    pub bootstrap95: Option<[f64; 2]>,
}

/// One run that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredRun {
    /// The point of the matrix.
    pub cell: Cell,
    /// Number of the pass.
    pub pass: u32,
    /// Delivered bits.
    pub bits: u64,
    /// COMM's time; the cap where the run was capped.
    pub elapsed: Nanos,
    /// True where COMM met its cap, failed, or moved nothing: the goodput is a bound.
    pub capped: bool,
    /// bits / elapsed, Mb/s.
    pub goodput_mbps: f64,
    /// Base rate over loaded rate of the activity, same pass; `None` for baselines.
    pub slowdown: Option<f64>,
    /// True where the activity finished no unit, which counts as one: the slowdown is a lower bound.
    pub slowdown_is_bound: bool,
    /// The loaded rate, units per second.
    pub activity_rate_per_s: Option<f64>,
    /// Remarks.
    pub flags: Vec<Flag>,
    /// The attempt that counts: the last one that is not void, else the last valid one, else the last.
    pub attempt: u32,
    /// Attempts made, invalid ones included.
    pub attempts: u32,
}

/// One activity alone.
#[derive(Clone, Debug, PartialEq)]
pub struct AloneRun {
    /// The activity.
    pub activity: ActivityName,
    /// Number of the pass.
    pub pass: u32,
    /// Work units.
    pub units: f64,
    /// Window.
    pub elapsed: Nanos,
    /// Units per second: the base of the slowdowns of its pass.
    pub rate_per_s: Option<f64>,
    /// Why it did not work as asked; empty when it did.
    pub failures: Vec<String>,
    /// Attempts made, invalid ones included.
    pub attempts: u32,
    /// Why it should be no base, though it is the best there is.
    pub invalid: Vec<String>,
    /// What else used the test host meanwhile.
    pub disturbance: Option<String>,
}

impl AloneRun {
    /// The base of the slowdowns of an activity in a pass, if it was measured.
    pub fn of<'r>(runs: &'r [Self], pass: u32, activity: &ActivityName) -> Option<&'r Self> {
        runs.iter().find(|run| run.pass == pass && run.activity == *activity)
    }

    /// True where it did not work as asked.
    pub const fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }
}

/// A cell over its passes: goodput and time by geometric mean.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSummary {
    /// The point of the matrix.
    pub cell: Cell,
    /// Passes measured.
    pub n: u32,
    /// Geometric mean of the times for `reference_bits`, seconds.
    pub seconds: f64,
    /// Geometric mean of the goodputs, Mb/s.
    pub goodput_mbps: f64,
    /// 95 % interval of the goodput, Student t on logs; `None` under 3 passes.
    pub goodput_ci95: Option<[f64; 2]>,
    /// Smallest, median and largest goodput, Mb/s.
    pub goodput_range: [f64; 3],
    /// The goodput that 95 of 100 passes stay below, Mb/s.
    pub goodput_p95_mbps: f64,
    /// Coefficient of variation of the goodputs (standard deviation over mean); `None` under 2 passes.
    pub cv: Option<f64>,
    /// Robust coefficient of variation of the goodputs (1.4826 MAD / median).
    pub robust_cv: f64,
    /// Geometric mean of the slowdowns; `None` for baselines.
    pub slowdown: Option<f64>,
    /// Retransmitted segments, all passes.
    pub retransmissions: Option<u64>,
    /// Writes per segment, median.
    pub writes_per_segment: Option<f64>,
    /// CPU seconds per GB of the test host's data threads, median.
    pub cpu_s_per_gb: Option<f64>,
    /// CPU seconds per GB of the black boxes' data threads, those of both boxes together, median.
    pub black_boxes_cpu_s_per_gb: Option<f64>,
    /// Remarks on the cell and on its runs, without repetition.
    pub flags: Vec<Flag>,
}

/// The score of one application class.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationScore {
    /// The class.
    pub application: Application,
    /// eq. 6, Mb/s.
    pub btu_mbps: Estimate,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Estimate,
    /// (GM over activities of the slowdowns - 1) x 100, percent.
    pub penalty_percent: Estimate,
    /// eq. 10, percent.
    pub penalty_classic_percent: Estimate,
    /// Seconds that the class needs for 32 Mb at its BTU.
    pub seconds_for_32_mb: Option<f64>,
}

/// The amount of the paper's cells: 32 Mb (maly1996, 4.2).
pub const REFERENCE_AMOUNT: Bytes = Bytes::new(4_000_000);

/// Name of the flag of a run whose pass was cut short while others are complete: it stands in the
/// tables and counts for no composite.
pub const INCOMPLETE_PASS: &str = "incomplete-pass";

/// The time that [`REFERENCE_AMOUNT`] takes at a goodput in Mb/s: the second axis of the paper's
/// Figure 2.
fn reference_seconds(mbps: f64) -> f64 {
    count::megabits(REFERENCE_AMOUNT.bits()) / mbps
}
