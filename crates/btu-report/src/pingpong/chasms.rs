//! Sizes that are far slower than a larger one: where from, where to, why.

use btu_core::pingpong::chasm::Finding;
use btu_core::pingpong::chasm::Outcome;

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
            items.extend(untested(finding).map(|text| format!("{}: {text}", curve.label)));
        }
        if curve.findings.as_ref().is_some_and(Vec::is_empty) {
            items.push(format!("{}: no size is far slower than a larger one", curve.label));
        }
    }
    if items.is_empty() {
        Vec::new()
    } else {
        vec![Block::paragraph("Chasms"), Block::List { items }]
    }
}

/// The factors that say nothing of this chasm, because they could not be tried.
fn untested(finding: &Finding) -> impl Iterator<Item = String> {
    let effects = finding.chasm().into_iter().flat_map(|chasm| &chasm.effects);
    effects.filter_map(|effect| match &effect.outcome {
        Outcome::Untested { reason } => {
            Some(format!("{} could not be tried: {reason}", effect.factor))
        }
        _ => None,
    })
}
