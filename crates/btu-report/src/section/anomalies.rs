//! Level 4: what is abnormal, cell by cell, each with the sentence that says why.

use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::CellSummary;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Column;
use crate::document::Level;
use crate::document::Table;
use crate::flags::Flags;
use crate::flags::by_name;

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
        let flags = Flags::of(&run.analysis.cells);
        let mut blocks = vec![Block::paragraph(summary(run.analysis))];
        blocks.extend(of_run(run.analysis));
        blocks.extend(table("Flags", by_flag(&flags)));
        let cells = table("", of_cells(run.analysis, &flags));
        blocks.extend(cells.map(|table| Block::details("Cell by cell", vec![table])));
        blocks
    }
}

fn summary(analysis: &Analysis) -> String {
    let flagged = analysis.cells.iter().filter(|cell| !cell.flags.is_empty()).count();
    let all = analysis.cells.len();
    let verb = if flagged == 1 { "is" } else { "are" };
    match flagged {
        0 => format!("None of the {all} cells is flagged."),
        _ => format!(
            "{flagged} of the {all} cells {verb} flagged. Flagged cells stay in the score. A flag of \
             many cells tells about the run, and stands here once; a flag of a few cells tells \
             about those cells, and is listed for each. result.json holds every sentence."
        ),
    }
}

/// Why the result is not rankable, in full, and what else concerns the run as a whole.
fn of_run(analysis: &Analysis) -> Option<Block> {
    let reasons = analysis.not_rankable_reasons.iter().map(|why| format!("not rankable: {why}"));
    let warnings = analysis.warnings.iter().map(|flag| format!("{}: {}", flag.name, flag.detail));
    let items: Vec<_> = reasons.chain(warnings).collect();
    (!items.is_empty()).then_some(Block::List { items })
}

/// Each flag, how many cells have it, and the first of them.
fn by_flag(flags: &Flags<'_>) -> Vec<[String; 3]> {
    let rows = flags.cells.iter().filter_map(|(name, cells)| {
        let first = cells.first()?;
        let seen = format!("{}: {}", first.cell, sentences(first, name));
        Some([(*name).to_owned(), cells.len().to_string(), seen])
    });
    rows.collect()
}

/// Each cell with each of the flags that few cells have.
fn of_cells(analysis: &Analysis, flags: &Flags<'_>) -> Vec<[String; 3]> {
    let rows = analysis.cells.iter().flat_map(|cell| {
        let names = by_name(&cell.flags).into_keys().filter(|name| flags.is_of_few(name));
        names.map(|name| [name.to_owned(), cell.cell.id(), sentences(cell, name)])
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| a[0].cmp(&b[0]));
    rows
}

fn sentences(cell: &CellSummary, flag: &str) -> String {
    by_name(&cell.flags).get(flag).map_or_else(String::new, |details| details.join("; "))
}

fn table(title: &str, rows: Vec<[String; 3]>) -> Option<Block> {
    let second = if title.is_empty() { Column::left("cell") } else { Column::right("cells") };
    let third = if title.is_empty() { "what was seen" } else { "the first of them" };
    let table = Table {
        title: title.to_owned(),
        columns: vec![Column::left("flag"), second, Column::left(third)],
        rows: rows.into_iter().map(Vec::from).collect(),
        summary_rows: 0,
    };
    (!table.rows.is_empty()).then_some(Block::Table(table))
}
