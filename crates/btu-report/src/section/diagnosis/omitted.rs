//! The cells that nobody looked at again, each with the reason and what runs it.

use btu_core::run::analysis::Omitted;

use crate::document::Block;
use crate::document::Column;
use crate::document::Table;

/// How many there are and why; then each by name, with its rules and its command.
pub(in crate::section) fn blocks(all: &[Omitted]) -> Vec<Block> {
    let (abnormal, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| !one.why.is_empty());
    let mut blocks = Vec::new();
    for (cells, kind) in [(abnormal, "abnormal"), (others, "normal")] {
        if cells.is_empty() {
            continue;
        }
        blocks.push(Block::paragraph(counted(&cells, kind)));
        let text = commands(&cells);
        blocks.push(Block::details(
            format!("The {kind} cells that were not run again, and how to run them"),
            vec![Block::Table(table(&cells)), Block::Code { text }],
        ));
    }
    blocks
}

/// `3 abnormal cells were not run again with capture: the plan captures none.`
fn counted(cells: &[&Omitted], kind: &str) -> String {
    let mut reasons: Vec<String> = cells.iter().map(|one| one.reason.words()).collect();
    reasons.dedup();
    let (noun, verb) = if cells.len() == 1 { ("cell", "was") } else { ("cells", "were") };
    let names: Vec<String> = cells.iter().take(MOST_NAMES).map(|one| one.cell.id()).collect();
    let more = if cells.len() > MOST_NAMES { ", and others below" } else { "" };
    format!(
        "{} {kind} {noun} {verb} not run again with capture: {}. {}{more}.",
        cells.len(),
        reasons.join("; "),
        names.join(", ")
    )
}

fn table(cells: &[&Omitted]) -> Table {
    let row = |one: &&Omitted| {
        let mut rules: Vec<&str> = one.why.iter().map(|flag| flag.name.as_str()).collect();
        rules.dedup();
        let rules = if rules.is_empty() { "asked for".to_owned() } else { rules.join(", ") };
        vec![one.cell.id(), rules, one.reason.words()]
    };
    Table {
        title: "Not run again".to_owned(),
        columns: vec![Column::left("cell"), Column::left("rules"), Column::left("why not")],
        rows: cells.iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// One line for each.
fn commands(cells: &[&Omitted]) -> String {
    cells.iter().map(|one| one.command()).collect::<Vec<_>>().join("\n")
}

/// More of them are a table.
const MOST_NAMES: usize = 8;
