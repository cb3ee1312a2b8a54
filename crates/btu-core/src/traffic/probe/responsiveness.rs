//! Round trips while a path fills (draft-ietf-ippm-responsiveness).

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::analysis::responsiveness::AVERAGED;
use crate::traffic::analysis::responsiveness::rpm;
use crate::traffic::analysis::responsiveness::trimmed_mean;
use crate::units::Nanos;

/// Round trips while a path fills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponsivenessSample {
    /// Probes before there was any load.
    pub idle: Vec<ForeignProbe>,
    /// The intervals, each with one connection more.
    pub intervals: Vec<WorkingInterval>,
    /// The interval from which on goodput had settled.
    pub goodput_settled: Option<u32>,
    /// The interval from which on responsiveness had settled too.
    pub settled: Option<u32>,
    /// Connections and probes that broke: without them the result is too good.
    pub broken: u32,
}

/// One interval under load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingInterval {
    /// Connections that carry load.
    pub connections: u32,
    /// Payload that was answered for, bit/s.
    pub goodput_bit_s: f64,
    /// Probes on connections of their own.
    pub foreign: Vec<ForeignProbe>,
    /// Requests on connections that carry load, to their answer.
    pub own_ns: Vec<Nanos>,
}

/// A probe on a connection of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignProbe {
    /// Until the connection was open.
    pub connect_ns: Nanos,
    /// From the request to its answer of one byte.
    pub exchange_ns: Nanos,
}

/// What round trips under load say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponsivenessFigures {
    /// Round trips per minute under load: the mean of the next two.
    pub rpm: f64,
    /// On connections of their own.
    pub foreign_rpm: f64,
    /// On connections that carry load.
    pub loaded_rpm: f64,
    /// On the idle path, connections of their own.
    pub idle_rpm: Option<f64>,
    /// Of the last intervals, bit/s.
    pub goodput_bit_s: f64,
    /// Connections at the end.
    pub connections: u32,
    /// Connections and probes that broke: without them the result is too good.
    pub broken: u32,
    /// Whether goodput and responsiveness settled.
    pub confidence: Confidence,
}

/// Whether something settled (draft-ietf-ippm-responsiveness, confidence of test results).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// It settled.
    High,
    /// There were too few intervals to tell.
    Low,
    /// There were enough, and it did not.
    Medium,
}

impl ResponsivenessSample {
    /// The figures of the last intervals; `None` without probes of both kinds.
    pub fn figures(&self) -> Option<ResponsivenessFigures> {
        let last = &self.intervals[self.intervals.len().saturating_sub(AVERAGED)..];
        let foreign: Vec<ForeignProbe> = last.iter().flat_map(|i| &i.foreign).copied().collect();
        let own = last.iter().flat_map(|interval| &interval.own_ns).map(|time| time.seconds());
        let (foreign_rpm, loaded_rpm) = (foreign_rpm(&foreign)?, rpm(&own.collect::<Vec<_>>())?);
        let goodputs: Vec<f64> = last.iter().map(|interval| interval.goodput_bit_s).collect();
        let confidence = match self.settled {
            Some(_) => Confidence::High,
            None if self.intervals.len() < 2 * AVERAGED => Confidence::Low,
            None => Confidence::Medium,
        };
        Some(ResponsivenessFigures {
            rpm: f64::midpoint(foreign_rpm, loaded_rpm),
            foreign_rpm,
            loaded_rpm,
            idle_rpm: self::foreign_rpm(&self.idle),
            goodput_bit_s: stats::arithmetic_mean(&goodputs)?,
            connections: last.last()?.connections,
            broken: self.broken,
            confidence,
        })
    }

    /// Round trips per minute of one interval; `None` without probes of both kinds.
    pub fn interval_rpm(interval: &WorkingInterval) -> Option<f64> {
        let own: Vec<f64> = interval.own_ns.iter().map(|time| time.seconds()).collect();
        Some(f64::midpoint(foreign_rpm(&interval.foreign)?, rpm(&own)?))
    }
}

impl Confidence {
    /// As the draft says it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
            Self::Medium => "medium",
        }
    }
}

/// `60 / ((TM(tcp_f) + TM(http_f)) / 2)`: the TCP-only case.
fn foreign_rpm(probes: &[ForeignProbe]) -> Option<f64> {
    let times = |of: fn(&ForeignProbe) -> Nanos| {
        trimmed_mean(&probes.iter().map(|probe| of(probe).seconds()).collect::<Vec<_>>())
    };
    let mean = f64::midpoint(times(|p| p.connect_ns)?, times(|p| p.exchange_ns)?);
    (mean > 0.0).then(|| 60.0 / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 ms to connect and 40 ms to ask are 2000 a minute, 60 ms beside the load 1000: 1500.
    #[test]
    fn t13_round_trips_of_both_kinds_have_equal_weight() {
        let foreign = ForeignProbe {
            connect_ns: Nanos::from_millis(20),
            exchange_ns: Nanos::from_millis(40),
        };
        let interval = WorkingInterval {
            connections: 3,
            goodput_bit_s: 1e6,
            foreign: vec![foreign; 5],
            own_ns: vec![Nanos::from_millis(60); 5],
        };
        let sample = ResponsivenessSample {
            idle: vec![ForeignProbe { exchange_ns: Nanos::from_millis(20), ..foreign }; 3],
            intervals: vec![interval; 5],
            ..ResponsivenessSample::default()
        };
        let figures = sample.figures().unwrap();
        let rounded = [figures.rpm, figures.foreign_rpm, figures.loaded_rpm].map(f64::round);
        assert_eq!(rounded.map(|value| value.to_string()), ["1500", "2000", "1000"]);
        assert!((figures.idle_rpm.unwrap() - 3000.0).abs() < 1e-6);
        assert_eq!(figures.confidence, Confidence::Low);
    }
}
