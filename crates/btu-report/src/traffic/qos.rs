//! The sheet of a path: what it carries, how long things wait, and how many sessions of each class it bears.

mod limits;
mod lines;

use btu_core::traffic::analysis::Carried;
use btu_core::traffic::analysis::Totals;
use btu_core::traffic::class;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Agreement;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::RunSample;
use btu_core::words::several;

use super::Seen;
use super::calls;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.study != Study::Qos {
        return Vec::new();
    }
    let mut blocks = lines::of_the_path(seen);
    blocks.extend(agreement(seen));
    blocks.extend(lines::around_the_knee(seen));
    blocks.push(sessions(seen));
    blocks.extend(seen.analysis.classes.iter().filter_map(not_judged));
    blocks.extend(lines::of_classes(seen));
    let runs = || seen.analysis.classes.iter().flat_map(|carried| &carried.at.runs);
    if runs().any(|run| run.delay_p99_bound().is_some()) {
        blocks.push(Block::paragraph(AT_LEAST.to_owned()));
    }
    if runs().any(|run| run.reordered.is_some()) {
        blocks.push(Block::paragraph(REORDERED.to_owned()));
    }
    blocks.extend(calls::compose(seen));
    blocks.extend(phases(seen));
    blocks.extend(limits::compose(seen));
    let marked = |carried: &Carried| {
        class::by_name(&carried.class).is_some_and(|class| class.source.contains("(?)"))
    };
    if seen.analysis.classes.iter().any(marked) {
        blocks.push(Block::paragraph(UNVERIFIED.to_owned()));
    }
    blocks
}

/// How well delays between two hosts are known, in the worst run, and in how many they are not known at all.
fn agreement(seen: &Seen<'_>) -> Vec<Block> {
    let flows = || seen.journal.runs().flat_map(RunSample::flows);
    let worst = flows().filter_map(FlowSample::delay_bound_s).max_by(f64::total_cmp);
    let within = worst.map(|worst| {
        format!(
            "Delays of one way are read on two clocks, which are known to agree within {}: delays below \
             that may be anything between nothing and it.",
            span(Some(worst))
        )
    });
    within.into_iter().chain(not_comparable(seen)).map(Block::paragraph).collect()
}

/// The runs in which the clocks of two hosts say nothing of each other, and the reason of the first.
fn not_comparable(seen: &Seen<'_>) -> Option<String> {
    let reason = |flow: &FlowSample| match &flow.clocks {
        Some(Agreement::Unknown(reason)) => Some(reason.clone()),
        Some(Agreement::Within(_)) | None => None,
    };
    let of_run = |run: &RunSample| run.flows().find_map(reason);
    let reasons: Vec<String> = seen.journal.runs().filter_map(of_run).collect();
    let (first, runs) = (reasons.first()?, seen.journal.runs().count());
    Some(format!(
        "In {} of {} the clocks of both hosts cannot be compared, and no delay of one way nor its variation is known: \
         {first}.",
        reasons.len(),
        several(runs, "run")
    ))
}

fn sessions(seen: &Seen<'_>) -> Block {
    let columns = vec![
        Column::left("class"),
        Column::right("sessions"),
        Column::right("p50"),
        Column::right("p99"),
        Column::right("PDV"),
        Column::right("lost %"),
        Column::right("reordered %"),
        Column::left("more fail by"),
    ];
    let rows = seen.analysis.classes.iter().map(row).collect();
    let title =
        "Sessions that the path carries within the limits of the class, worst flow and pass"
            .to_owned();
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
}

/// A number of sessions is within the limits that could be judged, and says so.
fn not_judged(carried: &Carried) -> Option<Block> {
    carried.most.filter(|_| !carried.not_judged.is_empty())?;
    let (class, names) = (&carried.class, carried.not_judged.join(", "));
    Some(Block::paragraph(format!(
        "{class}: nobody has judged its limits on {names}, since no run has such a figure: the number of sessions says \
         that the others are met, and no more."
    )))
}

/// How many sessions are carried, as far as that is known.
fn borne(carried: &Carried) -> String {
    let tried = carried.at.cell.sessions;
    match (carried.most, &carried.fails_at) {
        (Some(most), _) => most.to_string(),
        (None, Some(_)) => format!("none of {tried}"),
        (None, None) => format!("not known, {tried} tried"),
    }
}

/// What the most sessions met, or the fewest that were tried.
fn row(carried: &Carried) -> Vec<String> {
    let runs = &carried.at.runs;
    let worst = |of: fn(&Totals) -> Option<f64>| runs.iter().filter_map(of).max_by(f64::total_cmp);
    vec![
        carried.class.clone(),
        borne(carried),
        span(worst(|run| run.known(run.delay_p50))),
        slowest(runs),
        span(worst(|run| run.pdv_p99)),
        percent(worst(|run| run.worst_loss)),
        percent(worst(|run| run.reordered)),
        carried
            .fails_at
            .as_ref()
            .map_or_else(|| "none tried".to_owned(), |(at, why)| format!("{at}: {why}")),
    ]
}

/// The worst 99th percentile, and whether it is a lower bound.
fn slowest(runs: &[Totals]) -> String {
    let worst = |of: fn(&Totals) -> Option<f64>| runs.iter().filter_map(of).max_by(f64::total_cmp);
    let read = worst(|run| run.known(run.delay_p99));
    let least = worst(|run| run.known(run.delay_p99_bound()));
    match least.filter(|least| read.is_none_or(|read| *least > read)) {
        Some(least) => format!("at least {}", span(Some(least))),
        None => span(read),
    }
}

/// A share; a dash where there is none.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| number::NONE.to_owned(), |share| number::measured(share * 100.0, ""))
}

/// Sessions that all began at once would fill a queue by themselves.
fn phases(seen: &Seen<'_>) -> Option<Block> {
    let drawn = seen.journal.runs().flat_map(RunSample::flows).any(|flow| flow.phase_ns.is_some());
    let said =
        "Sessions of a class with a constant period begin at random parts of it, each at its own.";
    drawn.then(|| Block::paragraph(said.to_owned()))
}

const AT_LEAST: &str = "At least: blocks that nobody had read at the end had waited longer than those that were read took. \
    They count with that; p50 and PDV are of blocks that were read.";
const REORDERED: &str =
    "Reordered is the share of datagrams that came after a later one (RFC 4737, 3.4).";
const UNVERIFIED: &str =
    "(?) marks figures of the literature that were not compared with the text they are from.";
