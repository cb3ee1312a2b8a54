//! Repeats that spread more than those of the other cells.

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "spread",
    about: "robust coefficient of variation of at least 5 repeats of at least 1 s above both 15 % \
            and 3 times the standard deviation of the other cells in the middle, more where these differ",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    if !evidence.is_well_measured(cell) {
        return None;
    }
    let bound = evidence.chance_of_others(cell).max(LEAST_SPREAD);
    let spread = cell.spread().filter(|spread| *spread > bound)?;
    let (spread, bound) = (spread * 100.0, bound * 100.0);
    let beyond = beyond(spread, '>', bound, 0, " %");
    Some(format!("{} repeats spread {beyond} (robust CV)", cell.runs.len()))
}

const LEAST_SPREAD: f64 = 0.15;
