//! A pass in which every byte was checked: how much, and that nothing was timed.

use btu_core::pingpong::analysis::Measured;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let checked = seen.analysis.curves.iter().filter(|curve| curve.configuration.verify);
    let rows: Vec<Vec<String>> = checked.map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::left("curve"),
        Column::right("sizes"),
        Column::right("exchanges"),
        Column::right("sizes with faults"),
        Column::left("first fault"),
    ];
    let title = "Every byte of every block, there and back; no timing is reported".to_owned();
    vec![Block::Table(Table { title, columns, rows, summary_rows: 0 })]
}

fn row(curve: &Measured) -> Vec<String> {
    let exchanges: u64 = curve.verified.iter().map(|(_, exchanges)| exchanges).sum();
    let first = curve.faults.first().map_or_else(
        || "none".to_owned(),
        |fault| format!("{} bytes: {}", fault.size.count(), fault.detail),
    );
    vec![
        curve.label.clone(),
        curve.verified.len().to_string(),
        exchanges.to_string(),
        curve.faults.len().to_string(),
        first,
    ]
}
