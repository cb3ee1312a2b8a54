//! What the journal holds so far, as the conductor asks for it.

use std::collections::BTreeMap;

use btu_core::journal::AloneSample;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Cell;
use btu_core::run::plan::Plan;
use btu_core::run::schedule::Step;
use btu_core::sample::CellSample;
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
    pub(super) fn steps_done(&self) -> impl Iterator<Item = Step> {
        self.records.iter().filter_map(|record| match record {
            Record::Alone(alone) if alone.attempt == 1 => Some(Step::Alone(alone.activity.clone())),
            Record::Cell(sample) if sample.attempt == 1 => Some(Step::Cell(sample.cell.clone())),
            _ => None,
        })
    }

    /// The activity alone of this pass, as it counts.
    pub(super) fn alone(&self, activity: &ActivityName, pass: u32) -> Option<&AloneSample> {
        let attempts = self.alone_runs().filter(|one| one.activity == *activity);
        let attempts: Vec<&AloneSample> = attempts.filter(|one| one.pass == pass).collect();
        AloneSample::that_counts(&attempts)
    }

    /// True where the cell was run again with capture.
    pub(super) fn is_captured(&self, cell: &Cell) -> bool {
        self.records
            .iter()
            .any(|record| matches!(record, Record::Capture(sample) if sample.run.cell == *cell))
    }

    /// True where the cell was measured in this pass.
    pub(super) fn is_measured(&self, cell: &Cell, pass: u32) -> bool {
        self.cells().any(|sample| sample.cell == *cell && sample.pass == pass)
    }

    /// The run that nothing that is scored came after: its repeat may still be due.
    pub(super) fn last_run(&self) -> Option<&Record> {
        self.records.iter().rev().find(|record| !matches!(record, Record::Verification(_)))
    }

    /// The last pass of which anything was measured; 0 before the first.
    pub(super) fn last_pass(&self) -> u32 {
        let pass = |record: &Record| match record {
            Record::Alone(alone) => alone.pass,
            Record::Cell(sample) => sample.pass,
            Record::Capture(_) | Record::Verification(_) => 0,
        };
        self.records.iter().map(pass).max().unwrap_or(0)
    }

    /// True where something was done that is done after the last pass only.
    pub(super) fn is_past_the_passes(&self) -> bool {
        self.records.iter().any(|record| match record {
            Record::Capture(_) => true,
            Record::Verification(check) => check.when != Journal::BEFORE,
            Record::Alone(_) | Record::Cell(_) => false,
        })
    }

    /// The time that the passes took, up to the last run that was kept.
    pub(super) fn spent(&self, plan: &Plan) -> Nanos {
        let time = |record: &Record| match record {
            Record::Alone(alone) => time_of(alone, plan),
            Record::Cell(sample) => sample.host.elapsed_ns,
            Record::Capture(_) | Record::Verification(_) => Nanos::ZERO,
        };
        self.records.iter().map(time).sum()
    }

    /// The time that repeats took.
    pub(super) fn repeats(&self, plan: &Plan) -> Nanos {
        let of_cells = self.cells().filter(|sample| sample.attempt > 1);
        let of_activities = self.alone_runs().filter(|alone| alone.attempt > 1);
        let times = of_cells.map(|sample| sample.host.elapsed_ns);
        times.chain(of_activities.map(|alone| time_of(alone, plan))).sum()
    }

    /// Geometric mean of the baselines' times of a pass: what calibrated work aims at.
    pub(super) fn baseline_time(&self, pass: u32) -> Option<Nanos> {
        let baselines = self.cells().filter(|s| s.pass == pass && s.cell.activity.is_none());
        let mut times = BTreeMap::new();
        for sample in baselines.filter(|sample| sample.outcome.is_complete()) {
            let Some(comm) = &sample.comm else { continue };
            // An invalid run stands only where its repeat is none either.
            if !(sample.is_void() && times.contains_key(&sample.cell)) {
                times.insert(&sample.cell, comm.elapsed_ns.seconds());
            }
        }
        let times: Vec<f64> = times.into_values().collect();
        btu_core::stats::geometric_mean(&times).map(nanos)
    }

    /// The records so far.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// True where more passes would tell little.
    pub(super) fn is_settled(&self, plan: &Plan) -> bool {
        btu_core::run::analysis::is_settled(plan, &self.records)
    }

    fn alone_runs(&self) -> impl Iterator<Item = &AloneSample> {
        self.records.iter().filter_map(|record| match record {
            Record::Alone(alone) => Some(alone),
            _ => None,
        })
    }

    fn cells(&self) -> impl DoubleEndedIterator<Item = &CellSample> {
        self.records.iter().filter_map(|record| match record {
            Record::Cell(sample) => Some(&**sample),
            _ => None,
        })
    }
}

/// What an activity alone took of the run. Where nobody looked at the host: its window and lead-in.
pub(super) fn time_of(alone: &AloneSample, plan: &Plan) -> Nanos {
    let unseen = || alone.sample.elapsed_ns + plan.lead_in;
    alone.host.as_ref().map_or_else(unseen, |host| host.elapsed_ns)
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
