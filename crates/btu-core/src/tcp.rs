//! A passive analyser of TCP: from captured packets to what each sender did and waited for.
//!
//! [`analyse`] finds the connections of a [`Capture`](crate::capture::Capture) and follows both
//! directions of each: sequence numbers with their wrap-around, options, round trips, kinds of
//! retransmission, windows, waits. It judges nothing: causes are named by
//! [`diagnosis`](crate::diagnosis).

mod connection;
mod follow;
mod headers;
mod mark;
mod outline;
mod payload;
mod ranges;
mod segment;
mod sequence;
mod sign;
#[cfg(test)]
pub(crate) mod simulated;
mod stream;
#[cfg(test)]
mod tests;
mod timer;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::capture::Capture;
use crate::capture::Missing;
use crate::capture::Remark;
use crate::units::Nanos;
use connection::Tracker;
use headers::Unusable;

pub use connection::Connection;
pub use headers::headers_end;
pub use mark::Mark;
pub use outline::Outline;
pub use outline::Pause;
pub use payload::Payload;
pub use payload::payloads;
pub use segment::Endpoint;
pub use segment::Flags;
pub use segment::Options;
pub use segment::Segment;
pub use sequence::Detail;
pub use sequence::SegmentPoint;
pub use sequence::SequenceData;
pub use sign::Event;
pub use sign::Sign;
pub use stream::Answer;
pub use stream::Counts;
pub use stream::Limit;
pub use stream::Offer;
pub use stream::Restart;
pub use stream::RoundTrip;
pub use stream::Sack;
pub use stream::Sent;
pub use stream::Span;
pub use stream::Stream;
pub use stream::Wait;

pub(crate) use stream::total;

/// What a capture holds.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The connections, in order of their first segment.
    pub connections: Vec<Connection>,
    /// What the packets are.
    pub traffic: Traffic,
    /// What the capture lacks.
    pub missing: Missing,
}

/// What the packets of a capture are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// All of them.
    pub packets: u64,
    /// TCP segments.
    pub segments: u64,
    /// Something else.
    pub other: u64,
    /// Later parts of IP packets, which have no TCP header.
    pub fragments: u64,
    /// Cut off or contradictory before their TCP header ends.
    pub damaged: u64,
}

/// Follows every TCP connection of a capture.
pub fn analyse(capture: &Capture<'_>) -> Analysis {
    let mut trackers: Vec<Tracker> = Vec::new();
    let mut places = Places::default();
    let mut traffic = Traffic::default();
    let begin = capture.packets.first().map_or(Nanos::ZERO, |packet| packet.at);
    for packet in &capture.packets {
        traffic.packets += 1;
        let interface = usize::try_from(packet.interface).unwrap_or(usize::MAX);
        let Some(interface) = capture.interfaces.get(interface) else { continue };
        let mut segment = match headers::segment(interface.link_type, packet) {
            Ok(segment) => segment,
            Err(what) => {
                traffic.count(what);
                continue;
            }
        };
        traffic.segments += 1;
        segment.at = begin.saturating_add(packet.at.since(begin).min(LONGEST));
        let key = pair(&segment);
        let known = places.of(key).filter(|place| !trackers[*place].is_other(&segment));
        let place = known.unwrap_or_else(|| {
            trackers.push(Tracker::new(&segment));
            places.insert(key, trackers.len() - 1)
        });
        trackers[place].follow(&segment, packet.comment.and_then(Remark::of));
    }
    let connections = trackers.into_iter().map(Tracker::finish).collect();
    Analysis { connections, traffic, missing: capture.missing.clone() }
}

impl Traffic {
    const fn count(&mut self, unusable: Unusable) {
        match unusable {
            Unusable::Damaged => self.damaged += 1,
            Unusable::Fragment => self.fragments += 1,
            Unusable::Other => self.other += 1,
        }
    }
}

/// Which connection is between two ends. Packets come in trains: most are of the connection before.
#[derive(Default)]
struct Places {
    all: BTreeMap<[Endpoint; 2], usize>,
    last: Option<([Endpoint; 2], usize)>,
}

impl Places {
    fn of(&mut self, ends: [Endpoint; 2]) -> Option<usize> {
        if let Some((_, place)) = self.last.filter(|(last, _)| *last == ends) {
            return Some(place);
        }
        let place = *self.all.get(&ends)?;
        self.last = Some((ends, place));
        Some(place)
    }

    fn insert(&mut self, ends: [Endpoint; 2], place: usize) -> usize {
        self.all.insert(ends, place);
        self.last = Some((ends, place));
        place
    }
}

/// Sums of times stay within their type, whatever a damaged file says: 208 days.
const LONGEST: Nanos = Nanos::new(1 << 54);

/// Both ends, in an order of their own.
#[inline]
fn pair(segment: &Segment) -> [Endpoint; 2] {
    let mut ends = [segment.from, segment.to];
    ends.sort_unstable();
    ends
}

/// A count as a float, for ratios: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "ratios of counts; 53 bits of them are enough")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}
