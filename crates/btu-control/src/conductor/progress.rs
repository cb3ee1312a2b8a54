//! How far a run is, and how long it will take.

use btu_core::plan::Plan;
use btu_core::units::Nanos;

use super::ledger::Ledger;

/// A line of progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps measured.
    pub done: u64,
    /// Steps of the passes that are sure to be made.
    pub total: u64,
    /// Number of the pass that runs, from 1.
    pub pass: u32,
    /// Estimated time left; `None` before the first step ended.
    pub left: Option<Nanos>,
    /// The score over what is measured so far, Mb/s.
    pub btu_mbps: Option<f64>,
}

impl Progress {
    pub(super) fn of(
        plan: &Plan,
        ledger: &Ledger,
        pass: u32,
        waiting: u64,
        elapsed: Nanos,
    ) -> Self {
        let per_pass =
            u64::try_from(plan.cells().len() + plan.activities.len()).unwrap_or(u64::MAX);
        let later = u64::from(plan.passes.min.saturating_sub(pass)) * per_pass;
        let done = ledger.steps_done();
        Self {
            done,
            total: (done + waiting + later).max(done),
            pass,
            left: (done > 0).then(|| Nanos::new(elapsed.count() / done * (waiting + later))),
            btu_mbps: btu_core::analysis::running_score(plan, ledger.records()),
        }
    }
}
