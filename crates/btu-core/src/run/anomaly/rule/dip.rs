//! A message size that is slower than smaller ones: the 1250-byte dip of maly1996, section 5.1.

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::run::anomaly::evidence::compared;
use crate::stats::isotonic;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "dip",
    about: "goodput of a message size below 70 % of what isotonic regression over the other sizes \
            of the case and activity predicts, with the whole 95 % interval of at least 3 repeats \
            (Welch's test on logs)",
    weight: Weight::Abnormal,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    let (predicted, repeats) = prediction(evidence, cell)?;
    let share = cell.goodput_mbps / predicted;
    let found = compared(&repeats, &cell.goodputs)?;
    (share.max(found.interval.high) < LEAST_SHARE).then(|| {
        format!(
            "{} messages of {} carry {:.3} Mb/s, {} of the {predicted:.3} Mb/s that the other sizes \
             predict",
            cell.cell.application.name,
            cell.cell.application.message_bytes,
            cell.goodput_mbps,
            beyond(share * 100.0, '<', LEAST_SHARE * 100.0, 0, " %"),
        )
    })
}

/// What a curve that never falls has reached at the next smaller size, and the repeats that say so. The
/// size itself is left out of the fit: it would pull the prediction towards its own dip.
fn prediction(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<(f64, Vec<f64>)> {
    let size = |cell: &CellRuns<'_>| cell.cell.application.message_bytes;
    let mut others: Vec<&CellRuns<'_>> =
        evidence.cells.iter().filter(|other| other.is_sibling_of(cell)).collect();
    others.sort_by_key(|other| size(other));
    let fit = isotonic(&others.iter().map(|other| other.goodput_mbps.ln()).collect::<Vec<f64>>());
    let smaller = others.iter().filter(|other| size(other) < size(cell)).count();
    let reached = *smaller.checked_sub(1).and_then(|at| fit.get(at))?;
    let is_there = |log: &f64| (log - reached).abs() < SAME_STEP;
    let step = others.iter().zip(&fit).filter(|(_, log)| is_there(log));
    let repeats = step.flat_map(|(other, _)| other.goodputs.iter().copied()).collect();
    Some((reached.exp(), repeats))
}

/// Sizes of one step of the fit have the same value, but for rounding.
const SAME_STEP: f64 = 1e-9;

const LEAST_SHARE: f64 = 0.7;
