//! Repeats that spread more than those of the other cells.

use super::Evidence;
use super::Rule;
use super::Weight;
use super::evidence::CellRuns;
use crate::stats::median;
use crate::stats::robust_cv;

pub(super) const RULE: Rule = Rule {
    name: "spread",
    about: "robust coefficient of variation of at least 5 repeats of at least 1 s above both 15 % \
            and 3 times the median of the other cells",
    weight: Weight::Abnormal,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<super::Finding> {
    let spreads: Vec<(&CellRuns<'_>, f64)> =
        evidence.cells.iter().filter_map(|cell| Some((cell, robust_cv(&cell.goodputs)?))).collect();
    evidence.each_cell(|cell| {
        if !evidence.is_well_measured(cell) {
            return None;
        }
        let others = spreads.iter().filter(|(other, _)| other.cell != cell.cell);
        let siblings = median(&others.map(|(_, spread)| *spread).collect::<Vec<f64>>());
        let bound = (3.0 * siblings.unwrap_or(0.0)).max(LEAST_SPREAD);
        let spread = robust_cv(&cell.goodputs).filter(|spread| *spread > bound)?;
        let (spread, bound) = (spread * 100.0, bound * 100.0);
        Some(format!("{} repeats spread {spread:.0} % > {bound:.0} % (robust CV)", cell.runs.len()))
    })
}

const LEAST_SPREAD: f64 = 0.15;
