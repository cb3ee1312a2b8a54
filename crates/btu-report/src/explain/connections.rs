//! The diagnoses of a capture, and the table of its connections.

use btu_core::diagnosis::Diagnosis;
use btu_core::tcp::Connection;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Explained;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

/// Each connection's causes in words; and what the capture lacks.
pub(super) fn diagnoses(explained: &Explained<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut healthy = 0;
    for place in &explained.shown {
        let found = &explained.diagnoses[*place];
        if found.is_empty() {
            healthy += 1;
            continue;
        }
        let name = named(*place, &explained.analysis.connections[*place]);
        blocks.push(Block::paragraph(format!("Connection {name}")));
        blocks.push(Block::List { items: found.iter().map(sentence).collect() });
    }
    if healthy > 0 {
        let of = explained.shown.len();
        let text = format!("{healthy} of {of} connections: no cause of slowness was found.");
        blocks.push(Block::paragraph(text));
    }
    if explained.analysis.connections.is_empty() {
        blocks.push(Block::paragraph("There is no TCP connection in this capture."));
    }
    blocks.extend(missing(explained));
    blocks
}

/// Cause, confidence, what happened, what it was concluded from, what to try.
fn sentence(found: &Diagnosis) -> String {
    let figures: Vec<String> = found
        .figures
        .iter()
        .map(|one| format!("{} {}", one.name, number::measured(one.value, &one.unit)))
        .collect();
    format!(
        "{} (confidence {}, {} % of the time, from {}): {}. Evidence: {}. Try: {}.",
        found.cause,
        found.confidence,
        number::percent(found.share.percent()),
        found.from,
        found.sentence,
        figures.join(", "),
        found.remedy
    )
}

/// What the capture lacks, so that no figure is taken for the whole.
fn missing(explained: &Explained<'_>) -> Vec<Block> {
    let (missing, traffic) = (&explained.analysis.missing, explained.analysis.traffic);
    let mut items: Vec<String> = missing.notes.clone();
    let counted = [
        (missing.scattered(), "packets were lost by whoever captured: counts are lower bounds"),
        (
            missing.behind,
            "packets came when the memory of the capture was full: it ends before them",
        ),
        (missing.skipped, "packets of the file could not be used"),
        (traffic.damaged, "packets are cut off, or contradictory, before their TCP header ends"),
        (traffic.fragments, "packets are later parts of IP packets, without a TCP header"),
    ];
    let told = counted.into_iter().filter(|(count, _)| *count > 0);
    items.extend(told.map(|(count, what)| format!("{count} {what}")));
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::paragraph("The capture is not complete:"), Block::List { items }]
}

/// One row per direction with data.
pub(super) fn table(explained: &Explained<'_>) -> Vec<Block> {
    let columns = vec![
        Column::left("connection"),
        Column::right("s"),
        Column::right("Mb/s"),
        Column::right("RTT ms"),
        Column::right("again"),
        Column::left("first cause"),
    ];
    let rows: Vec<Vec<String>> =
        explained.shown.iter().map(|place| row(explained, *place)).collect();
    let left_out = explained.wanted.len() - explained.shown.len();
    let title = match left_out {
        0 => String::new(),
        more => format!("{more} connections with less payload are left out"),
    };
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table { title, columns, rows, summary_rows: 0 })]
}

fn row(explained: &Explained<'_>, place: usize) -> Vec<String> {
    let connection = &explained.analysis.connections[place];
    let [most, _] = connection.streams();
    let found = explained.diagnoses[place].first().map_or("-", |first| first.cause);
    vec![
        named(place, connection),
        number::figure(connection.length.seconds()),
        number::figure_or_none(goodput(most.counts.new_bytes, most.active())),
        number::figure_or_none(connection.round_trip().map(Nanos::millis)),
        most.counts.retransmissions.to_string(),
        found.to_owned(),
    ]
}

/// `1 10.0.0.1:5000 > 10.0.0.2:80`, in the direction of most payload.
pub(super) fn named(place: usize, connection: &Connection) -> String {
    let [most, _] = connection.streams();
    format!("{} {} > {}", place + 1, most.from, most.to)
}

/// New bytes over the time from the first to the last of them.
pub(super) fn goodput(new_bytes: u64, active: Nanos) -> Option<f64> {
    Some(Bytes::new(new_bytes).per(active)?.mbps())
}
