//! How far the clock of another host is ahead of ours, and how well that is known.
//!
//! Somebody asks for the other clock and notes his own before and after: whatever the two ways took,
//! the reading was made in between. So each reading bounds the offset from both sides, and no delay,
//! however uneven, makes that wrong: a slow one only says little. Readings before and after a
//! measurement are joined by a line, since quartz drifts steadily over seconds; what neither end of
//! that line can exclude is the bound.

use serde::Deserialize;
use serde::Serialize;

use super::trace::Arrived;
use super::trace::Read;
use crate::role::Role;
use crate::units::Nanos;

/// One reading of the other clock, between two of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Ours, before it was asked for.
    pub asked: Nanos,
    /// The other clock.
    pub told: Nanos,
    /// Ours, once it was there.
    pub heard: Nanos,
}

/// What several readings close together say: the other clock is ahead by something in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// When, on our clock.
    pub at: Nanos,
    low: i64,
    high: i64,
}

/// The offset over a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    before: Offset,
    after: Offset,
}

/// Why the other clock cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// No reading.
    #[error("the clock of the other host was not read")]
    Unread,
    /// Readings that no steady clock can give.
    #[error("the clocks of the two hosts do not run evenly: they came apart by {0} us or more")]
    Uneven(u64),
}

/// The clock of another host in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockSample {
    /// Whose it is.
    pub host: Role,
    /// How far it was ahead at the start; negative where it was behind.
    pub ahead_ns: i64,
    /// How much faster it ran, in millionths.
    pub drift_ppm: f64,
    /// How far the truth may be from that, at any time of the run.
    pub bound_ns: Nanos,
    /// The fastest reading: there and back.
    pub least_round_trip_ns: Nanos,
    /// Readings.
    pub readings: u32,
    /// Why the two clocks cannot be compared; then the figures above say nothing.
    pub reason: Option<String>,
}

impl ClockSample {
    /// How far it was ahead at the start, seconds.
    pub fn ahead_s(&self) -> f64 {
        wide(self.ahead_ns) / 1e9
    }
}

impl Reading {
    /// How long it took, there and back.
    pub const fn round_trip(&self) -> Nanos {
        self.heard.since(self.asked)
    }
}

impl Offset {
    /// What all readings allow together, at the time of the fastest.
    ///
    /// # Errors
    /// There is none, or they contradict each other.
    pub fn of(readings: &[Reading]) -> Result<Self, ClockError> {
        let fastest = readings.iter().min_by_key(|reading| reading.round_trip());
        let fastest = fastest.ok_or(ClockError::Unread)?;
        let at = fastest.asked.saturating_add(Nanos::new(fastest.round_trip().count() / 2));
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for reading in readings {
            // Between that time and this reading the clocks may have come apart by so much.
            let apart = reading.heard.since(at).max(at.since(reading.asked));
            let apart = signed(apart.count() / FASTEST_DRIFT).saturating_add(1);
            let told = signed(reading.told.count());
            low = low.max(told - signed(reading.heard.count()) - apart);
            high = high.min(told - signed(reading.asked.count()) + apart);
        }
        if low > high {
            return Err(ClockError::Uneven(low.abs_diff(high) / 1000));
        }
        Ok(Self { at, low, high })
    }

    /// How far the other clock is ahead.
    pub const fn ahead(&self) -> i64 {
        self.low + (self.high - self.low) / 2
    }

    /// How far the truth may be from that.
    pub const fn bound(&self) -> Nanos {
        Nanos::new(self.high.abs_diff(self.low).div_ceil(2))
    }

    /// How far the truth may be from [`Offset::ahead`] at any time until `after`, if the other clock runs steadily.
    pub fn bound_until(&self, after: &Self) -> Nanos {
        let moved = Nanos::new(after.ahead().abs_diff(self.ahead()));
        self.bound().max(moved.saturating_add(after.bound()))
    }

