//! Every launch in its order, with what was seen beside it.

use btu_core::app::analysis::JobFigures;
use btu_core::app::analysis::Launch;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Verdict;
use btu_core::sample::Flag;

use super::Seen;
use super::words::name;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let programs = seen.analysis.programs.iter();
    let mut all: Vec<_> = programs
        .flat_map(|program| program.launches().map(move |(job, launch)| (program, job, launch)))
        .collect();
    if all.is_empty() {
        return Vec::new();
    }
    all.sort_by_key(|(.., launch)| (launch.round, launch.position));
    let table = Table {
        title: "Every launch".to_owned(),
        columns: vec![
            Column::right("Round"),
            Column::right("Place"),
            Column::left("Program"),
            Column::left("Layer"),
            Column::right("Time, s"),
            Column::left("Remarks"),
        ],
        rows: all.iter().map(row).collect(),
        summary_rows: 0,
    };
    vec![Block::details("Every launch", vec![Block::Table(table)])]
}

fn row((program, job, launch): &(&ProgramFigures, &JobFigures, &Launch)) -> Vec<String> {
    vec![
        launch.round.to_string(),
        launch.position.to_string(),
        name(program),
        job.job.layer.clone(),
        number::figure_or_none(launch.elapsed_s),
        remarks(launch),
    ]
}

fn remarks(launch: &Launch) -> String {
    let verdict = match &launch.verdict {
        Verdict::Failed(why) => Some(format!("failed: {why}")),
        Verdict::Verified => None,
        Verdict::Wrong(what) => Some(format!("wrong: {what}")),
    };
    let flags = launch.flags.iter().map(|Flag { name, detail }| format!("{name}: {detail}"));
    verdict.into_iter().chain(flags).collect::<Vec<String>>().join("; ")
}
