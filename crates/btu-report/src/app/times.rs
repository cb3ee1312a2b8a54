//! How long each program takes over each layer, and where its time goes.

use btu_core::app::analysis::JobFigures;
use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Shares;
use btu_core::words::several;

use super::Seen;
use super::words;
use super::words::name;
use crate::document::Block;
use crate::document::Column;
use crate::document::Stack;
use crate::document::StackGroup;
use crate::document::StackedBars;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.analysis.programs.iter().all(|program| program.fastest().is_none()) {
        return Vec::new();
    }
    let divided = divided(seen);
    let charts = chunks(seen)
        .into_iter()
        .zip(NAMES)
        .map(|(programs, name)| Block::Stacks(chart(name, programs, divided.clone())));
    let mut blocks = vec![Block::Table(table(seen))];
    blocks.extend([alone(seen), brief(seen)].into_iter().flatten().map(Block::paragraph));
    blocks.extend(charts);
    blocks.extend(not_drawn(seen).map(Block::paragraph));
    blocks.extend(is_any_divided(seen).then_some(Block::Table(divided)));
    blocks.extend(refused(seen));
    blocks
}

fn is_any_divided(seen: &Seen<'_>) -> bool {
    seen.analysis.programs.iter().flat_map(|program| &program.jobs).any(|job| job.split.is_ok())
}

/// What fits beside each other.
fn chunks<'a>(seen: &Seen<'a>) -> Vec<&'a [ProgramFigures]> {
    let bars = seen.journal.plan.layers.len().max(1);
    seen.analysis.programs.chunks((MOST_BARS / bars).max(1)).collect()
}

/// Bars whose labels do not run into one another.
const MOST_BARS: usize = 24;
/// Of the charts, in their order.
const NAMES: [&str; 4] = ["split", "split-2", "split-3", "split-4"];

fn table(seen: &Seen<'_>) -> Table {
    let rows = seen.analysis.programs.iter().flat_map(|program| {
        program.jobs.iter().map(move |job| {
            let elapsed = job.elapsed;
            let interval = elapsed.and_then(|one| one.interval_s).map(|one| [one.low, one.high]);
            vec![
                name(program),
                job.job.layer.clone(),
                number::figure_or_none(elapsed.map(|one| one.median_s)),
                number::interval(interval, number::figure),
                beside(program, job),
            ]
        })
    });
    Table {
        title: "Medians of the launches".to_owned(),
        columns: vec![
            Column::left("Program"),
            Column::left("Layer"),
            Column::right("Time, s"),
            Column::right("95 %"),
            Column::right("Of the fastest"),
        ],
        rows: rows.collect(),
        summary_rows: 0,
    }
}

/// Programs that are the same over every layer.
fn alone(seen: &Seen<'_>) -> Option<String> {
    let is_compared = seen.journal.plan.layers.len() > 1;
    let names = names(seen, |program| program.program.ranks == 1).filter(|_| is_compared)?;
    Some(format!(
        "{names}: one rank has no other to pass anything to, so every layer does the same, and what the times differ \
         by is the machine's."
    ))
}

/// Programs whose times are too short for this machine's scheduler.
fn brief(seen: &Seen<'_>) -> Option<String> {
    let is_brief = |job: &JobFigures| job.elapsed.is_some_and(|one| one.median_s < BRIEF_S);
    let names = names(seen, |program| program.jobs.iter().any(is_brief))?;
    Some(format!(
        "{names}: times below 10 ms. Another program that has a CPU for one turn, some milliseconds, changes them by as \
         much: believe their intervals, or take a larger --class."
    ))
}

/// A few turns of the scheduler (sched(7): a base slice of Linux is 0.7 to 4 ms).
const BRIEF_S: f64 = 0.010;

/// `SP, 1 rank; BT, 1 rank`
fn names(seen: &Seen<'_>, is_one: impl Fn(&ProgramFigures) -> bool) -> Option<String> {
    let programs = seen.analysis.programs.iter().filter(|program| program.fastest().is_some());
    let names: Vec<String> = programs.filter(|program| is_one(program)).map(name).collect();
    (!names.is_empty()).then(|| names.join("; "))
}

