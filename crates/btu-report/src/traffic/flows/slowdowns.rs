//! How messages were slowed, by their size.

use btu_core::traffic::sample::RunSample;

use super::MOST_ROWS;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

/// A row for each power of ten of the sizes of each test; nothing where all messages of a test are of one size.
pub(super) fn compose(run: &RunSample) -> Vec<Block> {
    let several = run.clusters.len() > 1;
    let rows = run.clusters.iter().flat_map(|cluster| {
        let name = if several { format!("{}/", cluster.name) } else { String::new() };
        cluster.slowdowns.iter().flat_map(move |of| {
            let test = format!("{name}{}", of.test);
            of.sizes.iter().map(move |one| {
                vec![
                    test.clone(),
                    format!("{} -> {}", of.from, of.to),
                    one.up_to_bytes.count().to_string(),
                    one.messages.to_string(),
                    number::ratio(one.p50),
                    number::ratio_or_none(one.p99),
                ]
            })
        })
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let left = ["test", "path"].map(Column::left);
    let right = ["up to, B", "messages", "p50", "p99"].map(Column::right);
    let columns = left.into_iter().chain(right).collect();
    let table = Table { title: TITLE.to_owned(), columns, rows, summary_rows: 0 };
    let more = (left_out > 0)
        .then(|| Block::paragraph(format!("{left_out} more rows stand in result.json.")));
    let shown = (!table.rows.is_empty()).then_some(Block::Table(table));
    shown.into_iter().chain(more).collect()
}

const TITLE: &str = "Slowdown by size: delay over the least of any message as large or larger";
