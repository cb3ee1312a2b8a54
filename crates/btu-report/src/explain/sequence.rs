//! The time-sequence chart of each connection that is shown.

use btu_core::run::analysis::CongestionWindow;
use btu_core::tcp::Detail;
use btu_core::tcp::Outline;
use btu_core::tcp::Pause;

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
    let outlines: Vec<Outline> =
        explained.shown.iter().map(|place| Outline::of(stream(place))).collect();
    let points: Vec<usize> = outlines.iter().map(|outline| outline.points).collect();
    let details = details(&points, MOST_POINTS_ASKED_FOR);
    let each = explained.shown.iter().zip(&outlines).zip(details);
    let charts = each.flat_map(|((place, outline), detail)| {
        let title =
            format!("Connection {}", named(*place, &explained.analysis.connections[*place]));
        let chart = || {
            let data = SequenceData::of(stream(place), &[]).in_detail(detail);
            SequenceChart { data, ..words(*place, title, outline, &NOT_CARRIED) }
        };
        let thinned = thinned(outline, detail).map(|said| {
            let alone = format!("--connection {} alone draws more of it.", place + 1);
            Block::paragraph(format!("{said} {alone}"))
        });
        let blocks =
            outline.has_data().then(|| [thinned, Some(Block::Sequence(Box::new(chart())))]);
        blocks.into_iter().flatten().flatten()
    });
    charts.collect()
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
    let halved = std::iter::successors(Some(Detail::FINEST), |stretches| Some(stretches / 2));
    let mut rough = halved.take_while(|stretches| *stretches >= FEWEST_STRETCHES);
    rough.find(|stretches| sum(*stretches) <= most).unwrap_or(FEWEST_STRETCHES)
}

/// What a chart of so many stretches has at most where few segments are sent again: eight segments, six
/// answers, four round trips of each.
const fn points_in(stretches: u32) -> usize {
    18 * stretches as usize
}

/// Below this a chart would show less than it hides.
const FEWEST_STRETCHES: u32 = 125;

/// What a reader must know of a chart that is not whole.
pub(crate) fn thinned(outline: &Outline, detail: Detail) -> Option<String> {
    let Detail::Thinned { stretches } = detail else { return None };
    Some(format!(
        "The chart is thinned: of {} points it holds, for each of {stretches} stretches of time and each \
         kind of mark, the first, the last, the lowest and the highest. Counts and causes are of all of them.",
        outline.points
    ))
}

/// Points of all charts of a page that somebody asked for: some 30 MB.
const MOST_POINTS_ASKED_FOR: usize = 4_000_000;

/// The congestion window is its sender's own affair: no segment tells of it.
const NOT_CARRIED: CongestionWindow =
    CongestionWindow::missing("not available: a capture does not carry it");

/// The chart of one direction without what is drawn; `place` tells the charts of a page apart.
pub(crate) fn words(
    place: usize,
    title: String,
    outline: &Outline,
    congestion: &CongestionWindow,
) -> SequenceChart {
    SequenceChart {
        name: format!("sequence-{}", place + 1),
        description: format!(
            "{} bytes in {} s, {} retransmissions, {} pauses, {} zero windows",
            outline.counts.new_bytes,
            number::figure(outline.active.seconds()),
            outline.counts.retransmissions,
            outline.pauses.len(),
            outline.zero_windows
        ),
        title,
        reading: READING.to_owned(),
        table: table(outline, congestion),
        data: SequenceData::default(),
        congestion: congestion.missing.to_string(),
    }
}

const READING: &str = "Each vertical tick is a segment, from its first to its last byte; the line below them is what \
the receiver acknowledged, the line above them where its window ends. Letters, as tcptrace has them: R sent again, O out \
of order, K keep-alive, P probe of a shut window, 3 third duplicate acknowledgement, D dropped behind this place, CE marked \
by a router and CWR the answer to it, SYN, FIN, RST_OUT and RST_IN begin and end; a diamond is a segment that is pushed. Shaded are pauses, with what the sender waited for; a bar at the top is a shut window. Below: bytes in \
flight as the sender saw them; in results the congestion window, as the sender's kernel told it (TCP_INFO, 100 times a \
second) on a clock that begins with the first write, placed so that it coincides with the first segment of data; round trips from the \
place of capture to the receiver.";

/// The pauses, and the figures of the direction.
fn table(outline: &Outline, congestion: &CongestionWindow) -> Table {
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let millis = |time: btu_core::units::Nanos| number::figure(time.millis());
    let mut rows = vec![
        pair(
            "rate while packets moved, Mb/s",
            number::figure_or_none(goodput(outline.counts.new_bytes, outline.active)),
        ),
        pair("most in flight, bytes", outline.flight_peak_bytes.to_string()),
        pair("retransmissions", outline.counts.retransmissions.to_string()),
    ];
    if let Some([least, most]) = outline.window_bytes {
        rows.push(pair("window, bytes", format!("{least} to {most}")));
    }
    rows.push(pair("congestion window, bytes", window(congestion)));
    let pauses = outline.pauses.iter().take(MOST_PAUSES).enumerate();
    rows.extend(pauses.map(|(number, Pause { from, length, limit })| {
        let name = format!("pause {} at {} ms", number + 1, millis(*from));
        pair(&name, format!("{} ms, {}", millis(*length), limit.words()))
    }));
    let columns = vec![Column::left("figure"), Column::left("value")];
    Table { title: String::new(), columns, rows, summary_rows: 0 }
}

/// `14480 to 289600`, or why not.
fn window(congestion: &CongestionWindow) -> String {
    let bytes = || congestion.readings.iter().map(|(_, bytes)| bytes.count());
    match bytes().min().zip(bytes().max()) {
        Some((least, most)) => format!("{least} to {most}"),
        None => congestion.missing.to_string(),
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
        let thinned = Detail::Thinned { stretches: Detail::FINEST };
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
            assert!(*stretches == Detail::FINEST || finer > 1_000_000, "{charts}: {stretches}");
        }
    }
}
