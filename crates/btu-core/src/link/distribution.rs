//! Distributions of a time, sampled by one number: the quantile of a draw.

use std::fmt;

use statrs::distribution::ContinuousCDF as _;
use statrs::distribution::Normal;

use crate::units::Nanos;

use super::chance::unit_interval;

/// A distribution with its parameters, such as `normal(10ms,2ms)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distribution {
    kind: &'static Kind,
    parameters: [f64; 2],
}

/// Why a text is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DistributionError {
    #[error("{name} takes {wanted} parameters: {form}")]
    Count { name: &'static str, wanted: usize, form: &'static str },
    #[error("\"{text}\": {cause}; write {form}")]
    Parameter { text: String, cause: String, form: &'static str },
    #[error("{form}: {rule}")]
    Rule { form: &'static str, rule: &'static str },
    #[error("\"{text}\" is no distribution; write {legal}")]
    Unknown { text: String, legal: String },
}

/// An entry of [`DISTRIBUTIONS`].
#[derive(Debug)]
struct Kind {
    name: &'static str,
    form: &'static str,
    parameters: &'static [Parameter],
    /// What the parameters must fulfil, with its sentence.
    rule: (fn([f64; 2]) -> bool, &'static str),
    /// The value below which a share `u` of all values lies.
    quantile: fn(f64, [f64; 2]) -> f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    Number,
    Time,
}

use Parameter::Number;
use Parameter::Time;

/// Times in nanoseconds. Where a distribution goes below zero, no time is meant.
static DISTRIBUTIONS: &[Kind] = &[
    Kind {
        name: "const",
        form: "const(TIME)",
        parameters: &[Time],
        rule: ANY,
        quantile: |_, [value, _]| value,
    },
    Kind {
        name: "uniform",
        form: "uniform(FROM,TO)",
        parameters: &[Time, Time],
        rule: (|[from, to]| from <= to, "FROM must be at most TO"),
        quantile: |u, [from, to]| from + (to - from) * u,
    },
    Kind {
        name: "normal",
        form: "normal(MEAN,SD)",
        parameters: &[Time, Time],
        rule: ANY,
        quantile: |u, [mean, sd]| mean + sd * standard_normal(u),
    },
    Kind {
        name: "exp",
        form: "exp(MEAN)",
        parameters: &[Time],
        rule: ANY,
        quantile: |u, [mean, _]| -mean * (-u).ln_1p(),
    },
    Kind {
        name: "lognormal",
        form: "lognormal(MEAN,SD)",
        parameters: &[Time, Time],
        rule: (|[mean, _]| mean > 0.0, "MEAN must be above 0s"),
        quantile: lognormal,
    },
    Kind {
        name: "pareto",
        form: "pareto(LEAST,ALPHA)",
        parameters: &[Time, Number],
        rule: (|[_, alpha]| alpha > 1.0, "ALPHA must be above 1, else there is no mean"),
        quantile: |u, [least, alpha]| least * (1.0 - u).powf(-1.0 / alpha),
    },
    Kind {
        name: "weibull",
        form: "weibull(SCALE,SHAPE)",
        parameters: &[Time, Number],
        rule: ANY,
        quantile: |u, [scale, shape]| scale * (-(-u).ln_1p()).powf(1.0 / shape),
    },
    Kind {
        name: "laplace",
        form: "laplace(MEAN,SCALE)",
        parameters: &[Time, Time],
        rule: ANY,
        quantile: |u, [mean, scale]| {
            if u < 0.5 {
                mean + scale * (2.0 * u).ln()
            } else {
                mean - scale * (2.0 - 2.0 * u).ln()
            }
        },
    },
];

const ANY: (fn([f64; 2]) -> bool, &str) = (|_| true, "");

/// Longer than any path; the tails of some distributions have no end.
const LONGEST: Nanos = Nanos::from_secs(3600);

impl Distribution {
    /// The value that belongs to a draw, between zero and an hour.
    pub(super) fn sample(&self, draw: u64) -> Nanos {
        self.at(unit_interval(draw))
    }

    /// The value below which this share of all values lies, between zero and an hour.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and an hour"
    )]
    pub(super) fn at(&self, share: f64) -> Nanos {
        let value = (self.kind.quantile)(share, self.parameters);
        Nanos::new(value.round().clamp(0.0, nanoseconds(LONGEST)) as u64)
    }
}

impl std::str::FromStr for Distribution {
    type Err = DistributionError;

