//! Hosts that did not come, pairs that could not be measured.

use super::Mesh;
use crate::document::Block;

pub(super) fn compose(mesh: &Mesh<'_>) -> Vec<Block> {
    let host = |number: usize| mesh.journal.plan.hosts.get(number).map_or("?", String::as_str);
    let missing = mesh.analysis.missing.iter();
    let missing =
        missing.map(|(number, reason)| format!("{} did not come: {reason}", host(*number)));
    let failed = mesh.analysis.failed.iter().map(|((one, other), reason)| {
        format!("{} and {} were not measured: {reason}", host(*one), host(*other))
    });
    let items: Vec<String> = missing.chain(failed).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List { items }] }
}
