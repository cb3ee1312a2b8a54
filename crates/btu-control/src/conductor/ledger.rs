//! What the journal holds so far, as the conductor asks for it.

use btu_core::cell::ActivityName;
use btu_core::cell::Cell;
use btu_core::journal::AloneSample;
use btu_core::journal::Record;
use btu_core::plan::Plan;
use btu_core::sample::CellSample;
use btu_core::sample::Outcome;
use btu_core::units::Nanos;

/// Every record of the run, old ones of a resumed journal included.
#[derive(Debug)]
pub(super) struct Ledger {
    records: Vec<Record>,
}

impl Ledger {
    pub(super) fn new(records: Vec<Record>) -> Self {
        Self { records }
    }

    pub(super) fn keep(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Cells and activities measured, repeats counted once.
    pub(super) fn steps_done(&self) -> u64 {
        let first = |record: &&Record| match record {
            Record::Alone(_) => true,
            Record::Cell(sample) => sample.attempt == 1,
            Record::Capture(_) | Record::Verification(_) => false,
        };
        u64::try_from(self.records.iter().filter(first).count()).unwrap_or(u64::MAX)
    }

    /// The activity alone of this pass.
    pub(super) fn alone(&self, activity: &ActivityName, pass: u32) -> Option<&AloneSample> {
        self.records.iter().rev().find_map(|record| match record {
            Record::Alone(alone) if alone.activity == *activity && alone.pass == pass => {
                Some(alone)
            }
            _ => None,
        })
    }

    /// True where the cell was run again with capture.
    pub(super) fn is_captured(&self, cell: &Cell) -> bool {
        self.records
            .iter()
            .any(|record| matches!(record, Record::Capture(sample) if sample.run.cell == *cell))
    }

    /// The attempt that is still due for a cell in this pass, or `None` where it is measured.
    pub(super) fn due_attempt(&self, cell: &Cell, pass: u32) -> Option<u32> {
        let last = self.cells().rev().find(|sample| sample.cell == *cell && sample.pass == pass);
        match last {
            None => Some(1),
            Some(sample) if sample.attempt == 1 && is_void(sample) => Some(2),
            Some(_) => None,
        }
    }

    /// Geometric mean of the baselines' times of a pass: what calibrated work aims at.
    pub(super) fn baseline_time(&self, pass: u32) -> Option<Nanos> {
        let baselines = self.cells().filter(|s| s.pass == pass && s.cell.activity.is_none());
        let times: Vec<f64> = baselines
            .filter(|sample| sample.outcome.is_complete())
            .filter_map(|sample| sample.comm.as_ref())
            .map(|comm| comm.elapsed_ns.seconds())
            .collect();
        btu_core::stats::geometric_mean(&times).map(nanos)
    }

    /// The records so far.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// True where more passes would tell little.
    pub(super) fn is_settled(&self, plan: &Plan) -> bool {
        btu_core::analysis::is_settled(plan, &self.records)
    }

    fn cells(&self) -> impl DoubleEndedIterator<Item = &CellSample> {
        self.records.iter().filter_map(|record| match record {
            Record::Cell(sample) => Some(&**sample),
            _ => None,
        })
    }
}

/// A run that must be made again: not valid, or never came up.
fn is_void(sample: &CellSample) -> bool {
    !sample.invalid.is_empty() || matches!(sample.outcome, Outcome::Failed { .. })
}

/// Seconds of a statistic as a time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of positive times that fit"
)]
fn nanos(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9) as u64)
}
