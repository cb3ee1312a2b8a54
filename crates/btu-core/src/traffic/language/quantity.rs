//! What a value of a scenario measures, its units, and the two rules for numbers without one.

use std::fmt::Write as _;

/// What a value measures. Values are kept in the base unit: bytes, nanoseconds, bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// An amount of data, in bytes.
    Bytes,
    /// A whole number.
    Count,
    /// A plain number, or a share.
    Number,
    /// A rate, in bits per second.
    Rate,
    /// A span of time, in nanoseconds.
    Time,
}

/// What a number without a unit means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Nothing: sizes, times and rates need a unit. For `.btu` and `.toml`.
    #[default]
    Btu,
    /// Bytes for sizes, microseconds for periods, seconds for durations. For `.ns`.
    NetSpec,
}

/// Name and size of each unit, smallest first.
type Units = &'static [(&'static str, f64)];

const BYTES: Units = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1_048_576.0),
    ("GB", 1e9),
    ("GiB", 1_073_741_824.0),
];
const RATES: Units = &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
const TIMES: Units =
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12)];
const SHARES: Units = &[("%", 0.01)];

impl Quantity {
    /// The legal units, smallest first; none for counts.
    const fn units(self) -> Units {
        match self {
            Self::Bytes => BYTES,
            Self::Count => &[],
            Self::Number => SHARES,
            Self::Rate => RATES,
            Self::Time => TIMES,
        }
    }

    /// True where a number without a unit says nothing.
    const fn needs_unit(self) -> bool {
        matches!(self, Self::Bytes | Self::Rate | Self::Time)
    }

    /// What one unit of a logarithm or of a shape is, where none is written: 1 B, 1 s, 1 bit/s.
    pub(in crate::traffic) const fn natural(self) -> f64 {
        if matches!(self, Self::Time) { 1e9 } else { 1.0 }
    }

    /// The base unit after a number, and the largest mean that a value may have, for people.
    pub(in crate::traffic) const fn bound_of_means(self) -> (&'static str, &'static str) {
        match self {
            Self::Bytes => (" B", "16000000 GB"),
            Self::Count | Self::Number => ("", "16000000000000000"),
            Self::Rate => (" bit/s", "16000000 Gbit/s"),
            Self::Time => (" ns", "16000000 s"),
        }
    }

    /// The legal units for people: `B, kB, KiB ...`.
    fn legal(self) -> String {
        let names: Vec<&str> = self.units().iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// A written number in the base unit. `bare` is what a number without a unit counts, if legal.
    pub(in crate::traffic) fn base(
        self,
        value: f64,
        unit: &str,
        bare: Option<f64>,
    ) -> Result<f64, String> {
        if unit.is_empty() {
            return match bare {
                Some(size) => Ok(snap(value * size)),
                None if self.needs_unit() => {
                    Err(format!("{value} has no unit; write one of {}", self.legal()))
                }
                None => Ok(value),
            };
        }
        match self.units().iter().find(|(name, _)| *name == unit) {
            Some((_, size)) => Ok(snap(value * size)),
            None if self.units().is_empty() => {
                Err(format!("\"{unit}\" after {value}: a count has no unit"))
            }
            None => Err(format!("unknown unit \"{unit}\"; write one of {}", self.legal())),
        }
    }

    /// Writes a value so that reading it gives the same number again.
    pub(in crate::traffic) fn write(self, value: f64) -> String {
        if !self.needs_unit() {
            return value.to_string();
        }
        let fits = |size: f64| value / size >= 1.0 && (value / size).fract() == 0.0;
        let whole = self.units().iter().rev().find(|(name, size)| fits(*size) && exact(name));
        let (name, size) = whole.or(self.units().first()).copied().unwrap_or(("", 1.0));
        let mut out = String::new();
        let _ = write!(out, "{} {name}", value / size);
        out
    }
}

/// Sizes are written in B, KiB, MiB; times never in minutes.
fn exact(name: &str) -> bool {
    !matches!(name, "kB" | "MB" | "GB" | "min" | "h")
}

/// Drops the binary noise of a decimal fraction: 0.1 ms is 100000 ns.
pub(in crate::traffic) fn snap(value: f64) -> f64 {
    let nearest = value.round();
    if (value - nearest).abs() <= nearest.abs() * 1e-12 { nearest } else { value }
}

/// The nearest whole number, within the range of counters.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "negative values are zero, larger ones saturate, no number is zero"
)]
pub(in crate::traffic) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A counter as a float, exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "sizes and times of traffic are below 2^53")]
pub(in crate::traffic) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_need_a_unit_unless_the_dialect_gives_one() {
        assert_eq!(Quantity::Time.base(80_000.0, "", Some(1e3)), Ok(8e7));
        assert_eq!(Quantity::Time.base(0.1, "ms", None), Ok(1e5));
        assert!(Quantity::Time.base(80.0, "", None).unwrap_err().contains("ns, us, ms, s"));
        assert!(Quantity::Bytes.base(8.0, "ms", None).unwrap_err().contains("unknown unit"));
        assert!(Quantity::Count.base(8.0, "B", None).is_err());
    }

    #[test]
    fn what_is_written_reads_back() {
        for (value, text) in [(12_500.0, "12500 B"), (65_536.0, "64 KiB"), (0.5, "0.5 B")] {
            assert_eq!(Quantity::Bytes.write(value), text);
        }
        for (value, text) in [(8e7, "80 ms"), (1e10, "10 s"), (1.2e11, "120 s"), (0.0, "0 ns")] {
            assert_eq!(Quantity::Time.write(value), text);
        }
    }
}
