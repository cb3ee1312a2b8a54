//! Round trips while a path fills (draft-ietf-ippm-responsiveness).

use serde::Deserialize;
use serde::Serialize;

use crate::stats;
use crate::traffic::figures::responsiveness::AVERAGED;
use crate::traffic::figures::responsiveness::rpm;
use crate::traffic::figures::responsiveness::trimmed_mean;
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
    /// Probes on connections of their own that were under way at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingProbe>,
    /// Those on connections that carry load, with what they had waited for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_pending_ns: Vec<Nanos>,
}

/// One interval under load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkingInterval {
    /// Connections that carry load.
    pub connections: u32,
    /// Payload that was answered for, bit/s.
    pub goodput_bit_s: f64,
    /// Probes of each kind that were due in it; zero in results that are older than this key.
    #[serde(default)]
    pub due: u32,
    /// Probes on connections of their own that came to their end in it.
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

/// A probe on a connection of its own that had no end yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingProbe {
    /// Until the connection was open, or what had passed of that.
    pub connect_ns: Nanos,
    /// What had passed of its exchange, where that had begun.
    pub exchange_ns: Option<Nanos>,
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
    /// Probes of each kind that were due in the last intervals; `None` in results that are older than this figure.
    pub probes_due: Option<u64>,
    /// Of these, on connections of their own, came to their end.
    pub foreign_probes: usize,
    /// The same of those on connections that carry load.
    pub loaded_probes: usize,
    /// Probes that had no answer at the end and count with what they had waited for: round trips per minute are
    /// no more than what is told.
    pub pending_probes: usize,
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
        let own = Waits::of(own, self.own_pending_ns.iter().copied());
        let apart = Apart::of(&foreign, &self.pending);
        let (foreign_rpm, loaded_rpm) = (apart.rpm()?, rpm(&own.seconds)?);
        let due: u64 = last.iter().map(|interval| u64::from(interval.due)).sum();
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
            idle_rpm: Apart::of(&self.idle, &[]).rpm(),
            goodput_bit_s: stats::arithmetic_mean(&goodputs)?,
            connections: last.last()?.connections,
            broken: self.broken,
            confidence,
            probes_due: (due > 0).then_some(due),
            foreign_probes: foreign.len(),
            loaded_probes: own.came,
            pending_probes: own.pending() + apart.pending(),
        })
    }

    /// Round trips per minute of one interval; `None` without probes of both kinds.
    pub fn interval_rpm(interval: &WorkingInterval) -> Option<f64> {
        let own: Vec<f64> = interval.own_ns.iter().map(|time| time.seconds()).collect();
        Some(f64::midpoint(Apart::of(&interval.foreign, &[]).rpm()?, rpm(&own)?))
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

/// Times of one kind: those that are known, and behind them lower bounds.
struct Waits {
    seconds: Vec<f64>,
    /// How many are known.
    came: usize,
}

impl Waits {
    /// What waits still says something where it has waited for longer than the others took: they alone would be those
    /// that were fast enough to end.
    fn of(came: impl Iterator<Item = f64>, pending: impl Iterator<Item = Nanos>) -> Self {
        let mut seconds: Vec<f64> = came.collect();
        let (known, mean) = (seconds.len(), stats::arithmetic_mean(&seconds));
        let ages = pending.map(Nanos::seconds);
        seconds.extend(ages.filter(|age| mean.is_none_or(|mean| *age > mean)));
        Self { seconds, came: known }
    }

    /// How many are lower bounds.
    fn pending(&self) -> usize {
        self.seconds.len() - self.came
    }
}

/// Probes on connections of their own.
struct Apart {
    connect: Waits,
    exchange: Waits,
}

impl Apart {
    fn of(probes: &[ForeignProbe], pending: &[PendingProbe]) -> Self {
        let connected = probes.iter().map(|probe| probe.connect_ns);
        // A pending probe whose exchange has begun has its connection: that is a time like any other.
        let begun = pending.iter().filter(|probe| probe.exchange_ns.is_some());
        let connected = connected.chain(begun.map(|probe| probe.connect_ns)).map(Nanos::seconds);
        let waits = pending.iter().filter(|probe| probe.exchange_ns.is_none());
        let exchanged = probes.iter().map(|probe| probe.exchange_ns.seconds());
        Self {
            connect: Waits::of(connected, waits.map(|probe| probe.connect_ns)),
            exchange: Waits::of(exchanged, pending.iter().filter_map(|probe| probe.exchange_ns)),
        }
    }

    fn pending(&self) -> usize {
        self.connect.pending() + self.exchange.pending()
    }

    /// `60 / ((TM(tcp_f) + TM(http_f)) / 2)`: the TCP-only case.
    fn rpm(&self) -> Option<f64> {
        let [connect, exchange] =
            [&self.connect, &self.exchange].map(|waits| trimmed_mean(&waits.seconds));
        let mean = f64::midpoint(connect?, exchange?);
        (mean > 0.0).then(|| 60.0 / mean)
    }
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
            ..WorkingInterval::default()
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

    /// Ten probes took 50 ms; ten were stuck for 950 when it ended, and one had just begun: without those that waited it
    /// would be 1200 a minute
    #[test]
    fn what_waits_at_the_end_counts_with_the_time_that_it_has_waited() {
        let ms = Nanos::from_millis;
        let fast = ForeignProbe { connect_ns: ms(50), exchange_ns: ms(50) };
        let interval = WorkingInterval {
            due: 20,
            foreign: vec![fast; 10],
            own_ns: vec![ms(50); 10],
            ..WorkingInterval::default()
        };
        let stuck = PendingProbe { connect_ns: ms(950), exchange_ns: None };
        let asking = PendingProbe { connect_ns: ms(50), exchange_ns: Some(ms(950)) };
        let young = PendingProbe { connect_ns: ms(5), exchange_ns: None };
        let sample = ResponsivenessSample {
            intervals: vec![interval],
            pending: [vec![stuck; 10], vec![asking; 10], vec![young]].concat(),
            own_pending_ns: [vec![ms(950); 10], vec![ms(5)]].concat(),
            ..ResponsivenessSample::default()
        };
        let figures = sample.figures().unwrap();
        let counts = (figures.foreign_probes, figures.loaded_probes, figures.pending_probes);
        assert_eq!((counts, figures.probes_due), ((10, 10, 30), Some(20)));
        // Of the own ones 19 of 20 count: 10 of 50 and 9 of 950 ms.
        assert!((figures.loaded_rpm - 60.0 * 19.0 / 9.05).abs() < 1e-6, "{figures:?}");
        assert!(figures.foreign_rpm < 200.0, "{figures:?}");
        let ended = ResponsivenessSample { pending: vec![], own_pending_ns: vec![], ..sample };
        assert!((ended.figures().unwrap().rpm - 1200.0).abs() < 1e-6);
        // Where no probe came to its end, what is known is how long they waited.
        let dead = ResponsivenessSample {
            pending: vec![asking],
            own_pending_ns: vec![ms(950)],
            intervals: vec![WorkingInterval::default()],
            ..ended
        };
        assert_eq!(dead.figures().unwrap().pending_probes, 2);
    }
}
