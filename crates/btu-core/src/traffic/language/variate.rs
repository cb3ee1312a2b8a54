//! A value of a scenario: a distribution with the quantity that it measures.

use std::fmt;

use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use super::quantity::Quantity;
use super::quantity::whole;
use crate::traffic::chance::Stream;
use crate::traffic::law::Interpolation;
use crate::traffic::law::Kind;
use crate::traffic::law::Law;
use crate::traffic::law::Measures;

/// A value that is drawn anew at each use, such as `exp(256258 B)`; a number is a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Variate {
    pub(in crate::traffic) law: Law,
    pub(in crate::traffic) quantity: Quantity,
}

impl Variate {
    /// A distribution of this quantity, in its base unit.
    pub const fn new(law: Law, quantity: Quantity) -> Self {
        Self { law, quantity }
    }

    /// A constant in the base unit of the quantity.
    pub fn constant(value: f64, quantity: Quantity) -> Self {
        Self::new(Law::of("const", [value, 0.0, 0.0]), quantity)
    }

    /// The distribution, in the base unit of the quantity.
    pub const fn law(&self) -> &Law {
        &self.law
    }

    /// What it measures.
    pub const fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// The value, where it is a constant.
    pub fn fixed(&self) -> Option<f64> {
        self.law.fixed()
    }

    /// The next size: whole bytes, at least 1.
    pub fn bytes(&self, stream: &mut Stream) -> Bytes {
        Bytes::new(whole(self.law.sample(stream)).max(1))
    }

    /// The next time, to the nanosecond; what is negative is no time.
    pub fn time(&self, stream: &mut Stream) -> Nanos {
        Nanos::new(whole(self.law.sample(stream)))
    }

    /// The next count: a whole number.
    pub fn count(&self, stream: &mut Stream) -> u64 {
        whole(self.law.sample(stream))
    }

    /// The next plain number.
    pub fn number(&self, stream: &mut Stream) -> f64 {
        self.law.sample(stream)
    }

    /// The mean as a time.
    pub fn mean_time(&self) -> Nanos {
        Nanos::new(whole(self.mean()))
    }

    /// The mean as an amount of data.
    pub fn mean_bytes(&self) -> Bytes {
        Bytes::new(whole(self.mean()))
    }

    /// The mean as a rate.
    pub fn mean_rate(&self) -> BitRate {
        BitRate::new(whole(self.mean()))
    }

    /// The mean in the base unit. Every variate that was parsed has one.
    pub fn mean(&self) -> f64 {
        self.law.mean().unwrap_or(f64::INFINITY)
    }
}

impl fmt::Display for Variate {
    /// The canonical text, which reads back as an equal value.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fixed() {
            Some(value) => out.write_str(&self.quantity.write(value)),
            None => write_law(out, &self.law, self.quantity),
        }
    }
}

fn write_law(out: &mut fmt::Formatter<'_>, law: &Law, quantity: Quantity) -> fmt::Result {
    match law {
        Law::Plain(kind, values) => write_plain(out, kind, *values, quantity),
        Law::Table(table) => {
            let how = match table.interpolation {
                Interpolation::Linear => "linear",
                Interpolation::Step => "step",
            };
            write!(out, "table(\"{}\", {how})", table.name)
        }
        Law::Mix(parts) => {
            out.write_str("mix(")?;
            for (index, (weight, law)) in parts.iter().enumerate() {
                write!(out, "{}{weight}: ", if index == 0 { "" } else { ", " })?;
                write_law(out, law, quantity)?;
            }
            out.write_str(")")
        }
        Law::Clamp(law, low, high) => write_bounded(out, "clamp", (law, *low, *high), quantity),
        Law::Truncate(law, low, high) => {
            write_bounded(out, "truncate", (law, *low, *high), quantity)
        }
    }
}

fn write_bounded(
    out: &mut fmt::Formatter<'_>,
    name: &str,
    (law, low, high): (&Law, Option<f64>, Option<f64>),
    quantity: Quantity,
) -> fmt::Result {
    write!(out, "{name}(")?;
    write_law(out, law, quantity)?;
    for (key, bound) in [("lo", low), ("hi", high)] {
        if let Some(bound) = bound {
            write!(out, ", {key}={}", quantity.write(bound))?;
        }
    }
    out.write_str(")")
}

fn write_plain(
    out: &mut fmt::Formatter<'_>,
    kind: &Kind,
    values: [f64; 3],
    quantity: Quantity,
) -> fmt::Result {
    let named = kind.parameters.iter().any(|p| p.measures == Measures::Unit);
    write!(out, "{}(", kind.name)?;
    let mut comma = "";
    for (value, parameter) in values.iter().zip(kind.parameters) {
        let text = match parameter.measures {
            Measures::Shape => value.to_string(),
            Measures::Unit if value.to_bits() == quantity.natural().to_bits() => continue,
            Measures::Same | Measures::Unit => quantity.write(*value),
        };
        let key = if named { format!("{}=", parameter.name) } else { String::new() };
        write!(out, "{comma}{key}{text}")?;
        comma = ", ";
    }
    out.write_str(")")
}
