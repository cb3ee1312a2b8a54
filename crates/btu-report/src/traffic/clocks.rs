//! The clocks of two hosts: how well delays of one way are known, and which are not.

use btu_core::traffic::sample::RunSample;

use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

/// Of one run; nothing where one clock measured it.
pub(super) fn compose(run: &RunSample) -> Vec<Block> {
    let clocks = run.clusters.iter().flat_map(|cluster| &cluster.clocks);
    let rows: Vec<Vec<String>> = clocks
        .map(|clock| {
            vec![
                clock.host.to_string(),
                span(Some(clock.bound_ns.seconds())),
                span(Some(clock.least_round_trip_ns.seconds())),
                format!("{} ppm", number::figure(clock.drift_ppm)),
                clock.readings.to_string(),
                clock.reason.clone().unwrap_or_default(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::left("clock of"),
        Column::right("known within"),
        Column::right("least round trip"),
        Column::right("drift"),
        Column::right("readings"),
        Column::left("not comparable"),
    ];
    let title = "Clocks of the other hosts, against that of test".to_owned();
    let mut blocks = vec![Block::Table(Table { title, columns, rows, summary_rows: 0 })];
    let hidden = run.flows().find_map(|flow| Some((flow, flow.delay_reason()?)));
    blocks.extend(hidden.map(|(flow, reason)| {
        Block::paragraph(format!("Delays of {} that are not shown are {reason}.", flow.test))
    }));
    blocks
}
