//! The time-sequence chart of each connection that is shown.

use btu_core::analysis::CongestionWindow;
use btu_core::tcp::Stream;

use super::Explained;
use super::connections::goodput;
use super::connections::named;
use crate::document::Block;
use crate::document::Column;
use crate::document::SequenceChart;
use crate::document::SequenceData;
use crate::document::Table;
use crate::number;

/// One chart per connection with data, of the direction with most of it.
pub(super) fn charts(explained: &Explained<'_>) -> Vec<Block> {
    let charts = explained.shown.iter().filter_map(|place| {
        let connection = &explained.analysis.connections[*place];
        let [most, _] = connection.streams();
        let title = format!("Connection {}", named(*place, connection));
        let chart = || Block::Sequence(Box::new(chart(*place, title, most, &NOT_CARRIED)));
        most.has_data().then(chart)
    });
    charts.collect()
}

/// The congestion window is its sender's own affair: no segment tells of it.
const NOT_CARRIED: CongestionWindow =
    CongestionWindow::missing("not available: a capture does not carry it");

/// The chart of one direction; `place` tells the charts of a page apart.
pub(crate) fn chart(
    place: usize,
    title: String,
    stream: &Stream,
    congestion: &CongestionWindow,
) -> SequenceChart {
    let pauses = stream.pauses().count();
    SequenceChart {
        name: format!("sequence-{}", place + 1),
        description: format!(
            "{} bytes in {} s, {} retransmissions, {pauses} pauses, {} zero windows",
            stream.counts.new_bytes,
            number::figure(stream.active().seconds()),
            stream.counts.retransmissions,
            stream.zero_windows.len()
        ),
        title,
        reading: READING.to_owned(),
        table: table(stream, congestion),
        data: SequenceData::of(stream, congestion),
        congestion: congestion.missing.to_owned(),
    }
}

const READING: &str = "Each vertical tick is a segment, from its first to its last byte; the line below them is what \
the receiver acknowledged, the line above them where its window ends. Crosses and dots are bytes that were sent again or \
out of order. Shaded are pauses, with what the sender waited for; a bar at the top is a shut window. Below: bytes in \
flight as the sender saw them; in results the congestion window, as the sender's kernel told it (TCP_INFO, 100 times a \
second) on a clock that begins with the first write, drawn where the first segment of that was sent; round trips from the \
place of capture to the receiver.";

/// The pauses, and the figures of the direction.
fn table(stream: &Stream, congestion: &CongestionWindow) -> Table {
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let millis = |time: btu_core::units::Nanos| number::figure(time.millis());
    let mut rows = vec![
        pair("goodput, Mb/s", number::figure_or_none(goodput(stream))),
        pair("most in flight, bytes", stream.flight_peak().to_string()),
        pair("retransmissions", stream.counts.retransmissions.to_string()),
    ];
    if let Some([least, most]) = stream.window_bytes.filter(|_| stream.window_is_known) {
        rows.push(pair("window, bytes", format!("{least} to {most}")));
    }
    rows.push(pair("congestion window, bytes", window(congestion)));
    let pauses = stream.pauses().take(MOST_PAUSES).enumerate();
    rows.extend(pauses.map(|(number, wait)| {
        let name = format!("pause {} at {} ms", number + 1, millis(wait.from));
        pair(&name, format!("{} ms, {}", millis(wait.length()), wait.limit.words()))
    }));
    let columns = vec![Column::left("figure"), Column::left("value")];
    Table { title: String::new(), columns, rows, summary_rows: 0 }
}

/// `14480 to 289600`, or why not.
fn window(congestion: &CongestionWindow) -> String {
    let bytes = || congestion.readings.iter().map(|(_, bytes)| bytes.count());
    match bytes().min().zip(bytes().max()) {
        Some((least, most)) => format!("{least} to {most}"),
        None => congestion.missing.to_owned(),
    }
}

const MOST_PAUSES: usize = 50;
