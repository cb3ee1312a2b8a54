//! One row per client of every trial, warm-ups included, for spreadsheets and statistics programs.

use btu_core::file::Journal;
use btu_core::file::sample::ClientSample;
use btu_core::file::sample::Line;
use btu_core::file::sample::TrialSample;
use btu_core::units::Nanos;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal) -> Vec<Vec<String>> {
    let head = COLUMNS.map(ToOwned::to_owned).to_vec();
    let trials = journal.lines.iter().filter_map(Line::trial);
    let rows = trials.flat_map(|sample| sample.clients.iter().map(|one| row(sample, one)));
    std::iter::once(head).chain(rows).collect()
}

const COLUMNS: [&str; 21] = [
    "protocol",
    "operation",
    "trial_direction",
    "size_bytes",
    "count",
    "clients",
    "mtu_bytes",
    "held",
    "round",
    "position",
    "warm_up",
    "client",
    "direction",
    "bytes",
    "connect_ns",
    "auth_ns",
    "request_ns",
    "first_byte_ns",
    "last_byte_ns",
    "commit_ns",
    "failure",
];

fn row(sample: &TrialSample, client: &ClientSample) -> Vec<String> {
    let (trial, phases) = (&sample.trial, &client.phases);
    let time = |time: Option<Nanos>| time.map_or_else(String::new, |time| time.count().to_string());
    vec![
        trial.protocol.clone(),
        trial.operation.name().to_owned(),
        trial.direction.name().to_owned(),
        trial.size_bytes.count().to_string(),
        trial.count.to_string(),
        trial.clients.to_string(),
        trial.mtu_bytes.map_or_else(String::new, |mtu| mtu.count().to_string()),
        trial.held.name().to_owned(),
        sample.round.to_string(),
        sample.position.to_string(),
        sample.warm_up.to_string(),
        client.client.to_string(),
        client.direction.name().to_owned(),
        client.bytes.count().to_string(),
        time(phases.connect_ns),
        time(phases.auth_ns),
        time(phases.request_ns),
        time(phases.first_byte_ns),
        time(phases.last_byte_ns),
        time(phases.commit_ns),
        client.failure.clone().unwrap_or_default(),
    ]
}
