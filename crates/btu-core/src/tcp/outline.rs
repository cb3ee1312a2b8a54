//! What is told of one direction of a connection, apart from its chart: a few figures of all its packets.

use serde::Deserialize;
use serde::Serialize;

use super::Counts;
use super::Limit;
use super::SequenceData;
use super::Stream;
use crate::units::Nanos;

/// The figures of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// How much of everything.
    pub counts: Counts,
    /// Time from the first to the last segment with payload.
    #[serde(rename = "active_ns")]
    pub active: Nanos,
    /// Most bytes in flight.
    pub flight_peak_bytes: u64,
    /// Smallest and largest window that the receiver advertised; `None` where its shift is not known.
    pub window_bytes: Option<[u64; 2]>,
    /// How often that window was shut.
    pub zero_windows: usize,
    /// Every pause, in order of time.
    pub pauses: Vec<Pause>,
    /// So many points its chart has.
    pub points: usize,
}

/// A time in which nothing moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, since the connection's start.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// How long it was.
    #[serde(rename = "length_ns")]
    pub length: Nanos,
    /// What the sender waited for.
    pub limit: Limit,
}

impl Outline {
    /// Of a direction that was followed.
    pub fn of(stream: &Stream) -> Self {
        let pauses = stream.pauses().map(|wait| Pause {
            from: wait.from,
            length: wait.length(),
            limit: wait.limit,
        });
        Self {
            counts: stream.counts,
            active: stream.active(),
            flight_peak_bytes: stream.flight_peak(),
            window_bytes: stream.window_bytes.filter(|_| stream.window_is_known),
            zero_windows: stream.zero_windows.len(),
            pauses: pauses.collect(),
            points: SequenceData::points_of(stream),
        }
    }

    /// True where payload passed.
    pub const fn has_data(&self) -> bool {
        self.counts.payload_bytes > 0
    }
}
