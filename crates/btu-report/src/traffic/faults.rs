//! What did not come to its end, what the generator limited, and what the emulator says of itself.

use btu_core::sample::Outcome;
use btu_core::traffic::sample::RunSample;

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let label = |run: &RunSample| {
        let cell = seen.journal.plan.cell(run.cell).map_or("", |cell| cell.label.as_str());
        format!("{cell}, pass {}", run.pass)
    };
    let mut items = Vec::new();
    for run in seen.journal.runs() {
        for cluster in &run.clusters {
            items.extend(cluster.failed.iter().map(|cause| {
                format!("{}: cluster {} did not run: {cause}", label(run), cluster.name)
            }));
            for flow in &cluster.flows {
                if let Outcome::Capped { reason } | Outcome::Failed { reason } = &flow.outcome {
                    items.push(format!("{}: {} {}: {reason}", label(run), flow.test, flow.session));
                }
            }
        }
        let limited =
            run.flows().filter(|flow| flow.figures.pacing.is_some_and(|p| p.host_limited));
        let limited = limited.count();
        if limited > 0 {
            items.push(format!(
                "{}: the generator fell behind on {limited} of {} flows: this run says more of the \
                 host than of the network",
                label(run),
                run.flows().count()
            ));
        }
        items.extend(run.flags.iter().map(|flag| format!("{}: {}", label(run), flag.detail)));
    }
    let more = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    if more > 0 {
        items.push(format!("and {more} more, in samples.jsonl"));
    }
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

const MOST: usize = 20;
