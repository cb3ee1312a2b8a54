//! One row per direction of every pair that was measured, for spreadsheets and statistics programs.

use btu_core::mesh::Journal;
use btu_core::mesh::sample::Line;
use btu_core::mesh::sample::PairSample;
use btu_core::mesh::sample::Way;
use btu_core::units::Bytes;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal) -> Vec<Vec<String>> {
    let head = COLUMNS.map(ToOwned::to_owned).to_vec();
    let rows = journal.lines.iter().flat_map(|line| match line {
        Line::MeshPair(sample) => rows(&journal.plan.hosts, sample),
        Line::MeshMissing { .. } => Vec::new(),
    });
    std::iter::once(head).chain(rows).collect()
}

const COLUMNS: [&str; 9] = [
    "part",
    "round",
    "from",
    "to",
    "started_at",
    "bytes",
    "elapsed_ns",
    "retransmitted_bytes",
    "failure",
];

fn rows(hosts: &[String], sample: &PairSample) -> Vec<Vec<String>> {
    let (one, other) = sample.pair;
    let host = |number: usize| hosts.get(number).cloned().unwrap_or_default();
    let ways = [(one, other, sample.there), (other, one, sample.back)];
    let row = |(from, to, way): (usize, usize, Option<Way>)| {
        let text = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        vec![
            sample.part.to_string(),
            sample.round.to_string(),
            host(from),
            host(to),
            sample.started_at.clone(),
            text(way.map(|way| way.bytes.count())),
            text(way.map(|way| way.elapsed_ns.count())),
            text(way.and_then(|way| way.retransmitted).map(Bytes::count)),
            sample.failure.clone().unwrap_or_default(),
        ]
    };
    ways.map(row).to_vec()
}
