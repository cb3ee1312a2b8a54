//! What failed, what found something else, and what is not there.

use std::collections::BTreeMap;

use btu_core::app::analysis::Verdict;
use btu_core::words::several;

use super::Seen;
use super::words::name;
use crate::document::Block;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let missing = seen.analysis.missing.iter();
    let missing = missing.map(|(what, reason)| format!("{what} is not measured: {reason}"));
    let items: Vec<String> = told(seen).into_iter().chain(missing).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}

/// Each fault once, those of verification before the others.
pub(super) fn told(seen: &Seen<'_>) -> Vec<String> {
    let programs = seen.analysis.programs.iter();
    let shared = programs.flat_map(|program| {
        let of = name(program);
        program.faults().into_iter().map(move |fault| format!("{of}: {fault}"))
    });
    wrong(seen).into_iter().chain(shared).collect()
}

/// A line for each cause, with how many launches it had.
fn wrong(seen: &Seen<'_>) -> Vec<String> {
    let mut causes: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for (program, job, launch) in seen.analysis.wrong() {
        let (is_failure, what) = match &launch.verdict {
            Verdict::Failed(why) => (true, format!("did not come to its end: {why}")),
            Verdict::Wrong(what) => (false, format!("failed its verification: {what}")),
            Verdict::Verified => continue,
        };
        let line = format!("{} over {} {what}", name(program), job.job.layer);
        *causes.entry((is_failure, line)).or_default() += 1;
    }
    let said = |((_, line), count): ((bool, String), usize)| {
        format!("{line} ({})", several(count, "launch"))
    };
    causes.into_iter().map(said).collect()
}
