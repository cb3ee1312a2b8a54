//! Curves that were measured elsewhere: where they come from, and how they differ.

use btu_core::pingpong::analysis::Overlaid;

use super::Seen;
use super::costs::verdicts;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.analysis.overlaid.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(table(&seen.analysis.overlaid))];
    let warnings = |other: &Overlaid| -> Vec<String> {
        other.warnings.iter().map(|text| format!("{} differs: {text}", other.label)).collect()
    };
    let items: Vec<String> = seen.analysis.overlaid.iter().flat_map(warnings).collect();
    if !items.is_empty() {
        blocks.push(Block::List { items });
    }
    blocks.extend(verdicts(&seen.analysis.imported(seen.journal.plan.base.as_deref())));
    blocks
}

fn table(overlaid: &[Overlaid]) -> Table {
    let row = |other: &Overlaid| {
        let figures = other.curve.as_ref().map(btu_core::pingpong::curve::Curve::figures);
        let latency = figures.as_ref().and_then(|figures| figures.latency_us);
        let rates = other.throughput.iter().map(|(_, rate)| *rate);
        let peak = rates.max_by(f64::total_cmp);
        let points = other.throughput.len().to_string();
        let half = figures.and_then(|figures| figures.half_size_bytes);
        let numbers = [latency, peak, half].map(number::figure_or_none);
        let mut row = vec![other.label.clone(), other.provenance.clone(), points];
        row.extend(numbers);
        row
    };
    Table {
        title: "Curves from other tools and results".to_owned(),
        columns: vec![
            Column::left("curve"),
            Column::left("from"),
            Column::right("points"),
            Column::right("T(1 B) us"),
            Column::right("peak Mb/s"),
            Column::right("n1/2 B"),
        ],
        rows: overlaid.iter().map(row).collect(),
        summary_rows: 0,
    }
}
