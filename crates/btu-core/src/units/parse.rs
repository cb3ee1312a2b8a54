//! Text to quantities and back: a number, then a unit that is always written.

use std::fmt;
use std::str::FromStr;

use super::BitRate;
use super::Bytes;
use super::Nanos;
use super::Ratio;

/// Why a text is no quantity. The message names the legal units.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The number does not fit, or is not a whole number of the smallest unit.
    #[error("\"{text}\" is out of range for {quantity}")]
    Range {
        /// What was written.
        text: String,
        /// What was wanted.
        quantity: &'static str,
    },
    /// A number stands alone.
    #[error("\"{text}\" has no unit; write {legal}")]
    NoUnit {
        /// What was written.
        text: String,
        /// The legal units.
        legal: String,
    },
    /// There is no number at the start.
    #[error("\"{text}\" is no {quantity}; write a number and {legal}")]
    NotANumber {
        /// What was written.
        text: String,
        /// What was wanted.
        quantity: &'static str,
        /// The legal units.
        legal: String,
    },
    /// The unit is not one of the quantity's.
    #[error("unknown unit \"{unit}\"; write {legal}")]
    UnknownUnit {
        /// The unit that was written.
        unit: String,
        /// The legal units.
        legal: String,
    },
}

/// Name and size of each unit, smallest first.
pub(super) type Units = &'static [(&'static str, u64)];

pub(super) const BYTE_UNITS: Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

pub(super) const RATE_UNITS: Units =
    &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];

/// Those that times are written in: a plan in its canonical text has no minutes.
pub(super) const TIME_UNITS: Units =
    &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Those that people may write them in.
const READ_TIME_UNITS: Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, "amount of data", BYTE_UNITS).map(Self::new)
    }
}

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, "rate", RATE_UNITS).map(Self::new)
    }
}

impl FromStr for Nanos {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, "time", READ_TIME_UNITS).map(Self::new)
    }
}

impl FromStr for Ratio {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text, "share", "%")?;
        match unit {
            "%" => Ok(Self::new(number / 100.0)),
            "" => Err(UnitError::NoUnit { text: text.to_owned(), legal: "%".to_owned() }),
            _ => Err(UnitError::UnknownUnit { unit: unit.to_owned(), legal: "%".to_owned() }),
        }
    }
}

/// Reads `number unit` as a whole count of the smallest unit.
fn scaled(text: &str, quantity: &'static str, units: Units) -> Result<u64, UnitError> {
    let legal = names(units);
    let (number, unit) = split(text, quantity, &legal)?;
    if unit.is_empty() {
        return Err(UnitError::NoUnit { text: text.to_owned(), legal });
    }
    let Some((_, size)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::UnknownUnit { unit: unit.to_owned(), legal });
    };
    whole(number * super::statistics(*size))
        .ok_or_else(|| UnitError::Range { text: text.to_owned(), quantity })
}

/// Splits `1.5 ms` into its number and its unit.
fn split<'t>(
    text: &'t str,
    quantity: &'static str,
    legal: &str,
) -> Result<(f64, &'t str), UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    match number.parse() {
        Ok(number) => Ok((number, unit.trim_start())),
        Err(_) => {
            Err(UnitError::NotANumber { text: text.to_owned(), quantity, legal: legal.to_owned() })
        }
    }
}

/// The nearest whole number, if `value` is one (to 1 part in 10^9) and fits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked just before"
)]
fn whole(value: f64) -> Option<u64> {
    let nearest = value.round();
    let close = (value - nearest).abs() <= nearest.abs().max(1.0) * 1e-9;
    (close && (0.0..1.8e19).contains(&nearest)).then_some(nearest as u64)
}

/// `B, kB, KiB or MiB`
fn names(units: Units) -> String {
    let all: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

/// Writes `count` in the largest unit that keeps it whole, so that reading it back gives the same.
pub(super) fn write_exact(out: &mut fmt::Formatter<'_>, count: u64, units: Units) -> fmt::Result {
    let unit = units.iter().rev().find(|(_, size)| count >= *size && count.is_multiple_of(*size));
    let (name, size) = unit.or(units.first()).copied().unwrap_or(("", 1));
    write!(out, "{}{name}", count / size)
}

/// Drops the binary noise of a decimal fraction: 0.1 % is `0.1`, not `0.10000000000000002`.
pub(super) fn round_noise(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_refused_with_the_legal_units() {
        let error = "64".parse::<Bytes>().map_err(|e| e.to_string());
        assert_eq!(
            error,
            Err("\"64\" has no unit; write B, kB, KiB, MB, MiB, GB, GiB, TB or TiB".to_owned())
        );
    }

    #[test]
    fn an_unknown_unit_is_named() {
        let error = "10Mbit".parse::<BitRate>().map_err(|e| e.to_string());
        assert_eq!(
            error,
            Err("unknown unit \"Mbit\"; write bit/s, kbit/s, Mbit/s or Gbit/s".to_owned())
        );
    }

    /// Scenarios take them, too; what is written back stays as it was.
    #[test]
    fn minutes_and_hours_are_read_and_written_in_seconds() {
        for (text, seconds) in [("1h", 3600), ("1 min", 60), ("1.5min", 90), ("0.5h", 1800)] {
            assert_eq!(text.parse(), Ok(Nanos::from_secs(seconds)), "{text}");
        }
        assert_eq!(Nanos::from_secs(3600).to_string(), "3600s");
        let error = "1d".parse::<Nanos>().map_err(|e| e.to_string());
        assert_eq!(error, Err("unknown unit \"d\"; write ns, us, ms, s, min or h".to_owned()));
    }

    #[test]
    fn fractions_must_be_whole_in_the_smallest_unit() {
        assert_eq!("0.1ms".parse(), Ok(Nanos::from_micros(100)));
        assert!("0.5ns".parse::<Nanos>().is_err());
        assert!("-1ms".parse::<Nanos>().is_err());
        assert!("1e400s".parse::<Nanos>().is_err());
    }
}
