//! A time-sequence chart of one direction of a TCP connection, described.

use btu_core::analysis::CongestionWindow;
use btu_core::tcp::Mark;
use btu_core::tcp::Stream;
use btu_core::units::Nanos;
use serde::Serialize;

use super::Table;

/// Everything that the chart shows; a page can zoom into all of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequenceChart {
    /// Usable as an anchor, one per page.
    pub name: String,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// How to read the chart.
    pub reading: String,
    /// The figures of the direction.
    pub table: Table,
    /// Why no congestion window is drawn; empty where one is.
    pub congestion: String,
    /// What is drawn.
    #[serde(skip)]
    pub data: SequenceData,
}

/// Columns over time; times are nanoseconds since the connection's start, places bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceData {
    /// Segments: time, first place, place behind, mark, flight.
    pub(crate) segments: Vec<(i64, i64, i64, Mark, i64)>,
    /// Answers: time, acknowledged, end of the window where that is known.
    pub(crate) answers: Vec<(i64, i64, Option<i64>)>,
    /// Selective acknowledgements: time, from, to.
    pub(crate) sacks: Vec<(i64, i64, i64)>,
    /// Round trips: when, how long.
    pub(crate) trips: Vec<(i64, i64)>,
    /// Congestion windows: when, bytes.
    pub(crate) windows: Vec<(i64, i64)>,
    /// Pauses: from, to, place of the limit in its list, its words.
    pub(crate) pauses: Vec<(i64, i64, usize, &'static str)>,
    /// Shut windows: from, to.
    pub(crate) shut: Vec<(i64, i64)>,
}

impl SequenceData {
    /// Of one direction of a connection.
    pub fn of(stream: &Stream, congestion: &CongestionWindow) -> Self {
        let edge = |edge: i64| stream.window_is_known.then_some(edge);
        Self {
            segments: (stream.sent.iter())
                .map(|sent| (nanos(sent.at), sent.start, sent.end, sent.mark, count(sent.flight)))
                .collect(),
            answers: (stream.answers.iter())
                .map(|answer| (nanos(answer.at), answer.acknowledged, edge(answer.edge)))
                .collect(),
            sacks: (stream.sacks.iter())
                .map(|sack| (nanos(sack.at), sack.start, sack.end))
                .collect(),
            trips: (stream.round_trips.iter())
                .map(|trip| (nanos(trip.at), nanos(trip.time)))
                .collect(),
            windows: (congestion.readings.iter())
                .map(|(at, bytes)| (nanos(*at), count(bytes.count())))
                .collect(),
            pauses: pauses(stream),
            shut: (stream.zero_windows.iter())
                .map(|span| (nanos(span.from), nanos(span.to)))
                .collect(),
        }
    }

    /// The time of the last thing in it.
    pub(crate) fn end(&self) -> i64 {
        let segment = self.segments.last().map_or(0, |segment| segment.0);
        segment.max(self.answers.last().map_or(0, |answer| answer.0))
    }
}

/// The longest of them, in order of time: a thousand have room in no picture.
fn pauses(stream: &Stream) -> Vec<(i64, i64, usize, &'static str)> {
    const MOST: usize = 200;
    let mut longest: Vec<_> = stream.pauses().copied().collect();
    longest.sort_by_key(|wait| std::cmp::Reverse(wait.length()));
    longest.truncate(MOST);
    longest.sort_by_key(|wait| wait.from);
    let told = longest.iter().map(|wait| {
        let place = btu_core::tcp::Limit::ALL.iter().position(|limit| *limit == wait.limit);
        (nanos(wait.from), nanos(wait.to), place.unwrap_or(0), wait.limit.words())
    });
    told.collect()
}

fn nanos(time: Nanos) -> i64 {
    count(time.count())
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
