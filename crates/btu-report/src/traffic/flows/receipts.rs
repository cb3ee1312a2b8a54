//! Receipts of blocks: what came back to the sender in band, and how long it took by its clock alone.

use btu_core::traffic::figures::flow::ReceiptDelays;

use super::Named;
use super::table;
use crate::document::Block;
use crate::traffic::span;

/// Nothing where no flow has any.
pub(super) fn compose(flows: &[Named<'_>]) -> Vec<Block> {
    let row = |Named { name, flow, .. }: &Named<'_>| {
        let receipts = flow.figures.receipts?;
        let delay = |of: fn(&ReceiptDelays) -> f64| span(receipts.delay.as_ref().map(of));
        Some(vec![
            name.clone(),
            receipts.answered.to_string(),
            receipts.came.to_string(),
            receipts.missing().to_string(),
            delay(|delay| delay.min_s),
            delay(|delay| delay.p50_s),
            delay(|delay| delay.p95_s),
            delay(|delay| delay.p99_s),
            delay(|delay| delay.p999_s),
            delay(|delay| delay.max_s),
        ])
    };
    let rows: Vec<Vec<String>> = flows.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = ["answered", "came", "missing", "min", "p50", "p95", "p99", "p99.9", "max"];
    let title = "Receipts of blocks, by the clock of the sender";
    vec![table(title, &columns, rows), Block::paragraph(BOUND.to_owned())]
}

const BOUND: &str = "The receiver sent the receipt when its user had read the block, in band. So the time until it came is an upper bound of \
                     the delay of one way, with the way back in it, and on one clock.";
