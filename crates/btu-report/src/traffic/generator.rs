//! How well the generator itself kept time, in every study: what it was late by says nothing of the path.

use btu_core::traffic::figures::flow::Pacing;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Group;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::RunSample;
use btu_core::words::several;
use btu_core::words::times;

use super::Seen;
use super::cells;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let kinds = kinds(seen);
    let rows: Vec<Vec<String>> = kinds.iter().map(|(kind, runs)| row(kind, runs)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut columns = vec![Column::left("cells")];
    columns.extend(["p50", "p99", "max", "late p99", "blocks", "runs", "flows"].map(Column::right));
    let table = Table { title: TITLE.to_owned(), columns, rows, summary_rows: 0 };
    let told = absences(seen).into_iter().chain(searches(seen)).map(Block::paragraph);
    std::iter::once(Block::Table(table)).chain(told).collect()
}

/// The runs of each kind of cell, in the order of the plan; kinds without a run are left out.
fn kinds<'a>(seen: &Seen<'a>) -> Vec<(String, Vec<&'a RunSample>)> {
    let mut kinds: Vec<(String, Vec<&RunSample>)> = Vec::new();
    for cell in &seen.journal.plan.cells {
        let runs = seen.journal.runs().filter(|run| run.cell == cell.id);
        let name = name(cell);
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.extend(runs),
            None => kinds.push((name, runs.collect())),
        }
    }
    kinds.retain(|(_, runs)| !runs.is_empty());
    kinds
}

fn name(cell: &Cell) -> String {
    match (cell.group, &cell.class) {
        (Group::Class, Some(class)) => format!("Sessions of {class}"),
        (group, _) => cells::title(group).to_owned(),
    }
}

fn row(kind: &str, runs: &[&RunSample]) -> Vec<String> {
    let flows: Vec<&FlowSample> = runs.iter().flat_map(|run| run.flows()).collect();
    let kept: Vec<Pacing> = flows.iter().filter_map(|flow| between_bursts(flow)).collect();
    let worst = |of: fn(&Pacing) -> f64| {
        let micros = kept.iter().map(of).max_by(f64::total_cmp);
        span(micros.map(|micros| micros / 1e6))
    };
    // What has no schedule cannot fall behind.
    let is_judged = flows.iter().any(|flow| flow.figures.pacing.is_some());
    let share = |behind: usize, all: usize| {
        if is_judged { format!("{behind} of {all}") } else { number::NONE.to_owned() }
    };
    vec![
        kind.to_owned(),
        worst(|one| one.p50_us),
        worst(|one| one.p99_us),
        worst(|one| one.max_us),
        worst(|one| one.late_p99_us),
        late_blocks(&flows),
        share(runs.iter().filter(|run| run.flows().any(fell_behind)).count(), runs.len()),
        share(flows.iter().filter(|flow| fell_behind(flow)).count(), flows.len()),
    ]
}

/// How many of all blocks began later than a flow may at its 99th percentile: of a thousand flows each of which has
/// few, what no percentile of one of them tells.
fn late_blocks(flows: &[&FlowSample]) -> String {
    let paced = flows.iter().filter_map(|flow| flow.figures.pacing);
    let told: Option<Vec<(u64, u64)>> =
        paced.map(|pacing| Some((pacing.late_blocks?, pacing.blocks))).collect();
    let Some(told) = told.filter(|told| !told.is_empty()) else { return number::NONE.to_owned() };
    let [late, all] = [told.iter().map(|it| it.0).sum::<u64>(), told.iter().map(|it| it.1).sum()];
    format!("{late} of {all}")
}

/// What a flow says of the time between its departures.
fn between_bursts(flow: &FlowSample) -> Option<Pacing> {
    flow.figures.pacing.and_then(Pacing::between_bursts)
}

/// Whether the generator and not the network was the limit.
fn fell_behind(flow: &FlowSample) -> bool {
    flow.figures.pacing.is_some_and(|pacing| pacing.host_limited)
}

/// Which flows have no error between their departures, and why.
fn absences(seen: &Seen<'_>) -> Vec<String> {
    let flows = || seen.journal.runs().flat_map(RunSample::flows);
    let without = flows().filter(|flow| between_bursts(flow).is_none());
    let [mut full, mut asked, mut few] = [0, 0, 0];
    for flow in without {
        match flow {
            _ if flow.is_full() => full += 1,
            _ if flow.is_asked() => asked += 1,
            _ => few += 1,
        }
    }
    let told = |count: usize, text: fn(String) -> String| {
        (count > 0).then(|| text(several(count, "flow")))
    };
    let all = [
        told(full, |flows| {
            format!(
                "Full streams ({flows}) have no schedule: they write whenever the transport has room."
            )
        }),
        told(asked, |flows| {
            format!(
                "Conversations ({flows}) had fewer than two exchanges that a clock made due: the others follow answers."
            )
        }),
        told(few, |flows| {
            format!(
                "{flows} had fewer than two bursts that only the generator could delay, and so no error between them."
            )
        }),
    ];
    all.into_iter().flatten().collect()
}

/// What capacity searches say of their senders.
fn searches(seen: &Seen<'_>) -> Option<String> {
    let searched = |run: &RunSample| match run.probe.as_ref()? {
        ProbeSample::Capacity(sample) => Some((sample.sent, sample.late)),
        ProbeSample::PathMtu(_) | ProbeSample::Responsiveness(_) => None,
    };
    let found: Vec<(u64, u64)> = seen.journal.runs().filter_map(searched).collect();
    let sent: u64 = found.iter().map(|(sent, _)| sent).sum();
    let late: u64 = found.iter().map(|(_, late)| late).sum();
    let were_late =
        if late == 0 { "were never late".to_owned() } else { format!("were late {}", times(late)) };
    (!found.is_empty()).then(|| {
        format!(
            "Capacity searches have a rate that changes, and no schedule: of {} their senders {were_late}.",
            several(sent, "datagram"),
        )
    })
}

const TITLE: &str = "Inter-departure error, the worst of all flows and passes; blocks, runs and flows: those that fell behind";
