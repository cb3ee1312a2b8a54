//! Repeats that fall into two groups: something switches between them.

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::stats::lasting_bimodality;
use crate::stats::two_groups;

pub(super) const RULE: Rule = Rule {
    name: "two-groups",
    about: "at least 5 repeats of at least 1 s that fall into two groups, further apart than 15 % and \
            3 times the standard deviation of the other cells in the middle, more where these differ: \
            bimodality coefficient above 5/9 (on logs, also without the repeat farthest from the median), \
            or a gap three times as wide as either group",
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
    let (coefficient, apart) = lasting_bimodality(&cell.goodputs)?;
    (coefficient > UNIFORM && apart >= least).then(|| {
        format!(
            "bimodality coefficient {coefficient:.2} > {UNIFORM:.2} of {} repeats",
            cell.runs.len()
        )
    })
}

/// Groups closer than this are one group for every practical end.
const LEAST_RATIO: f64 = 1.15;

/// The coefficient of a uniform distribution.
const UNIFORM: f64 = 5.0 / 9.0;
