//! The cells that a rule calls abnormal: they deserve a second run, a chart and a diagnosis.

use super::CellSummary;
use super::count;
use super::fold::flag_anomalies;
use super::fold::summaries;
use crate::journal::Record;
use crate::run::anomaly;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::sample::Flag;

/// A cell, and every rule that fired.
#[derive(Clone, Debug, PartialEq)]
pub struct AbnormalCell {
    /// The cell.
    pub cell: Cell,
    /// The findings, each with its figure and its limit.
    pub why: Vec<Flag>,
}

/// The abnormal cells of what was measured so far: those with most findings first, else in the
/// order of the plan.
pub fn abnormal_cells(plan: &Plan, records: &[Record]) -> Vec<AbnormalCell> {
    let bases = count::alone_runs(plan, records);
    let mut runs = count::counted_runs(plan, records, &bases);
    let of_cells = flag_anomalies(plan, &mut runs);
    let cells = summaries(plan, &runs, &of_cells);
    abnormal_of(&cells)
}

/// The abnormal ones of these, in the order of [`abnormal_cells`].
pub(super) fn abnormal_of(cells: &[CellSummary]) -> Vec<AbnormalCell> {
    let mut found: Vec<AbnormalCell> = cells.iter().filter_map(CellSummary::abnormal).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.why.len()));
    found
}

impl CellSummary {
    /// The cell with what makes it abnormal; `None` for one that is not.
    pub fn abnormal(&self) -> Option<AbnormalCell> {
        let why: Vec<Flag> =
            self.flags.iter().filter(|flag| anomaly::is_abnormal(flag)).cloned().collect();
        (!why.is_empty()).then(|| AbnormalCell { cell: self.cell.clone(), why })
    }
}
