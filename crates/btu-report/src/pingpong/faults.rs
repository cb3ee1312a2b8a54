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
    let timed = sizes.iter().filter(|size| is_timed(size)).count();
    let end = end(fault.is_lasting, sizes.len() - timed, timed);
    let shown: Vec<String> = sizes.iter().take(MOST_SHOWN).map(u64::to_string).collect();
    let more = sizes.len().saturating_sub(MOST_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} at {} bytes{more}: {} ({end})", curve.label, shown.join(", "), fault.detail)
}

/// What became of the points of a fault: so many have no time, so many have that of other visits.
fn end(is_lasting: bool, untimed: usize, timed: usize) -> String {
    let kept = "the time is that of other visits";
    match (is_lasting, untimed, timed) {
        (false, ..) => kept.to_owned(),
        (true, 0, _) => format!("{kept}, and the contents are in doubt"),
        (true, _, 0) => "no time of these points".to_owned(),
        (true, ..) => format!(
            "no time of {untimed} of these points; of the others {kept}, and the contents are in doubt"
        ),
    }
}

const MOST_SHOWN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_with_and_without_a_time_are_told_apart() {
        let kept = "the time is that of other visits";
        assert_eq!(end(false, 0, 3), kept);
        assert_eq!(end(true, 0, 3), format!("{kept}, and the contents are in doubt"));
        assert_eq!(end(true, 3, 0), "no time of these points");
        assert_eq!(
            end(true, 1, 2),
            format!(
                "no time of 1 of these points; of the others {kept}, and the contents are in doubt"
            )
        );
    }
}
