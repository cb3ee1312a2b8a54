//! Trials that failed, protocols that are not there, what the engine remarked.

use std::collections::BTreeMap;

use btu_core::file::analysis::Failure;
use btu_core::file::leftovers;
use btu_core::file::plan::Plan;
use btu_core::file::sample::Line;
use btu_core::sample::Flag;

use super::Seen;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let failed = grouped(&seen.journal.plan, &seen.analysis.failures);
    let missing = seen.analysis.missing.iter();
    let missing = missing.map(|(protocol, reason)| format!("{protocol} is not there: {reason}"));
    let items = failed.into_iter().chain(missing).chain(left_behind(seen)).chain(remarks(seen));
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![
        Block::paragraph(
            "A trial that failed is in no figure; rounds of the same trial that came to their end are.",
        ),
        Block::List { items },
    ]
}

/// A line for each trial and reason, with its rounds.
fn grouped(plan: &Plan, failures: &[Failure]) -> Vec<String> {
    let mut rounds: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for failure in failures {
        let key = (plan.label(&failure.trial), failure.reason.as_str());
        rounds.entry(key).or_default().push(failure.round.to_string());
    }
    let line = |((label, reason), rounds): ((String, &str), Vec<String>)| {
        let word = if rounds.len() == 1 { "round" } else { "rounds" };
        format!("{label}, {word} {}: {reason}", rounds.join(", "))
    };
    rounds.into_iter().map(line).collect()
}

/// What nobody removed from a server of others.
fn left_behind(seen: &Seen<'_>) -> Option<String> {
    let left = leftovers(&seen.journal.lines);
    let far = seen.journal.plan.far();
    (!left.is_empty()).then(|| format!("left at {far}: {}: remove them there", left.join(", ")))
}

/// What the engine remarked of trials that count, each sentence once, with how many have it.
fn remarks(seen: &Seen<'_>) -> Vec<String> {
    let mut found: BTreeMap<&Flag, usize> = BTreeMap::new();
    for line in &seen.journal.lines {
        if let Line::FileTrial(sample) = line
            && !sample.warm_up
        {
            for flag in &sample.flags {
                *found.entry(flag).or_default() += 1;
            }
        }
    }
    let line =
        |(flag, count): (&Flag, usize)| format!("{} ({count} x): {}", flag.name, flag.detail);
    found.into_iter().map(line).collect()
}