    fn from_str(text: &str) -> Result<Self, DistributionError> {
        let (name, rest) = text.split_once('(').unwrap_or((text, ""));
        let kind = DISTRIBUTIONS.iter().find(|kind| kind.name == name.trim());
        let (Some(kind), Some(inner)) = (kind, rest.strip_suffix(')')) else {
            return Err(DistributionError::Unknown { text: text.to_owned(), legal: legal() });
        };
        let texts: Vec<&str> = inner.split(',').map(str::trim).collect();
        if texts.len() != kind.parameters.len() {
            let wanted = kind.parameters.len();
            return Err(DistributionError::Count { name: kind.name, wanted, form: kind.form });
        }
        let mut parameters = [0.0; 2];
        for ((place, parameter), text) in parameters.iter_mut().zip(kind.parameters).zip(texts) {
            *place = parameter.parse(text).map_err(|cause| DistributionError::Parameter {
                text: text.to_owned(),
                cause,
                form: kind.form,
            })?;
        }
        let (legal, rule) = kind.rule;
        if !legal(parameters) {
            return Err(DistributionError::Rule { form: kind.form, rule });
        }
        Ok(Self { kind, parameters })
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.kind.name)?;
        for (index, (value, parameter)) in
            self.parameters.iter().zip(self.kind.parameters).enumerate()
        {
            let comma = if index == 0 { "" } else { "," };
            match parameter {
                Number => write!(out, "{comma}{value}")?,
                Time => write!(out, "{comma}{}", time(*value))?,
            }
        }
        out.write_str(")")
    }
}

impl Parameter {
    fn parse(self, text: &str) -> Result<f64, String> {
        match self {
            Number => text
                .parse()
                .ok()
                .filter(|number: &f64| (0.01..=100.0).contains(number))
                .ok_or_else(|| "not a number from 0.01 to 100".to_owned()),
            Time => match text.parse() {
                Ok(time) if time <= LONGEST => Ok(nanoseconds(time)),
                Ok(_) => Err("longer than 1 hour".to_owned()),
                Err(cause) => Err(cause.to_string()),
            },
        }
    }
}

/// All forms, for help and errors.
fn legal() -> String {
    DISTRIBUTIONS.iter().map(|kind| kind.form).collect::<Vec<_>>().join(", ")
}

fn standard_normal(u: f64) -> f64 {
    Normal::standard().inverse_cdf(u)
}

/// With mean and standard deviation of the values themselves, not of their logarithms.
fn lognormal(u: f64, [mean, sd]: [f64; 2]) -> f64 {
    let variance = (sd / mean).powi(2).ln_1p();
    (mean.ln() - variance / 2.0 + variance.sqrt() * standard_normal(u)).exp()
}

#[expect(clippy::cast_precision_loss, reason = "an hour in nanoseconds is exact in a float")]
fn nanoseconds(time: Nanos) -> f64 {
    time.count() as f64
}

/// The parsed time again.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "came from a whole number of nanoseconds"
)]
fn time(nanoseconds: f64) -> Nanos {
    Nanos::new(nanoseconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(text: &str) -> Distribution {
        text.parse().expect("a legal distribution")
    }

    #[test]
    fn the_mean_of_many_quantiles_is_the_mean() {
        for (text, mean_ms) in [
            ("const(10ms)", 10.0),
            ("uniform(10ms,30ms)", 20.0),
            ("normal(50ms,5ms)", 50.0),
            ("exp(10ms)", 10.0),
            ("lognormal(10ms,5ms)", 10.0),
            ("pareto(10ms,3)", 15.0),
            ("weibull(10ms,2)", 8.862_269),
            ("laplace(50ms,3ms)", 50.0),
        ] {
            let distribution = distribution(text);
            let steps = 100_000_u64;
            let step = u64::MAX / steps;
            let sum: Nanos = (0..steps).map(|i| distribution.sample(i * step + step / 2)).sum();
            let mean = sum.millis() / 100_000.0;
            assert!((mean / mean_ms - 1.0).abs() < 2e-3, "{text}: {mean} ms");
        }
    }

    #[test]
    fn a_tail_below_zero_is_no_time_and_one_without_end_is_an_hour() {
        assert_eq!(distribution("normal(1ms,10ms)").sample(0), Nanos::ZERO);
        assert_eq!(distribution("pareto(1s,1.01)").sample(u64::MAX), LONGEST);
    }

    #[test]
    fn errors_show_the_form() {
        let message = |text: &str| text.parse::<Distribution>().expect_err("illegal").to_string();
        assert_eq!(message("exp(1ms,2ms)"), "exp takes 1 parameters: exp(MEAN)");
        assert!(
            message("gauss(1ms)").starts_with("\"gauss(1ms)\" is no distribution; write const")
        );
        assert!(message("pareto(1ms,1)").contains("ALPHA must be above 1"));
        assert!(message("normal(5,1ms)").contains("has no unit"));
        assert!(message("uniform(2ms,1ms)").contains("FROM must be at most TO"));
    }
}
