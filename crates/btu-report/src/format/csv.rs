//! One row per run, every attempt included, for spreadsheets and statistics programs.

use btu_core::journal::AloneSample;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::ScoredRun;
use btu_core::run::anomaly::disturbance;
use btu_core::sample::ActivitySample;
use btu_core::sample::CellSample;
use btu_core::sample::CommSample;
use btu_core::sample::Flag;

use super::Content;
use super::Format;
use super::Report;
use crate::app;
use crate::comparison;
use crate::document::Lines;
use crate::document::harmless;
use crate::file;
use crate::mesh;
use crate::pingpong::csv_rows;
use crate::ranking;
use crate::traffic;

/// For spreadsheets.
#[derive(Debug)]
pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn summary(&self) -> &'static str {
        "one row per run, every attempt included"
    }

    fn render(&self, report: &Report<'_>) -> Vec<u8> {
        let text = match report.content {
            Content::App { journal, analysis } => table(app::csv_rows(journal, analysis)),
            Content::Comparison(found) => table(comparison::csv_rows(found)),
            Content::File { journal, .. } => table(file::csv_rows(journal)),
            Content::History(found) => table(found.csv_rows()),
            Content::Mesh { journal, .. } => table(mesh::csv_rows(journal)),
            Content::Paired(found) => table(found.csv_rows()),
            Content::PingPong { journal, analysis } => table(csv_rows(journal, analysis)),
            Content::Ranking(found) => table(ranking::csv_rows(found)),
            Content::Run { journal, analysis } => runs(journal, analysis),
            Content::Traffic { journal, analysis } => table(traffic::csv_rows(journal, analysis)),
        };
        text.into_bytes()
    }
}

/// Rows whose fields may come from other machines.
fn table(rows: Vec<Vec<String>>) -> String {
    // A number is no formula, and its sign is part of it.
    let safe = |field: &String| {
        if field.parse::<f64>().is_ok() { field.clone() } else { text(field) }
    };
    let safe = |row: Vec<String>| row.iter().map(safe).collect::<Vec<_>>();
    rows.into_iter().map(|row| line(&safe(row))).collect()
}

fn runs(journal: &Journal, analysis: &Analysis) -> String {
    let rows = journal.records.iter().filter_map(|record| match record {
        Record::Alone(sample) => Some(alone_row(sample, journal)),
        Record::Cell(sample) => Some(cell_row(sample, analysis)),
        Record::Capture(_) | Record::Verification(_) => None,
    });
    let header = COLUMNS.map(ToOwned::to_owned);
    std::iter::once(header).chain(rows).map(|row| line(&row)).collect()
}

const COLUMNS: [&str; 22] = [
    "kind",
    "case",
    "application",
    "message_bytes",
    "activity",
    "repeat",
    "position",
    "attempt",
    "started_at",
    "outcome",
    "invalid",
    "bits",
    "seconds",
    "goodput_mbps",
    "slowdown",
    "activity_units",
    "activity_seconds",
    "activity_rate_per_s",
    "retransmissions",
    "flags",
    "counts",
    "disturbed",
];

fn cell_row(sample: &CellSample, analysis: &Analysis) -> [String; COLUMNS.len()] {
    let comm = sample.comm.as_ref();
    let [units, window, rate] = activity_fields(sample.activity_sample.as_ref());
    let counted = counted(sample, analysis);
    [
        "cell".to_owned(),
        sample.cell.case.name().to_owned(),
        text(&sample.cell.application.name),
        sample.cell.application.message_bytes.count().to_string(),
        text(sample.cell.activity.as_str()),
        sample.pass.to_string(),
        sample.position.to_string(),
        sample.attempt.to_string(),
        text(&sample.started_at),
        text(&sample.outcome.to_string()),
        text(&sample.invalid.join("; ")),
        or_empty(comm.map(|comm| comm.bytes.bits())),
        or_empty(comm.map(|comm| comm.elapsed_ns.seconds())),
        or_empty(comm.and_then(goodput_mbps)),
        or_empty(counted.and_then(|run| run.slowdown)),
        units,
        window,
        rate,
        or_empty(retransmissions(sample)),
        // The rules judge the run that counts; of another attempt there is what was seen at once.
        text(&flags(counted.map_or(&sample.flags, |run| &run.flags))),
        counted.is_some().to_string(),
        text(&disturbance(&sample.host).unwrap_or_default()),
    ]
}

