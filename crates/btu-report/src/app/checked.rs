//! What each program verified, beside what the benchmark publishes.

use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Verdict;
use btu_core::app::kernel::Check;
use btu_core::words::several;

use super::Seen;
use super::traffic::same;
use super::words::name;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let programs = &seen.analysis.programs;
    if programs.iter().all(|program| program.launches().next().is_none()) {
        return Vec::new();
    }
    let details = programs.iter().filter(|program| !program.checks.is_empty());
    let details: Vec<Block> = details.map(|program| Block::Table(checks(program))).collect();
    let mut blocks = vec![Block::Table(table(programs))];
    if !details.is_empty() {
        blocks.push(Block::details("Every figure of the first launches", details));
    }
    blocks
}

fn table(programs: &[ProgramFigures]) -> Table {
    Table {
        title: "Launches that found what the benchmark publishes".to_owned(),
        columns: vec![
            Column::left("Program"),
            Column::right("Verified"),
            Column::right("Wrong"),
            Column::right("Failed"),
            Column::right("Figures"),
            Column::left("Bits"),
        ],
        rows: programs.iter().map(row).collect(),
        summary_rows: 0,
    }
}

fn row(program: &ProgramFigures) -> Vec<String> {
    let of = |is_it: fn(&Verdict) -> bool| {
        program.launches().filter(|(_, launch)| is_it(&launch.verdict)).count().to_string()
    };
    vec![
        name(program),
        of(|verdict| *verdict == Verdict::Verified),
        of(|verdict| matches!(verdict, Verdict::Wrong(_))),
        of(|verdict| matches!(verdict, Verdict::Failed(_))),
        distinct(program).len().to_string(),
        same(program.outcomes),
    ]
}

fn checks(program: &ProgramFigures) -> Table {
    let row = |(ranks, check): (usize, &Check)| {
        vec![
            check.name.clone(),
            format!("{:e}", check.found),
            format!("{:e}", check.reference),
            format!("{:e}", check.tolerance),
            several(ranks, "rank"),
            if check.passes() { "yes" } else { "NO" }.to_owned(),
        ]
    };
    Table {
        title: name(program),
        columns: vec![
            Column::left("Figure"),
            Column::right("Found"),
            Column::right("Reference"),
            Column::right("Tolerance"),
            Column::right("On"),
            Column::left("Right"),
        ],
        rows: distinct(program).into_iter().map(row).collect(),
        summary_rows: 0,
    }
}

/// Each figure once, with the number of ranks that found it.
fn distinct(program: &ProgramFigures) -> Vec<(usize, &Check)> {
    let mut found: Vec<(usize, &Check)> = Vec::new();
    for (_, check) in &program.checks {
        match found.iter_mut().find(|(_, known)| *known == check) {
            Some((ranks, _)) => *ranks += 1,
            None => found.push((1, check)),
        }
    }
    found
}
