//! The train of `full`, `burst` and `burstq`: blocks at periods, in groups.

use super::Arrival;
use super::Direction;
use super::Open;
use crate::traffic::chance::Stream;
use crate::traffic::chance::Streams;
use crate::traffic::language::call::Call;
use crate::traffic::language::variate::Variate;
use crate::units::Nanos;

/// Groups of `repeats` blocks; the first group at the start, each further one a period later.
#[derive(Debug)]
pub(in crate::traffic) struct Bursts {
    size: (Variate, Stream),
    period: (Variate, Stream),
    repeats: (Variate, Stream),
    left: u64,
    started: bool,
}

impl Bursts {
    pub(in crate::traffic) fn new(call: &Call, streams: &Streams) -> Self {
        let drawn = |name: &str| (call.variate(name), streams.stream(name));
        let (size, period, repeats) = (drawn("blocksize"), drawn("period"), drawn("repeats"));
        Self { size, period, repeats, left: 0, started: false }
    }

    /// The gap before the next group, and how many blocks it has.
    fn group(&mut self) -> Nanos {
        let (period, stream) = &mut self.period;
        let gap = if self.started { period.time(stream) } else { Nanos::ZERO };
        self.started = true;
        let (repeats, stream) = &mut self.repeats;
        self.left = repeats.count(stream).max(1);
        gap
    }
}

impl Open for Bursts {
    fn next(&mut self) -> Option<Arrival> {
        let gap = if self.left == 0 { self.group() } else { Nanos::ZERO };
        self.left -= 1;
        let (size, stream) = &mut self.size;
        let bytes = size.bytes(stream);
        Some(Arrival { gap, bytes, flow: 0, direction: Direction::Forward })
    }
}
