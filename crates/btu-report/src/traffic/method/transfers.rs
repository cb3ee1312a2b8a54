//! TCP over its window, and the path MTU that its segments fit into (RFC 6349).

use btu_core::traffic::findings::Findings;
use btu_core::traffic::findings::TransferFinding;
use btu_core::traffic::probe::PathMtuFigures;

use super::table;
use crate::document::Block;
use crate::document::Column;
use crate::document::Pair;
use crate::number;
use crate::traffic::path_mtu::how_found;
use crate::traffic::rate;
use crate::traffic::span;

/// Nothing where neither was looked for.
pub(super) fn compose(found: &Findings) -> Vec<Block> {
    let mut blocks: Vec<Block> = found.path_mtu.iter().map(path_mtu).collect();
    blocks.extend((!found.transfers.is_empty()).then(|| transfers(&found.transfers)));
    blocks.extend(beyond_ideal(&found.transfers));
    blocks
}

fn path_mtu(found: &PathMtuFigures) -> Block {
    let mtu = found.path_mtu.map(|mtu| format!("{} B", mtu.count()));
    let at_least = if found.is_exact { "" } else { "at least " };
    let told = mtu.map_or_else(|| "not available".to_owned(), |mtu| format!("{at_least}{mtu}"));
    let rows =
        vec![Pair::new("path MTU (RFC 8899)", told), Pair::new("found by", how_found(found))];
    Block::Facts { rows }
}

fn transfers(found: &[TransferFinding]) -> Block {
    let columns = vec![
        Column::left("window"),
        Column::right("goodput"),
        Column::right("ideal"),
        Column::right("time ratio"),
        Column::right("efficiency %"),
        Column::right("buffer delay %"),
        Column::right("idle round trip"),
    ];
    let row = |one: &TransferFinding| {
        vec![
            one.label.clone(),
            rate(one.goodput_bit_s),
            rate(one.ideal_bit_s),
            number::ratio(one.figures.time_ratio),
            number::figure(one.figures.efficiency_percent),
            number::figure_or_none(one.figures.buffer_delay_percent),
            span(Some(one.idle_rtt_s)),
        ]
    };
    let title = "TCP over its window (RFC 6349)".to_owned();
    table(title, columns, found.iter().map(row).collect())
}

/// The ideal rate is that of the frames that were found before: a path that carries more has changed since, or
/// they were not all that it carried.
fn beyond_ideal(found: &[TransferFinding]) -> Option<Block> {
    let most = found.iter().max_by(|a, b| a.goodput_bit_s.total_cmp(&b.goodput_bit_s))?;
    (most.goodput_bit_s > most.ideal_bit_s * NOISE).then(|| {
        Block::paragraph(format!(
            "TCP carried {}, more than the {} that the frames found before allow: that search ended below \
             what the path carries, or the path changed meanwhile. Time ratios below 1 say no more than that.",
            rate(most.goodput_bit_s),
            rate(most.ideal_bit_s),
        ))
    })
}

/// What two measurements of one rate may differ by.
const NOISE: f64 = 1.02;

#[cfg(test)]
mod tests {
    use btu_core::traffic::figures::transfer::TransferFigures;
    use btu_core::units::Bytes;

    use super::*;

    #[test]
    fn more_than_the_ideal_rate_is_said_to_be_no_feat_of_tcp() {
        let found = |goodput_bit_s: f64| TransferFinding {
            share: 1.0,
            label: "64 KiB".to_owned(),
            goodput_bit_s,
            ideal_bit_s: 1e6,
            idle_rtt_s: 0.02,
            figures: TransferFigures {
                time_ratio: 1e6 / goodput_bit_s,
                efficiency_percent: 100.0,
                buffer_delay_percent: Some(0.0),
                bdp: Bytes::new(2500),
            },
        };
        assert_eq!(beyond_ideal(&[found(0.9e6), found(1.01e6)]), None);
        let said = format!("{:?}", beyond_ideal(&[found(0.9e6), found(1.96e6)]).unwrap());
        assert!(said.contains("TCP carried 1.96 Mb/s, more than the 1.00 Mb/s"), "{said}");
    }
}
