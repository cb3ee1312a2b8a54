//! SEND and RECV of one message size that differ widely (maly1996, section 5.1, last paragraph).

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::run::anomaly::evidence::compared;
use crate::run::cell::Case;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "asymmetry",
    about: "SEND and RECV of the same size and activity differ by more than 2 times, with the \
            whole 95 % interval of at least 3 repeats of each (Welch's test on logs)",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

/// The slower of the two is the one to look at.
fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    let opposite = match cell.cell.case {
        Case::Send => Case::Recv,
        Case::Recv => Case::Send,
        _ => return None,
    };
    let is_other = |other: &&CellRuns<'_>| {
        other.cell.case == opposite
            && other.cell.application == cell.cell.application
            && other.cell.activity == cell.cell.activity
    };
    let other = evidence.cells.iter().find(is_other)?;
    let ratio = other.goodput_mbps / cell.goodput_mbps;
    let found = compared(&cell.goodputs, &other.goodputs)?;
    (found.interval.low > MOST).then(|| {
        let (own, others) = (cell.goodput_mbps, other.goodput_mbps);
        let beyond = beyond(ratio, '>', MOST, 1, "");
        format!("{opposite} carries {others:.3} Mb/s, {beyond} times this cell's {own:.3} Mb/s")
    })
}

const MOST: f64 = 2.0;