/// What there are too few charts for.
fn not_drawn(seen: &Seen<'_>) -> Option<String> {
    let left =
        chunks(seen).into_iter().skip(NAMES.len()).map(<[ProgramFigures]>::len).sum::<usize>();
    let programs = several(left, "program");
    (left > 0).then(|| format!("Not drawn: the last {programs}; the tables have them all."))
}

/// The time by that over the fastest layer, which has none.
fn beside(program: &ProgramFigures, job: &JobFigures) -> String {
    let is_fastest = program.fastest().is_some_and(|fastest| fastest.job == job.job);
    let ratio = job.ratio.as_ref().map(words::ratio);
    ratio.unwrap_or_else(|| if is_fastest { "1" } else { number::NONE }.to_owned())
}

fn divided(seen: &Seen<'_>) -> Table {
    let rows = seen.analysis.programs.iter().flat_map(|program| {
        program.jobs.iter().map(move |job| {
            let shares = job.split.as_ref().ok();
            let part = |part: fn(&Shares) -> f64| number::figure_or_none(shares.map(part));
            let share = shares.map(|shares| 100.0 * shares.communication_share());
            vec![
                name(program),
                job.job.layer.clone(),
                part(|shares| shares.compute_s),
                part(|shares| shares.wait_s),
                part(|shares| shares.transfer_s),
                number::percent_or_none(share),
            ]
        })
    });
    Table {
        title: "Where the time goes: the median launch, means over its ranks".to_owned(),
        columns: vec![
            Column::left("Program"),
            Column::left("Layer"),
            Column::right("Computing, s"),
            Column::right("Waiting, s"),
            Column::right("Passing, s"),
            Column::right("Communication, %"),
        ],
        rows: rows.collect(),
        summary_rows: 0,
    }
}

/// Why times are not divided: the first reason for everybody, all of them for who wants to know.
fn refused(seen: &Seen<'_>) -> Vec<Block> {
    let of = |program: &ProgramFigures| {
        let jobs = program.jobs.iter().filter_map(|job| {
            let cause = words::undivided(job.split.as_ref().err()?);
            Some(format!("{} over {} ({cause})", name(program), job.job.layer))
        });
        jobs.collect::<Vec<String>>()
    };
    let items: Vec<String> = seen.analysis.programs.iter().flat_map(of).collect();
    let Some(first) = items.first() else { return Vec::new() };
    let jobs = several(items.len(), "job");
    let told = format!("Not divided: the times of {jobs}, such as {first}.");
    vec![Block::paragraph(told), Block::details("Not divided", vec![Block::List { items }])]
}

fn chart(name: &'static str, programs: &[ProgramFigures], table: Table) -> StackedBars {
    StackedBars {
        name,
        title: "Times relative to the fastest layer".to_owned(),
        description: "A group of bars for each program, a bar for each layer, divided into computing, waiting and \
             passing messages; the bar of the fastest layer is 1 high."
            .to_owned(),
        axis: "Time, fastest layer = 1".to_owned(),
        parts: PARTS.map(ToOwned::to_owned).to_vec(),
        groups: programs.iter().filter_map(group).collect(),
        reading: "Computing is much the same over every layer; what a layer costs is above it. Waiting is for a rank \
             that had not sent yet, and is as much a matter of how the work is divided."
            .to_owned(),
        table,
    }
}

const PARTS: [&str; 4] = ["computing", "waiting", "passing messages", "not divided"];

fn group(program: &ProgramFigures) -> Option<StackGroup> {
    let base = program.fastest()?.elapsed?.median_s;
    let bar = |job: &JobFigures| {
        let whole = job.elapsed?.median_s / base;
        Some(Stack { label: job.job.layer.clone(), parts: parts(job, whole) })
    };
    Some(StackGroup {
        label: program.program.kernel.to_uppercase(),
        sublabel: several(program.program.ranks, "rank"),
        bars: program.jobs.iter().filter_map(bar).collect(),
    })
}

/// The parts of a bar of this height.
fn parts(job: &JobFigures, whole: f64) -> Vec<f64> {
    let Ok(Shares { compute_s, wait_s, transfer_s }) = job.split else {
        return vec![0.0, 0.0, 0.0, whole];
    };
    let all = compute_s + wait_s + transfer_s;
    let scale = if all > 0.0 { whole / all } else { 0.0 };
    vec![compute_s * scale, wait_s * scale, transfer_s * scale, 0.0]
}
