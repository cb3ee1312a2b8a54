//! Arrival stamps on the monotonic clock.
//!
//! The kernel stamps packets with the wall clock, and everything else here runs on the monotonic
//! one. Their offset is read between two monotonic readings; the tightest pair of several wins.

use btu_core::units::Nanos;
use btu_sys::clock;

/// The offset between the two clocks, renewed now and then.
#[derive(Debug)]
pub(super) struct StampClock {
    /// Wall clock minus monotonic clock.
    offset: i64,
    renewed: Nanos,
    steps: u64,
}

/// One reading of the wall clock between two of the monotonic one, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Reading {
    before: u64,
    wall: u64,
    after: u64,
}

impl StampClock {
    pub(super) fn new() -> Self {
        let best = tightest((0..50).map(|_| Reading::take()));
        Self { offset: best.offset(), renewed: Nanos::new(best.after), steps: 0 }
    }

    /// Reads the offset again if the last time is [`RENEWAL`] ago.
    pub(super) fn keep(&mut self, now: Nanos) {
        if now.since(self.renewed) >= RENEWAL {
            self.renewed = now;
            self.renew(tightest((0..5).map(|_| Reading::take())));
        }
    }

    /// A reading that was interrupted says nothing; a large jump is a step of the wall clock.
    fn renew(&mut self, reading: Reading) {
        if reading.width() > WIDEST {
            return;
        }
        let offset = reading.offset();
        if offset.abs_diff(self.offset) > STEP {
            self.steps += 1;
        }
        self.offset = offset;
    }

    /// The stamp on the monotonic clock, never in the future.
    pub(super) fn monotonic(&self, wall_ns: u64, now: Nanos) -> Nanos {
        let stamp = i64::try_from(wall_ns).unwrap_or(i64::MAX).saturating_sub(self.offset);
        Nanos::new(u64::try_from(stamp).unwrap_or_default()).min(now)
    }

    /// Wall clock minus monotonic clock, in nanoseconds.
    pub(super) fn offset(&self) -> i64 {
        self.offset
    }

    /// Steps of the wall clock since the start.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }
}

impl Reading {
    fn take() -> Self {
        let before = clock::monotonic_ns();
        let wall = clock::realtime_ns();
        Self { before, wall, after: clock::monotonic_ns() }
    }

    fn width(self) -> u64 {
        self.after.saturating_sub(self.before)
    }

    fn offset(self) -> i64 {
        let middle = self.before + self.width() / 2;
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        signed(self.wall) - signed(middle)
    }
}

/// The reading with the least time between its ends.
fn tightest(readings: impl Iterator<Item = Reading>) -> Reading {
    readings.min_by_key(|reading| reading.width()).unwrap_or_else(Reading::take)
}

const RENEWAL: Nanos = Nanos::from_millis(100);
/// Nanoseconds: more is a step and no drift.
const STEP: u64 = 50_000;
/// Nanoseconds: a reading that took longer was interrupted.
const WIDEST: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(offset: i64) -> StampClock {
        StampClock { offset, renewed: Nanos::ZERO, steps: 0 }
    }

    fn reading(offset: u64, width: u64) -> Reading {
        Reading { before: 1000, wall: 1000 + width / 2 + offset, after: 1000 + width }
    }

    #[test]
    fn drift_is_followed_and_a_step_is_counted() {
        let mut clock = clock(1_000_000);
        clock.renew(reading(1_040_000, 100));
        assert_eq!((clock.offset, clock.steps()), (1_040_000, 0));
        clock.renew(reading(1_090_001, 100));
        assert_eq!((clock.offset, clock.steps()), (1_090_001, 1));
    }

    #[test]
    fn an_interrupted_reading_is_ignored() {
        let mut clock = clock(1_000_000);
        clock.renew(reading(9_000_000, 30_000));
        assert_eq!((clock.offset, clock.steps()), (1_000_000, 0));
    }

    #[test]
    fn a_stamp_is_translated_and_never_in_the_future() {
        let clock = clock(1_000_000);
        assert_eq!(clock.monotonic(1_005_000, Nanos::new(9000)), Nanos::new(5000));
        assert_eq!(clock.monotonic(1_005_000, Nanos::new(4000)), Nanos::new(4000));
        assert_eq!(clock.monotonic(7, Nanos::new(4000)), Nanos::ZERO);
    }

    #[test]
    fn the_tightest_reading_wins() {
        let all = [reading(5, 900), reading(7, 80), reading(9, 100)];
        assert_eq!(tightest(all.into_iter()).offset(), 7);
    }
}
