//! Transport by way to wait, and how much of a gap is waiting and how much is protocol
//! (hollingsworth1998, "Conclusions").

use std::collections::BTreeSet;

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::curve::Curve;
use btu_core::pingpong::waits::Gap;
use btu_core::pingpong::waits::WAIT_SIZES;
use btu_core::pingpong::waits::WaitCell;
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
    let mut blocks = vec![Block::Table(table(&timed, &found))];
    let gaps = gaps(seen, &found);
    let items: Vec<String> = gaps.iter().map(Gap::to_string).chain(stand_ins(&found)).collect();
    if !items.is_empty() {
        blocks.push(Block::List { items });
    }
    blocks
}

/// Sizes that were not measured, and those that stand for them.
fn stand_ins(found: &WaitTable) -> Vec<String> {
    let other = |cell: &&WaitCell| cell.size != cell.wanted;
    let told = found
        .cells()
        .iter()
        .filter(other)
        .map(|cell| format!("{}: {} stands for {}", cell.transport, cell.size, cell.wanted));
    let distinct: BTreeSet<String> = told.collect();
    distinct.into_iter().collect()
}

fn table(timed: &[&Measured], found: &WaitTable) -> Table {
    let row = |curve: &&Measured| {
        let configuration = &curve.configuration;
        let cell = |wanted| {
            let cell = found.at(&configuration.transport, configuration.wait, wanted)?;
            let time = number::figure(cell.time_us);
            let bounds = cell.interval_us.map(|bounds| [bounds.low, bounds.high]);
            Some(match bounds {
                None => time,
                Some(_) => format!("{time} {}", number::interval(bounds, number::figure)),
            })
        };
        let mut row = vec![configuration.transport.clone(), configuration.wait.to_string()];
        row.extend(WAIT_SIZES.map(|size| cell(size).unwrap_or_else(|| number::NONE.to_owned())));
        row
    };
    Table {
        title: "T in us with its 95 % interval, by transport and way to wait".to_owned(),
        columns: vec![
            Column::left("transport"),
            Column::left("wait"),
            Column::right("8 B"),
            Column::right("1400 B"),
            Column::right("64 KiB"),
        ],
        rows: timed.iter().map(row).collect(),
        summary_rows: 0,
    }
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
