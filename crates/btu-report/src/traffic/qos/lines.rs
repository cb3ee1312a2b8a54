//! The lines of a sheet as tables: each figure with its interval and the cells that it comes from, and below each table
//! which of them are not available, and why.

use btu_core::traffic::analysis::Of;
use btu_core::traffic::analysis::SheetLine;

use super::super::Seen;
use super::super::rate;
use super::super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn of_the_path(seen: &Seen<'_>) -> Vec<Block> {
    let own = lines_of(seen, |of| *of == Of::Path);
    let rows: Vec<Vec<String>> = own.iter().map(|line| row(line)).collect();
    let title = "What the path carries".to_owned();
    let table = Table { title, columns: columns(&["figure"]), rows, summary_rows: 0 };
    with_absences(Block::Table(table), &own)
}

pub(super) fn of_classes(seen: &Seen<'_>) -> Vec<Block> {
    let own = lines_of(seen, |of| matches!(of, Of::Class(_)));
    let with_class = |line: &&SheetLine| [vec![line_of(line)], row(line)].concat();
    let rows: Vec<Vec<String>> = own.iter().map(with_class).collect();
    let title = "The same over the passes: worst flow of each, mean and interval".to_owned();
    let columns = columns(&["class", "figure"]);
    with_absences(Block::Table(Table { title, columns, rows, summary_rows: 0 }), &own)
}

fn lines_of<'a>(seen: &Seen<'a>, is_own: fn(&Of) -> bool) -> Vec<&'a SheetLine> {
    seen.analysis.sheet.iter().filter(|line| is_own(&line.of)).collect()
}

/// A table of lines, and below it the figures without a value, those together that have one reason; nothing without
/// lines.
fn with_absences(table: Block, lines: &[&SheetLine]) -> Vec<Block> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut reasons: Vec<(&Of, &str, Vec<&str>)> = Vec::new();
    for line in lines {
        let Some(why) = line.missing.as_deref() else { continue };
        let name = known(line.figure).name;
        match reasons.iter_mut().find(|(of, reason, _)| (*of, *reason) == (&line.of, why)) {
            Some((.., figures)) => figures.push(name),
            None => reasons.push((&line.of, why, vec![name])),
        }
    }
    let told = reasons.into_iter().map(|(of, why, figures)| {
        let whose = match of {
            Of::Path => String::new(),
            Of::Class(name) => format!(" of {name}"),
            Of::Load(label) => format!(" at {label}"),
        };
        Block::paragraph(format!("Not available{whose}: {}: {why}.", figures.join("; ")))
    });
    std::iter::once(table).chain(told).collect()
}

fn line_of(line: &SheetLine) -> String {
    line.of.name().to_owned()
}

fn columns(first: &[&str]) -> Vec<Column> {
    let first = first.iter().map(|title| Column::left(*title));
    let rest = ["value", "95 % interval", "passes"].map(Column::right);
    first.chain(rest).chain([Column::left("cells")]).collect()
}

fn row(line: &SheetLine) -> Vec<String> {
    let known = known(line.figure);
    vec![
        known.name.to_owned(),
        value(line, known.form),
        interval(line, known.form),
        line.passes.to_string(),
        cells(&line.cells),
    ]
}

fn value(line: &SheetLine, form: fn(f64) -> String) -> String {
    let at_least = if line.at_least { "at least " } else { "" };
    line.value.map_or_else(|| number::NONE.to_owned(), |value| format!("{at_least}{}", form(value)))
}

fn interval(line: &SheetLine, form: fn(f64) -> String) -> String {
    let told = |bounds: btu_core::stats::Interval| {
        format!("{} to {}", form(bounds.low), form(bounds.high))
    };
    line.interval.map_or_else(|| number::NONE.to_owned(), told)
}

