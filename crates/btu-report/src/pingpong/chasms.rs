//! Sizes that are far slower than a larger one: where from, where to, why.

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.chasms.is_none() {
        return Vec::new();
    }
    let mut items = Vec::new();
    for curve in seen.analysis.timed() {
        let findings = curve.findings.iter().flatten();
        items.extend(findings.map(|finding| format!("{}: {finding}", curve.label)));
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
