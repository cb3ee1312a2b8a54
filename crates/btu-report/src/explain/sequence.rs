//! The time-sequence chart of each connection that is shown.

use btu_core::analysis::CongestionWindow;
use btu_core::tcp::Stream;

use super::Explained;
use super::connections::goodput;
use super::connections::named;
use crate::document::Block;
use crate::document::Column;
use crate::document::STRETCHES;
use crate::document::SequenceChart;
use crate::document::SequenceData;
use crate::document::Table;
use crate::number;

/// One chart per connection with data, of the direction with most of it.
pub(super) fn charts(explained: &Explained<'_>) -> Vec<Block> {
    let stream = |place: &usize| explained.analysis.connections[*place].streams()[0];
    let points: Vec<usize> =
        explained.shown.iter().map(|place| SequenceData::points_of(stream(place))).collect();
    let details = details(&points, MOST_POINTS_ASKED_FOR);
    let charts = explained.shown.iter().zip(details).flat_map(|(place, detail)| {
        let title =
            format!("Connection {}", named(*place, &explained.analysis.connections[*place]));
        let chart = || chart(*place, title, stream(place), &NOT_CARRIED).of(detail);
        let thinned = (detail == Detail::Thinned).then(|| {
            Block::paragraph(format!(
                "{} --connection {} alone draws more of it.",
                thinned(stream(place)),
                place + 1
            ))
        });
        let has_data = stream(place).has_data();
        let blocks = has_data.then(|| [thinned, Some(Block::Sequence(Box::new(chart())))]);
        blocks.into_iter().flatten().flatten()
    });
    charts.collect()
}

/// How much of a direction a page carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Of each stretch of time what reaches furthest.
    Thinned,
    /// Every point.
    Whole,
}

/// Which charts of a page are whole, by how many points each has: as many as fit.
pub(crate) fn details(points: &[usize], most: usize) -> Vec<Detail> {
    let mut smallest: Vec<usize> = (0..points.len()).collect();
    smallest.sort_by_key(|place| points[*place]);
    let (mut found, mut sum) = (vec![Detail::Thinned; points.len()], 0_usize);
    for place in smallest {
        sum = sum.saturating_add(points[place]);
        if sum <= most {
            found[place] = Detail::Whole;
        }
    }
    found
}

/// What a reader must know of a chart that is not whole.
pub(crate) fn thinned(stream: &Stream) -> String {
    format!(
        "The chart is thinned: of {} points it holds, for each of {STRETCHES} stretches of time and each \
         kind of mark, the first, the last, the lowest and the highest. Counts and causes are of all of them.",
        SequenceData::points_of(stream)
    )
}

impl SequenceChart {
    /// The same chart in this detail.
    #[must_use]
    pub(crate) fn of(mut self, detail: Detail) -> Self {
        if detail == Detail::Thinned {
            self.data = self.data.thinned();
        }
        self
    }
}

/// Points of all charts of a page that somebody asked for: some 30 MB.
const MOST_POINTS_ASKED_FOR: usize = 4_000_000;

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
the receiver acknowledged, the line above them where its window ends. Letters, as tcptrace has them: R sent again, O out \
of order, K keep-alive, P probe of a shut window, 3 third duplicate acknowledgement, D dropped behind this place, CE marked \
by a router and CWR the answer to it, SYN, FIN, RST_OUT and RST_IN begin and end; a diamond is a segment that is pushed. Shaded are pauses, with what the sender waited for; a bar at the top is a shut window. Below: bytes in \
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
