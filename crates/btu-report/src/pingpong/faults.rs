//! Points that ended before their time, each with its reason.

use btu_core::pingpong::analysis::Fault;
use btu_core::pingpong::analysis::Measured;
use btu_core::units::Bytes;

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let curves = seen.analysis.curves.iter().chain(&seen.analysis.reference);
    let items: Vec<String> = curves.flat_map(told).collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![
        Block::paragraph("Visits that broke off; all other points are kept"),
        Block::List { items },
    ]
}

/// A line for each cause, with the sizes that it has.
fn told(curve: &Measured) -> Vec<String> {
    let mut groups: Vec<(&Fault, Vec<u64>)> = Vec::new();
    for fault in &curve.faults {
        let same = |(known, _): &&mut (&Fault, Vec<u64>)| {
            (known.kind, known.is_lasting, &known.detail)
                == (fault.kind, fault.is_lasting, &fault.detail)
        };
        match groups.iter_mut().find(same) {
            Some((_, sizes)) => sizes.push(fault.size.count()),
            None => groups.push((fault, vec![fault.size.count()])),
        }
    }
    groups.into_iter().map(|(fault, sizes)| line(curve, fault, &sizes)).collect()
}

fn line(curve: &Measured, fault: &Fault, sizes: &[u64]) -> String {
    let is_timed = |size: &u64| curve.curve.at(Bytes::new(*size)).is_some();
    let end = match (fault.is_lasting, sizes.iter().all(is_timed)) {
        (true, false) => "no time of these points",
        (true, true) => "the time is that of other visits, and the contents are in doubt",
        (false, _) => "the time is that of other visits",
    };
    let shown: Vec<String> = sizes.iter().take(MOST_SHOWN).map(u64::to_string).collect();
    let more = sizes.len().saturating_sub(MOST_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} at {} bytes{more}: {} ({end})", curve.label, shown.join(", "), fault.detail)
}

const MOST_SHOWN: usize = 8;
