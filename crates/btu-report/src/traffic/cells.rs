//! Every cell over its passes, curve by curve.

use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::Measured;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;

use super::Seen;
use super::rate;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.study == Study::Scenario && seen.analysis.cells.len() < 2 {
        return Vec::new();
    }
    let mut groups: Vec<Group> = seen.analysis.cells.iter().map(|cell| cell.cell.group).collect();
    groups.dedup();
    // A probe has no flows: its section says what it found.
    groups.retain(|group| !matches!(group, Group::PathMtu | Group::Search | Group::Working));
    let tables = |group| [Some(table(seen, group)), carried(seen, group)];
    groups.into_iter().flat_map(tables).flatten().collect()
}

fn table(seen: &Seen<'_>, group: Group) -> Block {
    let mut columns = vec![
        Column::left(group.axis()),
        Column::right("a"),
        Column::right("d"),
        Column::right("a/d"),
        Column::right("rho"),
        Column::right("W window"),
        Column::right("W drained"),
        Column::right("passes"),
    ];
    columns.extend(is_named_by_number(seen).then(|| Column::right("cell")));
    let rows = seen.analysis.group(group).map(|cell| row(seen, cell)).collect();
    Block::Table(Table { title: title(group).to_owned(), columns, rows, summary_rows: 0 })
}

fn row(seen: &Seen<'_>, measured: &Measured) -> Vec<String> {
    let mut cells = vec![
        measured.cell.label.clone(),
        of_rate(measured.arrival),
        of_rate(measured.departure),
        number::ratio_or_none(measured.offered_ratio.map(|found| found.value)),
        number::ratio_or_none(measured.rho),
        span(measured.window_delay.map(|found| found.value)),
        span(measured.drained_delay.map(|found| found.value)),
        measured.arrival.map_or(measured.runs.len(), |found| found.passes).to_string(),
    ];
    cells.extend(is_named_by_number(seen).then(|| measured.cell.id.to_string()));
    cells
}

/// The lines of a sheet say which cells they come from.
fn is_named_by_number(seen: &Seen<'_>) -> bool {
    seen.journal.plan.study == Study::Qos
}

fn of_rate(found: Option<Estimate>) -> String {
    found.map_or_else(|| number::NONE.to_owned(), |found| rate(found.value))
}

/// What knee and mu are found from, where that is not d: a long path has a part of every load under way at the end.
fn carried(seen: &Seen<'_>, group: Group) -> Option<Block> {
    if !matches!(group, Group::Capacity | Group::Load | Group::Period) {
        return None;
    }
    let cells: Vec<&Measured> = seen.analysis.group(group).collect();
    let differs = |cell: &&Measured| of_rate(cell.carried()) != of_rate(cell.departure);
    let columns = vec![Column::left(group.axis()), Column::right("a"), Column::right("carried")];
    let row = |cell: &&Measured| {
        vec![cell.cell.label.clone(), of_rate(cell.arrival), of_rate(cell.carried())]
    };
    let title = "The same with what was only under way at the end: knee and mu are found from this";
    cells.iter().any(differs).then(|| {
        let rows = cells.iter().map(row).collect();
        Block::Table(Table { title: title.to_owned(), columns, rows, summary_rows: 0 })
    })
}

/// What the cells of a group are.
pub(super) const fn title(group: Group) -> &'static str {
    match group {
        Group::BackToBack => "Bursts of frames back to back",
        Group::BlockSize => "Full streams of blocks of rising size",
        Group::Capacity => "One full stream: mu",
        Group::Ceiling => "Frames as fast as they go",
        Group::Class => "Sessions of the application class",
        Group::Datagrams => "Datagrams beyond the rate of the path",
        Group::FrameLoss => "Frames at falling loads",
        Group::Idle => "Small blocks on the idle path",
        Group::Latency => "Frames at the throughput",
        Group::Load => "Loads between nothing and more than the path carries",
        Group::PathMtu => "Path MTU",
        Group::Period => "Queued bursts of rising period",
        Group::Scenario => "Scenarios",
        Group::Search => "Capacity search",
        Group::Sessions => "Full streams at once",
        Group::SlowLine => "A full stream over the second line",
        Group::Throughput => "Trials between loads that came whole and loads that did not",
        Group::Time => "Bursts of random size and period, for rising times",
        Group::Transfer => "Full streams by their window",
        Group::Unqueued => "Unqueued bursts of rising period",
        Group::Working => "Round trips under load",
    }
}
