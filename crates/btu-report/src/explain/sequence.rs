//! The time-sequence chart of each connection that is shown.

use btu_core::analysis::CongestionWindow;
use btu_core::tcp::Stream;

use super::Explained;
use super::connections::goodput;
use super::connections::named;
use crate::document::Block;
use crate::document::Column;
use crate::document::SequenceChart;
use crate::document::Table;
use crate::number;
use btu_core::tcp::SequenceData;

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
        let thinned = thinned(stream(place), detail).map(|said| {
            let alone = format!("--connection {} alone draws more of it.", place + 1);
            Block::paragraph(format!("{said} {alone}"))
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
    /// Of each of so many stretches of time what reaches furthest.
    Thinned {
        /// How many.
        stretches: u32,
    },
    /// Every point.
    Whole,
}

/// How much of each chart a page carries that may have `most` points, by how many each chart has: none
/// but thinned ones at first, in fewer stretches where these alone would be too many; then as many
/// whole ones as fit, the smallest first.
pub(crate) fn details(points: &[usize], most: usize) -> Vec<Detail> {
    let stretches = stretches(points, most);
    let thinned = |place: usize| points[place].min(points_in(stretches));
    let mut smallest: Vec<usize> = (0..points.len()).collect();
    smallest.sort_by_key(|place| points[*place]);
    let mut found = vec![Detail::Thinned { stretches }; points.len()];
    let mut sum: usize = smallest.iter().copied().map(thinned).sum();
    for place in smallest {
        sum = sum.saturating_add(points[place] - thinned(place));
        if sum <= most {
            found[place] = Detail::Whole;
        }
    }
    found
}

/// The finest stretches in which all of these charts fit, thinned.
fn stretches(points: &[usize], most: usize) -> u32 {
    let sum = |stretches| points.iter().map(|one| (*one).min(points_in(stretches))).sum::<usize>();
    let halved = std::iter::successors(Some(STRETCHES), |stretches| Some(stretches / 2));
    let mut rough = halved.take_while(|stretches| *stretches >= FEWEST_STRETCHES);
    rough.find(|stretches| sum(*stretches) <= most).unwrap_or(FEWEST_STRETCHES)
}

/// What a chart of so many stretches has at most where few segments are sent again: eight segments, six
/// answers, four round trips of each.
const fn points_in(stretches: u32) -> usize {
    18 * stretches as usize
}

/// Of a thinned chart: two for each pixel of a wide screen.
const STRETCHES: u32 = 4_000;
/// Below this a chart would show less than it hides.
const FEWEST_STRETCHES: u32 = 125;

/// What a reader must know of a chart that is not whole.
pub(crate) fn thinned(stream: &Stream, detail: Detail) -> Option<String> {
    let Detail::Thinned { stretches } = detail else { return None };
    Some(format!(
        "The chart is thinned: of {} points it holds, for each of {stretches} stretches of time and each \
         kind of mark, the first, the last, the lowest and the highest. Counts and causes are of all of them.",
        SequenceData::points_of(stream)
    ))
}

impl SequenceChart {
    /// The same chart in this detail.
    #[must_use]
    pub(crate) fn of(mut self, detail: Detail) -> Self {
        if let Detail::Thinned { stretches } = detail {
            self.data = self.data.thinned(stretches);
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
    let data = SequenceData::of(stream, &congestion.readings);
    SequenceChart { data, ..words(place, title, stream, congestion) }
}

/// The chart without what is drawn.
pub(crate) fn words(
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
        data: SequenceData::default(),
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
        pair("rate while packets moved, Mb/s", number::figure_or_none(goodput(stream))),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(points: &[usize], details: &[Detail]) -> usize {
        let of = |(points, detail): (&usize, &Detail)| match detail {
            Detail::Thinned { stretches } => (*points).min(points_in(*stretches)),
            Detail::Whole => *points,
        };
        points.iter().zip(details).map(of).sum()
    }

    #[test]
    fn the_smallest_charts_of_a_page_are_whole_and_the_thinned_ones_count() {
        let points = [900_000, 50_000, 400_000];
        let thinned = Detail::Thinned { stretches: STRETCHES };
        let found = details(&points, 1_000_000);
        assert_eq!(found, [thinned, Detail::Whole, Detail::Whole]);
        // With the 72,000 of the thinned one the second largest has no room.
        assert_eq!(details(&points, 500_000), [thinned, Detail::Whole, thinned]);
        assert_eq!(details(&points, 2_000_000), [Detail::Whole; 3]);
        assert_eq!(details(&[], 5), []);
    }

    #[test]
    fn many_dense_charts_are_thinned_further_until_they_fit() {
        for charts in [10, 48, 200, 400] {
            let points = vec![300_000; charts];
            let found = details(&points, 1_000_000);
            assert!(sum(&points, &found) <= 1_000_000, "{charts}: {found:?}");
            let Some(Detail::Thinned { stretches }) = found.last() else { panic!("{found:?}") };
            // Half as rough would not have fitted.
            let finer = points_in(2 * *stretches).min(300_000) * charts;
            assert!(*stretches == STRETCHES || finer > 1_000_000, "{charts}: {stretches}");
        }
    }
}
