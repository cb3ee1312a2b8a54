//! Level 4: what is abnormal, cell by cell, each with the sentence that says why.

use std::collections::BTreeMap;

use btu_core::analysis::Analysis;
use btu_core::sample::Flag;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::Table;

/// Flags of the run and of its cells.
#[derive(Debug)]
pub(super) struct Anomalies;

impl Section for Anomalies {
    fn name(&self) -> &'static str {
        "abnormal"
    }

    fn title(&self) -> &'static str {
        "What is abnormal"
    }

    fn level(&self) -> Level {
        Level::Abnormal
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let mut blocks = vec![Block::paragraph(summary(run.analysis))];
        blocks.extend(of_run(run.analysis));
        blocks.extend(by_flag(run.analysis));
        blocks.extend(of_cells(run.analysis));
        blocks
    }
}

/// Each flag, how many cells have it, and the first of them.
fn by_flag(analysis: &Analysis) -> Option<Block> {
    let mut flags: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for cell in &analysis.cells {
        for (name, details) in by_name(&cell.flags) {
            let first = || (0, format!("{}: {}", cell.cell, details.join("; ")));
            flags.entry(name).or_insert_with(first).0 += 1;
        }
    }
    let rows = flags
        .into_iter()
        .map(|(name, (cells, first))| vec![name.to_owned(), cells.to_string(), first]);
    let table = Table {
        title: "Flags of cells".to_owned(),
        columns: vec![Column::left("flag"), Column::right("cells"), Column::left("the first")],
        rows: rows.collect(),
        summary_rows: 0,
    };
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

fn summary(analysis: &Analysis) -> String {
    let flagged = analysis.cells.iter().filter(|cell| !cell.flags.is_empty()).count();
    let all = analysis.cells.len();
    match flagged {
        0 => format!("None of the {all} cells is flagged."),
        1 => format!("1 of the {all} cells is flagged. A flagged cell stays in the score."),
        n => format!("{n} of the {all} cells are flagged. A flagged cell stays in the score."),
    }
}

fn of_run(analysis: &Analysis) -> Option<Block> {
    let items: Vec<_> =
        analysis.warnings.iter().map(|flag| format!("{}: {}", flag.name, flag.detail)).collect();
    (!items.is_empty()).then_some(Block::List { items })
}

fn of_cells(analysis: &Analysis) -> Option<Block> {
    let rows = analysis.cells.iter().flat_map(|cell| {
        by_name(&cell.flags)
            .into_iter()
            .map(move |(name, details)| vec![cell.cell.id(), name.to_owned(), details.join("; ")])
    });
    let table = Table {
        title: String::new(),
        columns: vec![Column::left("cell"), Column::left("flag"), Column::left("what was seen")],
        rows: rows.collect(),
        summary_rows: 0,
    };
    let is_flagged = !table.rows.is_empty();
    is_flagged.then(|| Block::details("Every flagged cell", vec![Block::Table(table)]))
}

/// The sentences of each flag, each once.
fn by_name(flags: &[Flag]) -> BTreeMap<&str, Vec<&str>> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for flag in flags {
        let details = names.entry(&flag.name).or_default();
        if !details.contains(&flag.detail.as_str()) {
            details.push(&flag.detail);
        }
    }
    names
}
