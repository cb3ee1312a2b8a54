//! Quantities with their units: bytes, bit rates, nanoseconds, ratios.
//!
//! Each quantity is a newtype; the raw number leaves it only at an edge (a system call, a file).
//! Text always carries a unit (`64KiB`, `10Mbit/s`, `5ms`, `1%`); a bare number is refused. In
//! journals the same types are plain numbers, and the key names the unit (`elapsed_ns`).

mod parse;

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::ops::AddAssign;
use std::ops::Mul;
use std::ops::Sub;

use serde::Deserialize;
use serde::Serialize;

pub use parse::UnitError;

/// An amount of data in bytes. Text form: `100B`, `64KiB` (65536 B), `64kB` (64000 B), `4MiB`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[must_use]
pub struct Bytes(u64);

/// A rate in bits per second. Text form: `10Mbit/s`, `1.7Mbit/s`, `10Gbit/s` (SI prefixes).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[must_use]
pub struct BitRate(u64);

/// A span of time, or a point on a monotonic clock, in nanoseconds. Text form: `5ms`, `0.1ms`, `2s`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[must_use]
pub struct Nanos(u64);

/// A dimensionless share, 1.0 being the whole. Text form: `1%`, `0.01%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct Ratio(f64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number of bytes.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// The number of bytes as a buffer length, saturating on 32-bit machines.
    pub fn len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// True for no data at all.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rate at which this amount passes in `time`; `None` for no time.
    pub fn per(self, time: Nanos) -> Option<BitRate> {
        let rate =
            u128::from(self.bits()) * u128::from(NANOS_PER_SECOND) / u128::from(time.0).max(1);
        (time.0 > 0).then(|| BitRate(u64::try_from(rate).unwrap_or(u64::MAX)))
    }

    /// Both amounts together, or the largest one where they are more than that.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, or nothing where `other` is the larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl BitRate {
    /// `rate` bits per second.
    pub const fn new(bit_per_second: u64) -> Self {
        Self(bit_per_second)
    }

    /// Bits per second.
    pub const fn bit_per_second(self) -> u64 {
        self.0
    }

    /// Both rates together, or the largest one where they are more than that.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, or no rate where `other` is the larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Megabits (10^6 bit) per second, the unit of the BTU score.
    pub fn mbps(self) -> f64 {
        statistics(self.0) / 1e6
    }

    /// The time that `amount` takes at this rate, rounded up to a nanosecond; the largest time for no rate.
    pub fn time_for(self, amount: Bytes) -> Nanos {
        self.time_for_bits(amount.bits())
    }

    /// The time that `bits` take at this rate, rounded up to a nanosecond; the largest time for no rate.
    pub fn time_for_bits(self, bits: u64) -> Nanos {
        let Some(rate) = std::num::NonZeroU64::new(self.0) else { return Nanos::MAX };
        let time =
            (u128::from(bits) * u128::from(NANOS_PER_SECOND)).div_ceil(u128::from(rate.get()));
        Nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// The data that passes in `time` at this rate, rounded down.
    pub fn amount_in(self, time: Nanos) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(time.0) / u128::from(8 * NANOS_PER_SECOND);
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Nanos {
    /// The start of the clock, or no time at all.
    pub const ZERO: Self = Self(0);
    /// A time that never comes.
    pub const MAX: Self = Self(u64::MAX);

    /// `count` nanoseconds.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// `count` microseconds.
    pub const fn from_micros(count: u64) -> Self {
        Self(count * 1_000)
    }

    /// `count` milliseconds.
    pub const fn from_millis(count: u64) -> Self {
        Self(count * 1_000_000)
    }

    /// `count` seconds.
    pub const fn from_secs(count: u64) -> Self {
        Self(count * NANOS_PER_SECOND)
    }

    /// The number of nanoseconds.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// True for no time at all.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Seconds, for statistics and display.
    pub fn seconds(self) -> f64 {
        statistics(self.0) / 1e9
    }

    /// Milliseconds, for display.
    pub fn millis(self) -> f64 {
        statistics(self.0) / 1e6
    }

    /// Microseconds, for display.
    pub fn micros(self) -> f64 {
        statistics(self.0) / 1e3
    }

    /// The time since `earlier`; zero where `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, staying at the largest time instead of wrapping.
    pub const fn saturating_add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// So many times `self`, staying at the largest time instead of wrapping.
    pub const fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// The whole.
    pub const ONE: Self = Self(1.0);

    /// A share, 1.0 being the whole.
    pub const fn new(share: f64) -> Self {
        Self(share)
    }

    /// The share, 1.0 being the whole.
    pub const fn share(self) -> f64 {
        self.0
    }

    /// The share in percent.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

impl From<std::time::Duration> for Nanos {
    fn from(span: std::time::Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for std::time::Duration {
    fn from(span: Nanos) -> Self {
        Self::from_nanos(span.0)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(out, self.0, parse::BYTE_UNITS)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(out, self.0, parse::RATE_UNITS)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(out, self.0, parse::TIME_UNITS)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", parse::round_noise(self.percent()))
    }
}

/// The value of a counter as a float; exact up to 2^53, and statistics need no more.
#[expect(
    clippy::cast_precision_loss,
    reason = "statistics on counters; 53 bits of them are enough"
)]
fn statistics(count: u64) -> f64 {
    count as f64
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_bits_over_time() {
        let rate = Bytes::new(4_000_000).per(Nanos::from_secs(1));
        assert_eq!(rate, Some(BitRate::new(32_000_000)));
        assert_eq!(Bytes::new(1).per(Nanos::ZERO), None);
    }

    #[test]
    fn a_full_ethernet_packet_takes_1230_4_us_at_10_mbit() {
        let wire = Bytes::new(1538);
        assert_eq!(BitRate::new(10_000_000).time_for(wire), Nanos::new(1_230_400));
    }

    #[test]
    fn text_round_trips() {
        for text in ["100B", "64KiB", "64kB", "4MiB"] {
            assert_eq!(text.parse::<Bytes>().map(|b| b.to_string()), Ok(text.to_owned()));
        }
        for text in ["1700kbit/s", "10Mbit/s", "1Gbit/s"] {
            assert_eq!(text.parse::<BitRate>().map(|r| r.to_string()), Ok(text.to_owned()));
        }
        for text in ["5ms", "100us", "2s", "30ns"] {
            assert_eq!(text.parse::<Nanos>().map(|t| t.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("0.01%".parse::<Ratio>().map(|r| r.to_string()), Ok("0.01%".to_owned()));
    }
}
