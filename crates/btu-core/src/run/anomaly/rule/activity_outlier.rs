//! An activity that one application slows far more, or far less, than the others do.

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::run::anomaly::evidence::compared;
use crate::stats::mad;
use crate::stats::median;

pub(super) const RULE: Rule = Rule {
    name: "activity-outlier",
    about: "slowdown of an activity 1.5 times and 3.5 robust standard deviations away from the \
            median of the other applications of its case, the first with the whole 95 % interval of at \
            least 3 repeats (Welch's test on logs)",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

/// The modified z score of Iglewicz and Hoaglin ("How to Detect and Handle Outliers", 1993), on
/// logs; the cell itself is left out of its siblings.
fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    let own = cell.slowdown?;
    let siblings = || evidence.cells.iter().filter(|other| other.is_sibling_of(cell));
    let logs: Vec<f64> = siblings().filter_map(|other| other.slowdown).map(f64::ln).collect();
    let middle = median(&logs).filter(|_| logs.len() >= LEAST_SIBLINGS)?;
    let bound = (MOST_DEVIATIONS * crate::stats::NORMAL_MAD * mad(&logs)?).max(LEAST_RATIO.ln());
    let theirs: Vec<f64> = siblings().flat_map(|other| other.slowdowns.iter().copied()).collect();
    let interval = compared(&theirs, &cell.slowdowns)?.interval;
    let surely = interval.low > LEAST_RATIO || interval.high < 1.0 / LEAST_RATIO;
    (surely && (own.ln() - middle).abs() > bound).then(|| {
        let (activity, others) = (&cell.cell.activity, middle.exp());
        format!(
            "{activity} runs {own:.2} times slower beside it, beside the other applications \
             {others:.2} times (limit: a factor of {:.2})",
            bound.exp(),
        )
    })
}

const LEAST_SIBLINGS: usize = 3;

const MOST_DEVIATIONS: f64 = 3.5;

const LEAST_RATIO: f64 = 1.5;
