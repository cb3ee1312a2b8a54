//! Repeats that fall into two groups: something switches between them.

use super::Evidence;
use super::Rule;
use super::Weight;
use super::evidence::CellRuns;
use crate::stats::bimodality_coefficient;
use crate::stats::two_groups;

pub(super) const RULE: Rule = Rule {
    name: "two-groups",
    about: "at least 5 repeats of at least 1 s that fall into two groups, further apart than 15 % and \
            3 times the standard deviation of the other cells in the middle, more where these differ: \
            bimodality coefficient above 5/9, or a gap three times as wide as either group",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    if !evidence.is_well_measured(cell) {
        return None;
    }
    let least = evidence.chance_of_others(cell).exp().max(LEAST_RATIO);
    if let Some(split) = two_groups(&cell.goodputs, least) {
        let (lower, upper) = (split.lower, split.upper);
        return Some(format!(
            "{lower} slow and {upper} fast repeats, {:.2} times apart (> {least:.2})",
            split.ratio
        ));
    }
    let coefficient = bimodality_coefficient(&cell.goodputs)?;
    let apart = widest_ratio(&cell.goodputs) >= least;
    (coefficient > UNIFORM && apart).then(|| {
        format!(
            "bimodality coefficient {coefficient:.2} > {UNIFORM:.2} of {} repeats",
            cell.runs.len()
        )
    })
}

fn widest_ratio(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(0.0, f64::max) / low
}

/// Groups closer than this are one group for every practical end.
const LEAST_RATIO: f64 = 1.15;

/// The coefficient of a uniform distribution.
const UNIFORM: f64 = 5.0 / 9.0;