fn alone_row(sample: &AloneSample, journal: &Journal) -> [String; COLUMNS.len()] {
    let [units, window, rate] = activity_fields(Some(&sample.sample));
    let mut row: [String; COLUMNS.len()] = std::array::from_fn(|_| String::new());
    "alone".clone_into(&mut row[0]);
    row[4] = text(sample.activity.as_str());
    row[5] = sample.pass.to_string();
    row[6] = sample.position.to_string();
    row[7] = sample.attempt.to_string();
    row[8] = text(&sample.started_at);
    row[10] = text(&sample.invalid.join("; "));
    if !sample.sample.failures.is_empty() {
        row[9] = text(&format!("failed: {}", sample.sample.failures.join("; ")));
    }
    [row[15], row[16], row[17]] = [units, window, rate];
    row[19] = text(&flags(&sample.flags));
    row[20] = counts(sample, journal).to_string();
    row[21] = text(&sample.host.as_ref().and_then(disturbance).unwrap_or_default());
    row
}

/// True for the attempt of an activity alone that is the base of its pass.
fn counts(sample: &AloneSample, journal: &Journal) -> bool {
    let is_of_it = |one: &&AloneSample| one.activity == sample.activity && one.pass == sample.pass;
    let alone = journal.records.iter().filter_map(|record| match record {
        Record::Alone(one) => Some(one),
        _ => None,
    });
    let attempts: Vec<&AloneSample> = alone.filter(is_of_it).collect();
    AloneSample::that_counts(&attempts).is_some_and(|one| std::ptr::eq(one, sample))
}

fn activity_fields(sample: Option<&ActivitySample>) -> [String; 3] {
    let of = |figure: fn(&ActivitySample) -> Option<f64>| or_empty(sample.and_then(figure));
    [of(|s| Some(s.units)), of(|s| Some(s.elapsed_ns.seconds())), of(ActivitySample::rate_per_s)]
}

/// The run of the analysis that this attempt became, where it is the one that counts.
fn counted<'a>(sample: &CellSample, analysis: &'a Analysis) -> Option<&'a ScoredRun> {
    analysis.runs.iter().find(|run| {
        run.pass == sample.pass && run.attempt == sample.attempt && run.cell == sample.cell
    })
}

#[expect(clippy::cast_precision_loss, reason = "bits of a run are far below 2^53")]
fn goodput_mbps(comm: &CommSample) -> Option<f64> {
    let seconds = comm.elapsed_ns.seconds();
    (seconds > 0.0).then(|| comm.bytes.bits() as f64 / 1e6 / seconds)
}

fn retransmissions(sample: &CellSample) -> Option<u64> {
    let connections = &sample.comm.as_ref()?.connections;
    connections.iter().map(|c| c.sender.tcp_info.as_ref()?.total_retrans).sum()
}

fn flags(flags: &[Flag]) -> String {
    flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>().join(" ")
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A text that no spreadsheet takes for a formula, and no terminal for a command.
fn text(foreign: &str) -> String {
    let harmless = harmless(foreign, Lines::Joined);
    let formula = harmless.trim_start().starts_with(['=', '+', '-', '@', '|', '%']);
    if formula { format!("'{harmless}") } else { harmless }
}

/// A row, quoted where it must be (RFC 4180), ended by a newline.
fn line(row: &[String]) -> String {
    let fields: Vec<String> = row.iter().map(|field| quoted(field)).collect();
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', ';']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused() {
        assert_eq!(text("=cmd()"), "'=cmd()");
        assert_eq!(text(" @x"), "' @x");
        assert_eq!(text("\t=x"), "' =x");
        assert_eq!(text("SEND+DL"), "SEND+DL");
    }

    #[test]
    fn a_field_with_a_comma_or_a_quote_is_quoted() {
        let row = ["a,b".to_owned(), "say \"x\"".to_owned()];
        assert_eq!(line(&row), "\"a,b\",\"say \"\"x\"\"\"\n");
    }
}
