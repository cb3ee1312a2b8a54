//! What a time-sequence chart of one direction draws, and the same with fewer points.

mod detail;
mod encoded;
mod thin;

use super::Limit;
use super::Mark;
use super::Sent;
use super::Sign;
use super::Stream;
use crate::units::Bytes;
use crate::units::Nanos;

pub use detail::Detail;

/// Columns over time; times are nanoseconds since the connection's start, places bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceData {
    /// Segments.
    pub segments: Vec<SegmentPoint>,
    /// Answers: time, acknowledged, end of the window where that is known.
    pub answers: Vec<(i64, i64, Option<i64>)>,
    /// Selective acknowledgements: time, from, to.
    pub sacks: Vec<(i64, i64, i64)>,
    /// Round trips: when, how long.
    pub trips: Vec<(i64, i64)>,
    /// Congestion windows: when, bytes.
    pub windows: Vec<(i64, i64)>,
    /// Pauses: from, to, place of the limit in its list, its words.
    pub pauses: Vec<(i64, i64, usize, &'static str)>,
    /// Shut windows: from, to.
    pub shut: Vec<(i64, i64)>,
    /// What a letter stands for: when, at which place, what.
    pub signs: Vec<(i64, i64, Sign)>,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPoint {
    /// When.
    pub at: i64,
    /// Its first place.
    pub from: i64,
    /// The place behind it.
    pub to: i64,
    /// What it is.
    pub mark: Mark,
    /// PSH was set.
    pub is_pushed: bool,
    /// Bytes in flight with it.
    pub flight: i64,
}

impl SequenceData {
    /// Of one direction of a connection, with what its sender told of its congestion window.
    pub fn of(stream: &Stream, congestion: &[(Nanos, Bytes)]) -> Self {
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
            windows: (congestion.iter())
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
    pub const fn points_of(stream: &Stream) -> usize {
        let ticks = stream.sent.len() + stream.answers.len() + stream.sacks.len();
        ticks + stream.round_trips.len() + stream.events.len() + stream.zero_windows.len()
    }

    /// The time of the last thing in it.
    pub fn end(&self) -> i64 {
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
        let place = Limit::ALL.iter().position(|limit| *limit == wait.limit);
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
