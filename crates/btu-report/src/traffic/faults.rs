//! What did not come to its end, what the generator limited, and what the emulator says of itself.

use btu_core::journal::EventRecord;
use btu_core::sample::Outcome;
use btu_core::traffic::probe::ProbeSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::RunSample;
use btu_core::words::several;
use btu_core::words::times;

use super::Seen;
use super::rate;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let mut items = of_runs(seen.journal);
    let more = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    if more > 0 {
        items.push(format!("and {more} more, in result.json"));
    }
    items.extend(behind(seen.journal));
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// All of it, for programs.
pub(crate) fn notices(journal: &Journal) -> Vec<String> {
    of_runs(journal).into_iter().chain(behind(journal)).collect()
}

/// Why it was cut off, what did not come to its end in any run, then what was held back.
fn of_runs(journal: &Journal) -> Vec<String> {
    let cut = EventRecord::cut(&journal.events);
    let cut = cut.map(|why| format!("the measurement did not come to its end: {why}"));
    let mut items: Vec<String> = cut.into_iter().collect();
    for run in journal.runs() {
        items.extend(broken(run).map(|told| format!("{}: {told}", label(journal, run))));
    }
    for run in journal.runs() {
        let flags = run.flags.iter();
        items.extend(flags.map(|flag| format!("{}: {}", label(journal, run), flag.detail)));
        items.extend(short(run).map(|told| format!("{}: {told}", label(journal, run))));
    }
    items
}

/// A search whose sender was slower than it was asked to be.
fn short(run: &RunSample) -> Option<String> {
    let Some(ProbeSample::Capacity(sample)) = &run.probe else { return None };
    let found = sample.figures().filter(|found| found.is_lower_bound)?;
    let (sent, asked) = found.offered()?;
    Some(format!(
        "the sender sent {} where it was asked for {}, and was late {}: the path carries at least what came",
        rate(sent),
        rate(asked),
        times(sample.late),
    ))
}

fn label(journal: &Journal, run: &RunSample) -> String {
    let cell = journal.plan.cell(run.cell).map_or("", |cell| cell.label.as_str());
    format!("{cell}, pass {}", run.pass)
}

/// What did not come to its end.
fn broken(run: &RunSample) -> impl Iterator<Item = String> {
    run.clusters.iter().flat_map(|cluster| {
        let name = &cluster.name;
        let failed = cluster.failed.iter();
        let failed = failed.map(move |cause| format!("cluster {name} did not run: {cause}"));
        failed.chain(cluster.flows.iter().filter_map(|flow| match &flow.outcome {
            Outcome::Complete => None,
            Outcome::Capped { reason } | Outcome::Failed { reason } => {
                Some(format!("{} {}: {reason}", flow.test, flow.session))
            }
        }))
    })
}

/// One line for all runs in which the generator was the limit.
fn behind(journal: &Journal) -> Option<String> {
    let limited = |run: &RunSample| {
        run.flows().filter(|flow| flow.figures.pacing.is_some_and(|p| p.host_limited)).count()
    };
    let runs: Vec<&RunSample> = journal.runs().filter(|run| limited(run) > 0).collect();
    let worst = runs.iter().max_by_key(|run| limited(run))?;
    Some(format!(
        "the generator fell behind in {} of {}, most in {}, on {} of {}: these say more of the host than of \
         the network",
        runs.len(),
        several(journal.runs().count(), "run"),
        label(journal, worst),
        limited(worst),
        several(worst.flows().count(), "flow"),
    ))
}

const MOST: usize = 20;
