//! What each program passes: the table of the seed (hollingsworth1998, "Message Traffic for NAS Applications").

use btu_core::app::analysis::JobFigures;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Sameness;
use btu_core::app::analysis::Traffic;
use btu_core::app::oracle::Agreement;

use super::Seen;
use super::words;
use super::words::name;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let passed = |job: &JobFigures| job.traffic.is_some();
    if !seen.analysis.programs.iter().any(|program| program.jobs.iter().any(passed)) {
        return Vec::new();
    }
    vec![
        Block::Table(messages(seen)),
        Block::Table(collectives(seen)),
        Block::paragraph(
            "Application data only, without headers, of all ranks together and with their warm-up; 1 MB is 10^6 \
             bytes. Rates are over the whole life of the ranks.",
        ),
    ]
}

fn messages(seen: &Seen<'_>) -> Table {
    let rows = seen.analysis.programs.iter().flat_map(|program| {
        let jobs = program.jobs.iter();
        jobs.filter_map(move |job| Some(message_row(program, job, job.traffic.as_ref()?)))
    });
    Table {
        title: "Messages between ranks".to_owned(),
        columns: vec![
            Column::left("Program"),
            Column::left("Layer"),
            Column::right("MB"),
            Column::right("Msgs"),
            Column::right("Msg size, B"),
            Column::right("MB/s"),
            Column::right("Msgs/s"),
        ],
        rows: rows.collect(),
        summary_rows: 0,
    }
}

fn message_row(program: &ProgramFigures, job: &JobFigures, traffic: &Traffic) -> Vec<String> {
    vec![
        name(program),
        job.job.layer.clone(),
        number::measured(traffic.megabytes(), ""),
        traffic.tally.messages.count.to_string(),
        traffic.mean_bytes().map_or_else(none, |mean| number::fixed(mean, 0)),
        traffic.megabytes_per_s().map_or_else(none, |rate| number::measured(rate, "")),
        traffic.messages_per_s().map_or_else(none, |rate| number::measured(rate, "")),
    ]
}

/// What is the same over every layer.
fn collectives(seen: &Seen<'_>) -> Table {
    let rows = seen.analysis.programs.iter().filter_map(|program| {
        let traffic = program.jobs.iter().find_map(|job| job.traffic.as_ref())?;
        Some(vec![
            name(program),
            words::counted(traffic.tally.own),
            words::counted(traffic.collectives()),
            traffic.distinct_sizes().to_string(),
            same(program.traffic),
            agrees(program.agreement.as_ref()),
        ])
    });
    Table {
        title: "The same over every layer".to_owned(),
        columns: vec![
            Column::left("Program"),
            Column::right("To itself"),
            Column::right("Collectives"),
            Column::right("Sizes"),
            Column::left("Launches"),
            Column::left("Benchmark"),
        ],
        rows: rows.collect(),
        summary_rows: 0,
    }
}

fn none() -> String {
    number::NONE.to_owned()
}

pub(super) fn same(sameness: Sameness) -> String {
    match sameness {
        Sameness::Different => "DIFFERENT".to_owned(),
        Sameness::Same(launches) => format!("{launches} equal"),
        Sameness::Unknown => "one alone".to_owned(),
    }
}

fn agrees(agreement: Option<&Agreement>) -> String {
    match agreement {
        None => number::NONE,
        Some(Agreement::Differs(_)) => "DIFFERENT",
        Some(Agreement::Equal) => "equal",
        Some(Agreement::NoReference) => "no reference",
    }
    .to_owned()
}
