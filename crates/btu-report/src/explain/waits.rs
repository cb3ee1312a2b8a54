//! What was counted in each connection, and what its senders waited for.

use btu_core::tcp::Connection;
use btu_core::tcp::Counts;
use btu_core::tcp::Limit;
use btu_core::tcp::Stream;

use super::Explained;
use super::connections::named;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

/// Name of a count, and the count.
type Line = (&'static str, fn(&Counts) -> u64);

/// Everything that is counted, in the order of the table.
static LINES: &[Line] = &[
    ("segments", |c| c.segments),
    ("segments with data", |c| c.data_segments),
    ("bytes, repeated ones too", |c| c.payload_bytes),
    ("bytes", |c| c.new_bytes),
    ("retransmissions", |c| c.retransmissions),
    ("  fast", |c| c.fast),
    ("  timeouts", |c| c.timeouts),
    ("  behind a timeout", |c| c.after_timeout),
    ("  tail loss probes", |c| c.tail_probes),
    ("  spurious", |c| c.spurious),
    ("  without a visible reason", |c| c.resent),
    ("needless (acknowledged too soon)", |c| c.needless),
    ("duplicate SACKs", |c| c.duplicate_sacks),
    ("out of order", |c| c.out_of_order),
    ("gaps (lost before this place)", |c| c.gaps),
    ("dropped behind this place", |c| c.dropped),
    ("  by a full queue", |c| c.queue_full),
    ("  by CoDel", |c| c.managed),
    ("duplicate acknowledgements", |c| c.duplicate_acks),
    ("answers to needless repetitions", |c| c.answers_to_needless),
    ("delayed acknowledgements", |c| c.delayed_acks),
    ("held back for one (Nagle)", |c| c.nagle_stalls),
    ("zero windows", |c| c.zero_windows),
    ("zero window probes", |c| c.window_probes),
    ("windows filled", |c| c.window_full),
    ("window updates", |c| c.window_updates),
    ("cut small by the window", |c| c.silly),
    ("keep-alives", |c| c.keep_alives),
    ("acknowledged but never seen", |c| c.unseen_acks),
    ("outside of any window", |c| c.outside),
    ("congestion marks", |c| c.congestion_marks),
];

/// The counts of each connection shown: one column per direction, rows that are zero left out.
pub(super) fn findings(explained: &Explained<'_>) -> Vec<Block> {
    let tables = explained.shown.iter().map(|place| {
        let connection = &explained.analysis.connections[*place];
        Block::Table(counts(*place, connection))
    });
    tables.collect()
}

fn counts(place: usize, connection: &Connection) -> Table {
    let [most, least] = connection.streams();
    let columns = vec![Column::left("count"), Column::right("there"), Column::right("back")];
    let seen = LINES.iter().filter(|(_, of)| of(&most.counts) + of(&least.counts) > 0);
    let row = |(name, of): &Line| {
        vec![(*name).to_owned(), of(&most.counts).to_string(), of(&least.counts).to_string()]
    };
    let rows = seen.map(row).collect();
    Table {
        title: format!("Connection {}", named(place, connection)),
        columns,
        rows,
        summary_rows: 0,
    }
}

/// What the sender of most payload waited for, in each connection shown.
pub(super) fn waits(explained: &Explained<'_>) -> Vec<Block> {
    let columns = vec![
        Column::left("connection"),
        Column::left("the sender waited for"),
        Column::right("ms"),
        Column::right("%"),
        Column::right("pauses"),
    ];
    let rows: Vec<Vec<String>> = explained
        .shown
        .iter()
        .flat_map(|place| of_connection(*place, &explained.analysis.connections[*place]))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table { title: String::new(), columns, rows, summary_rows: 0 })]
}

fn of_connection(place: usize, connection: &Connection) -> Vec<Vec<String>> {
    let [most, _] = connection.streams();
    let active = most.active().seconds();
    let rows = Limit::ALL.into_iter().filter_map(|limit| {
        let time = most.waited_for(limit);
        (time.count() > 0).then(|| {
            vec![
                (place + 1).to_string(),
                limit.words().to_owned(),
                number::figure(time.millis()),
                number::percent(100.0 * time.seconds() / active),
                pauses(most, limit).to_string(),
            ]
        })
    });
    rows.collect()
}

fn pauses(stream: &Stream, limit: Limit) -> usize {
    stream.pauses().filter(|wait| wait.limit == limit).count()
}
