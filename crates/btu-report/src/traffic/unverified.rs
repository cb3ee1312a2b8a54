//! Models that were used and whose parameters nobody compared with their source.

use std::collections::BTreeSet;

use btu_core::traffic::Verified;
use btu_core::traffic::find;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::RunSample;

/// `model telnet: parameters not verified: ...`, one for each.
pub(crate) fn models(journal: &Journal) -> Vec<String> {
    let flows = journal.runs().flat_map(RunSample::flows);
    let names: BTreeSet<&str> =
        flows.filter_map(|flow| flow.traffic.split('(').next()).map(str::trim).collect();
    let said = names.into_iter().filter_map(|name| match find(name)?.verified {
        Verified::Yes(_) => None,
        Verified::No(why) => Some(format!("model {name}: parameters not verified: {why}")),
    });
    said.collect()
}
