//! Trains of independent gaps and sizes.

use super::Arrival;
use super::Direction;
use super::Open;
use crate::traffic::chance::Stream;
use crate::traffic::chance::Streams;
use crate::traffic::law::Law;
use crate::traffic::quantity::whole;
use crate::units::Bytes;
use crate::units::Nanos;

/// A gap, then a message: both drawn anew each time.
#[derive(Debug)]
pub(in crate::traffic) struct Renewal {
    gap: (Law, Stream),
    size: (Law, Stream),
    direction: Direction,
}

impl Renewal {
    pub(in crate::traffic) fn new(
        streams: &Streams,
        direction: Direction,
        gap: Law,
        size: Law,
    ) -> Self {
        let way = match direction {
            Direction::Forward => "down",
            Direction::Backward => "up",
        };
        let stream = |what: &str| streams.stream(&format!("{way} {what}"));
        Self { gap: (gap, stream("gap")), size: (size, stream("size")), direction }
    }
}

impl Open for Renewal {
    fn next(&mut self) -> Option<Arrival> {
        let gap = Nanos::new(whole(self.gap.0.sample(&mut self.gap.1)));
        let bytes = Bytes::new(whole(self.size.0.sample(&mut self.size.1)).max(1));
        Some(Arrival { gap, bytes, flow: 0, direction: self.direction })
    }
}