/// `1, 3 to 8`
fn cells(of: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cell in of {
        match ranges.last_mut().filter(|(_, last)| last.checked_add(1) == Some(*cell)) {
            Some((_, last)) => *last = *cell,
            None => ranges.push((*cell, *cell)),
        }
    }
    let told = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    ranges.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// Delays at shares of the knee, each measured there: a column for each load.
pub(super) fn around_the_knee(seen: &Seen<'_>) -> Vec<Block> {
    let sheet = lines_of(seen, |of| matches!(of, Of::Load(_)));
    let (mut loads, mut figures): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in &sheet {
        if !loads.contains(&line.of.name()) {
            loads.push(line.of.name());
        }
        if !figures.contains(&line.figure) {
            figures.push(line.figure);
        }
    }
    let at = |load: &str, figure: &str| {
        sheet.iter().find(|line| line.of.name() == load && line.figure == figure).copied()
    };
    let field = |line: Option<&SheetLine>| {
        let Some(line) = line else { return number::NONE.to_owned() };
        let form = known(line.figure).form;
        match line.interval {
            Some(_) => format!("{} ({})", value(line, form), interval(line, form)),
            None => value(line, form),
        }
    };
    let of_figure = |figure: &&str| {
        let name = std::iter::once(known(figure).name.to_owned());
        name.chain(loads.iter().map(|load| field(at(load, figure)))).collect::<Vec<String>>()
    };
    let mut rows: Vec<Vec<String>> = figures.iter().map(of_figure).collect();
    let any = |load: &str| sheet.iter().find(|line| line.of.name() == load);
    for (name, of) in [
        ("passes", (|line| line.passes.to_string()) as fn(&SheetLine) -> String),
        ("cell", |line| cells(&line.cells)),
    ] {
        let told = loads.iter().map(|load| any(load).map_or_else(String::new, |line| of(line)));
        rows.push(std::iter::once(name.to_owned()).chain(told).collect());
    }
    let first = std::iter::once(Column::left("figure"));
    let columns = first.chain(loads.iter().map(|load| Column::right(*load))).collect();
    let title = if seen.analysis.knee.is_some() { AROUND } else { WITHOUT_A_KNEE }.to_owned();
    with_absences(Block::Table(Table { title, columns, rows, summary_rows: 0 }), &sheet)
}

const AROUND: &str = "Delay of blocks around the knee, with 95 % intervals";
/// A result may be older than the labels that say so.
const WITHOUT_A_KNEE: &str =
    "Delay of blocks at shares of mu, since no knee was found, with 95 % intervals";

/// A figure in words.
struct Known {
    key: &'static str,
    name: &'static str,
    form: fn(f64) -> String,
}

/// What a figure is called.
fn known(key: &str) -> &'static Known {
    KNOWN.iter().find(|known| known.key == key).unwrap_or(&OTHER)
}

const fn line(key: &'static str, name: &'static str, form: fn(f64) -> String) -> Known {
    Known { key, name, form }
}

fn time(seconds: f64) -> String {
    span(Some(seconds))
}

fn share(value: f64) -> String {
    number::measured(value * 100.0, "%")
}

fn percent(value: f64) -> String {
    number::measured(value, "%")
}

fn whole(value: f64) -> String {
    number::fixed(value, 0)
}

/// A figure that nobody has named.
static OTHER: Known = line("", "another figure", number::figure);

static KNOWN: [Known; 25] = [
    line("mu_bit_s", "mu, one full stream", rate),
    line("knee_bit_s", "knee of throughput", rate),
    line("capacity_bit_s", "capacity for datagrams (RFC 9097)", rate),
    line("idle_delay_s", "W0, idle path", time),
    line("doubled_at_rho", "delay has doubled at rho", number::ratio),
    line("least_round_trip_s", "smallest round trip", time),
    line("stream_rpm", "round trips per minute under one full stream, by TCP's RTT", whole),
    line("efficiency_percent", "TCP efficiency (RFC 6349)", percent),
    line("buffer_delay_percent", "buffer delay (RFC 6349)", percent),
    line("rpm", "round trips per minute under load (RPM)", whole),
    line("idle_rpm", "round trips per minute on the idle path", whole),
    line("arrival_rate_bit_s", "a", rate),
    line("window_delay_s", "W window", time),
    line("delay_p50_s", "p50", time),
    line("delay_p95_s", "p95", time),
    line("delay_p99_s", "p99", time),
    line("delay_p99_at_least_s", "p99, what waits counted", time),
    line("delay_p999_s", "p99.9", time),
    line("pdv_p99_s", "PDV", time),
    line("sessions", "sessions", whole),
    line("lost_share", "lost", share),
    line("reordered_share", "reordered", share),
    line("call_r", "R of the E-model", whole),
    line("overload_of_1_5_mu_s", "overload of 1.5 mu borne", time),
    line("overload_of_2_mu_s", "overload of 2 mu borne", time),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_a_row_are_a_range() {
        assert_eq!(cells(&[1, 3, 4, 5, 6, 9, 10]), "1, 3 to 6, 9, 10");
        assert_eq!(cells(&[]), "");
    }
}
