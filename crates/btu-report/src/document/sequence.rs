//! A time-sequence chart of one direction of a TCP connection, described.

mod thin;

use btu_core::analysis::CongestionWindow;
use btu_core::tcp::Mark;
use btu_core::tcp::Sent;
use btu_core::tcp::Sign;
use btu_core::tcp::Stream;
use btu_core::units::Nanos;
use serde::Serialize;

use super::Table;

pub(crate) use thin::STRETCHES;

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
    /// Segments.
    pub(crate) segments: Vec<SegmentPoint>,
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
    /// What a letter stands for: when, at which place, what.
    pub(crate) signs: Vec<(i64, i64, Sign)>,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentPoint {
    /// When.
    pub(crate) at: i64,
    /// Its first place.
    pub(crate) from: i64,
    /// The place behind it.
    pub(crate) to: i64,
    /// What it is.
    pub(crate) mark: Mark,
    /// PSH was set.
    pub(crate) is_pushed: bool,
    /// Bytes in flight with it.
    pub(crate) flight: i64,
}

impl SequenceData {
    /// Of one direction of a connection.
    pub fn of(stream: &Stream, congestion: &CongestionWindow) -> Self {
        let edge = |edge: i64| stream.window_is_known.then_some(edge);
        Self {
            segments: stream.sent.iter().map(SegmentPoint::of).collect(),
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
            signs: (stream.events.iter())
                .map(|event| (nanos(event.at), event.place, event.sign))
                .collect(),
        }
    }

    /// So many points the chart of a direction has.
    pub(crate) const fn points_of(stream: &Stream) -> usize {
        let ticks = stream.sent.len() + stream.answers.len() + stream.sacks.len();
        ticks + stream.round_trips.len() + stream.events.len() + stream.zero_windows.len()
    }

    /// The time of the last thing in it.
    pub(crate) fn end(&self) -> i64 {
        let segment = self.segments.last().map_or(0, |segment| segment.at);
        segment.max(self.answers.last().map_or(0, |answer| answer.0))
    }
}

impl SegmentPoint {
    fn of(sent: &Sent) -> Self {
        Self {
            at: nanos(sent.at),
            from: sent.start,
            to: sent.end,
            mark: sent.mark,
            is_pushed: sent.is_pushed,
            flight: count(sent.flight),
        }
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
