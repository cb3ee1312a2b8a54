//! Sizes that are far slower than a larger one: where from, where to, why.

use btu_core::pingpong::chasm::Finding;

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.chasms.is_none() {
        return Vec::new();
    }
    let mut items = Vec::new();
    for curve in seen.analysis.timed() {
        let findings = curve.findings.iter().flatten();
        for finding in findings {
            items.push(format!("{}: {finding}", curve.label));
            items.extend(
                without_effect(finding).into_iter().map(|text| format!("{}: {text}", curve.label)),
            );
        }
        if curve.findings.as_ref().is_some_and(Vec::is_empty) {
            items.push(format!("{}: no size is far slower than a larger one", curve.label));
        }
    }
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// The factors that are not its cause, and those that say nothing of it, with the reason.
fn without_effect(finding: &Finding) -> Vec<String> {
    let Some(chasm) = finding.chasm() else { return Vec::new() };
    let none: Vec<&str> = chasm.without_effect().collect();
    let none = (!none.is_empty()).then(|| format!("no effect: {}", none.join(", ")));
    let unclear = chasm.unclear().map(|(factor, why)| format!("{factor} is unclear: {why}"));
    let untested =
        chasm.untested().map(|(factor, why)| format!("{factor} could not be tried: {why}"));
    none.into_iter().chain(unclear).chain(untested).collect()
}
