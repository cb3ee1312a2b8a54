//! Transport by way to wait and placement, and how much of a gap is waiting and how much is protocol
//! (hollingsworth1998, "Conclusions").

use std::collections::BTreeSet;

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::curve::Curve;
use btu_core::pingpong::waits::Gap;
use btu_core::pingpong::waits::Pinning;
use btu_core::pingpong::waits::WAIT_SIZES;
use btu_core::pingpong::waits::WaitRow;
use btu_core::pingpong::waits::WaitTable;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let timed: Vec<&Measured> = seen.analysis.timed().collect();
    let waits = |wait: Wait| timed.iter().any(|curve| curve.configuration.wait == wait);
    if !(waits(Wait::Block) && waits(Wait::Spin)) {
        return Vec::new();
    }
    let pair = |curve: &&Measured| (curve.configuration.clone(), curve.curve.clone());
    let curves: Vec<(Configuration, Curve)> = timed.iter().map(pair).collect();
    let found = WaitTable::new(&curves, &WAIT_SIZES);
    let mut blocks = vec![Block::Table(table(&found))];
    let (gaps, pinned) = (gaps(seen, &found), pinned(seen, &found));
    let told = gaps.iter().map(Gap::to_string).chain(pinned.iter().map(Pinning::to_string));
    let items: Vec<String> = told.chain(stand_ins(&found)).collect();
    if !items.is_empty() {
        blocks.push(Block::List { items });
    }
    blocks
}

/// Sizes that were not measured, and those that stand for them.
fn stand_ins(found: &WaitTable) -> Vec<String> {
    let of_row = |row: &WaitRow| {
        let others = row.cells.iter().filter(|cell| cell.size != cell.wanted);
        let told = others
            .map(|cell| format!("{}: {} stands for {}", row.transport, cell.size, cell.wanted));
        told.collect::<Vec<String>>()
    };
    let distinct: BTreeSet<String> = found.rows().iter().flat_map(of_row).collect();
    distinct.into_iter().collect()
}

fn table(found: &WaitTable) -> Table {
    let cell = |row: &WaitRow, wanted| match row.at(wanted) {
        None => number::NONE.to_owned(),
        Some(cell) => {
            let bounds = cell.interval_us.map(|bounds| [bounds.low, bounds.high]);
            let interval = bounds.map(|_| format!(" {}", number::interval(bounds, number::figure)));
            format!("{}{}", number::figure(cell.time_us), interval.unwrap_or_default())
        }
    };
    let row = |row: &WaitRow| {
        let place = row.placement.to_string();
        let mut cells = vec![row.transport.clone(), row.wait.to_string(), place];
        cells.extend(WAIT_SIZES.map(|size| cell(row, size)));
        cells
    };
    Table {
        title:
            "T in us with its 95 % interval, by transport, way to wait and placement of the ends: \
                split, each on a CPU of its own; same, both on one"
                .to_owned(),
        columns: vec![
            Column::left("transport"),
            Column::left("wait"),
            Column::left("ends"),
            Column::right("8 B"),
            Column::right("1400 B"),
            Column::right("64 KiB"),
        ],
        rows: found.rows().iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// What the second CPU costs the base that blocks, at each size.
fn pinned(seen: &Seen<'_>, found: &WaitTable) -> Vec<Pinning> {
    let base = seen.analysis.base(seen.journal.plan.base.as_deref());
    let of = |size| found.pinning(&base?.configuration.transport, Wait::Block, size);
    WAIT_SIZES.into_iter().filter_map(of).collect()
}

/// The gaps from the base, blocking, at each size: to frames and to the fastest transport that spins.
fn gaps(seen: &Seen<'_>, found: &WaitTable) -> Vec<Gap> {
    let Some(base) = seen.analysis.base(seen.journal.plan.base.as_deref()) else {
        return Vec::new();
    };
    let from = &base.configuration.transport;
    let gaps: Vec<Gap> = WAIT_SIZES.into_iter().flat_map(|size| found.gaps(from, size)).collect();
    let alone = |size| found.gap(from, from, size);
    if gaps.is_empty() { WAIT_SIZES.into_iter().filter_map(alone).collect() } else { gaps }
}