    /// What the other clock says when ours says `here`, as far as is known now.
    pub fn there(&self, here: Nanos) -> Nanos {
        Nanos::new(here.count().saturating_add_signed(self.ahead()))
    }
}

impl Line {
    /// From readings before to readings after.
    ///
    /// # Errors
    /// No steady drift leads from one to the other.
    pub fn new(before: Offset, after: Offset) -> Result<Self, ClockError> {
        let most = signed(after.at.since(before.at).count() / FASTEST_DRIFT).saturating_add(1);
        let least = (after.low - before.high).max(before.low - after.high);
        if least > most {
            return Err(ClockError::Uneven(least.unsigned_abs() / 1000));
        }
        Ok(Self { before, after })
    }

    /// How far the other clock is ahead at a time of ours.
    pub fn ahead(&self, at: Nanos) -> i64 {
        let (from, to) = (self.before.ahead(), self.after.ahead());
        from + rounded(self.share(at) * wide(to - from))
    }

    /// How much faster it runs, in millionths.
    pub fn drift_ppm(&self) -> f64 {
        let span = wide(signed(self.after.at.since(self.before.at).count()));
        let apart = wide(self.after.ahead() - self.before.ahead());
        if span > 0.0 { apart / span * 1e6 } else { 0.0 }
    }

    /// How far the truth may be from [`Line::ahead`] between the two: a straight line within both ends
    /// is nowhere further away than at the worse of them.
    pub fn bound(&self) -> Nanos {
        self.before.bound().max(self.after.bound())
    }

    fn share(&self, at: Nanos) -> f64 {
        let span = wide(signed(self.after.at.since(self.before.at).count()));
        let since = wide(signed(at.count()) - signed(self.before.at.count()));
        if span > 0.0 { since / span } else { 0.0 }
    }
}

/// Turns times since a start there into times since the same start here, or the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shift {
    /// What is added to a time at the start.
    at_start_ns: i64,
    /// What is added for every nanosecond since.
    slope: f64,
}

impl Shift {
    /// For times of the other host since its clock said `there`, which was meant to be `here` on ours.
    pub fn to_here(line: &Line, here: Nanos, there: Nanos) -> Self {
        let meant = signed(there.count()) - signed(here.count());
        Self { at_start_ns: meant - line.ahead(here), slope: -line.drift_ppm() / 1e6 }
    }

    /// For times of ours since `here`, as the other host counts them since `there`.
    pub fn to_there(line: &Line, here: Nanos, there: Nanos) -> Self {
        let Self { at_start_ns, slope } = Self::to_here(line, here, there);
        Self { at_start_ns: -at_start_ns, slope: -slope }
    }

    /// A time on the other clock; what came before the start is at the start.
    pub fn of(&self, at: Nanos) -> Nanos {
        let drift = rounded(self.slope * wide(signed(at.count())));
        Nanos::new(at.count().saturating_add_signed(self.at_start_ns.saturating_add(drift)))
    }

    /// The reads of a flow that began `start` after the job.
    pub fn reads(&self, reads: &mut [Read], start: Nanos) {
        for read in reads {
            read.at = self.within(read.at, start);
        }
    }

    /// The datagrams of a flow that began `start` after the job.
    pub fn arrivals(&self, arrived: &mut [Arrived], start: Nanos) {
        for one in arrived {
            one.at = self.within(one.at, start);
        }
    }

    fn within(&self, at: Nanos, start: Nanos) -> Nanos {
        self.of(at.saturating_add(start)).since(start)
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "spans of a run, far below 2^53")]
fn wide(count: i64) -> f64 {
    count as f64
}

#[expect(clippy::cast_possible_truncation, reason = "spans of a run, far below 2^53")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// A kernel slews a clock by 500 millionths at the most (`adjtimex(2)`), two clocks come apart by twice
/// that: one nanosecond in so many.
const FASTEST_DRIFT: u64 = 1000;

#[cfg(test)]
mod tests;
