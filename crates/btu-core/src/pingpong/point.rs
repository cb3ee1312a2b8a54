//! One point of a curve: the half round trip of one block size, from all its visits.
//!
//! The interval is Student's t on the logs of the medians of the rounds, with what the sizes of a round
//! have in common apart: that hangs together from round to round. The exchanges of a round hang together
//! too, so the interval of their pooled median says how a round repeats itself, and not how a second
//! sweep would: it is kept beside, called "within round".

mod bounds;
mod tide;

use std::collections::BTreeMap;

use super::configuration::Mode;
use super::sample::ConfigurationId;
use super::sample::VisitSample;
use super::schedule::SHORT_UNITS;
use super::statistic::Statistic;
use crate::sample::Flag;
use crate::stats::Counted;
use crate::stats::Interval;
use crate::stats::count;
use crate::stats::geometric_mean;
use crate::stats::student_with_tide;
use crate::units::Bytes;
use crate::words::several;

pub use bounds::intervals;

/// What all visits of one size over one configuration say, times in microseconds of T.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSummary {
    /// The configuration.
    pub configuration: ConfigurationId,
    /// The block.
    pub size: Bytes,
    /// Exchanges that count.
    pub exchanges: u64,
    /// Timed units that they make: as many, or fewer where a unit has several.
    pub units: u64,
    /// The median of each round, in the order of the rounds.
    pub rounds_us: Vec<f64>,
    /// The geometric mean of the round medians.
    pub typical_us: f64,
    /// Its 95 % interval; `None` under three rounds.
    pub interval_us: Option<Interval>,
    /// The 95 % interval of the median of all exchanges, as if they did not hang together.
    pub within_round_us: Option<Interval>,
    /// The fastest exchange.
    pub min_us: f64,
    /// Median of all exchanges.
    pub median_us: f64,
    /// 99 % quantile of all exchanges.
    pub p99_us: f64,
    /// Mean of all exchanges.
    pub mean_us: f64,
    /// Mean of the first 3,000 exchanges, and of how many it is: a visit keeps its mean and not the order of
    /// all its times, so the last one that is needed counts as a whole.
    pub average_of_3000_us: (f64, u64),
    /// NetPIPE's estimator.
    pub netpipe_us: f64,
    /// The typical time of each connection.
    pub connections_us: Vec<f64>,
    /// What a reader should know of the point.
    pub flags: Vec<Flag>,
}

/// The points of one configuration, by size; a size without a single good visit has none.
pub fn summarize(
    samples: &[VisitSample],
    configuration: ConfigurationId,
    mode: Mode,
) -> Vec<PointSummary> {
    let points = points_with_tides(samples, configuration, mode).into_iter();
    points.filter_map(|(visits, tide)| visits.summary(&tide)).collect()
}

/// The visits of each size that count, with the tide of each of its rounds.
fn points_with_tides(
    samples: &[VisitSample],
    configuration: ConfigurationId,
    mode: Mode,
) -> Vec<(Visits<'_>, Vec<f64>)> {
    let by_size = by_size(samples, configuration).into_values();
    let points: Vec<Visits<'_>> = by_size.map(|visits| Visits { visits, mode }).collect();
    let tides = tide::tides(&points);
    points.into_iter().zip(tides).collect()
}

/// The visits that count of each size, by round; a repeated one in the place of the first.
fn by_size(
    samples: &[VisitSample],
    configuration: ConfigurationId,
) -> BTreeMap<Bytes, Vec<&VisitSample>> {
    let mut by_size: BTreeMap<Bytes, BTreeMap<u32, &VisitSample>> = BTreeMap::new();
    let counting = samples.iter().filter(|sample| sample.counts());
    for sample in counting.filter(|sample| sample.configuration == configuration) {
        let rounds = by_size.entry(sample.size_bytes).or_default();
        let kept = rounds.entry(sample.round).or_insert(sample);
        if sample.attempt > kept.attempt {
            *kept = sample;
        }
    }
    by_size.into_iter().map(|(size, rounds)| (size, rounds.into_values().collect())).collect()
}

/// The visits of one point that count, by round.
struct Visits<'s> {
    visits: Vec<&'s VisitSample>,
    mode: Mode,
}

impl PointSummary {
    /// The value of a statistic, in microseconds.
    pub const fn value_us(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Typical => self.typical_us,
            Statistic::Min => self.min_us,
            Statistic::Median => self.median_us,
            Statistic::P99 => self.p99_us,
            Statistic::Mean => self.mean_us,
            Statistic::AverageOf3000 => self.average_of_3000_us.0,
            Statistic::Netpipe => self.netpipe_us,
        }
    }
}

impl<'s> Visits<'s> {
    fn summary(&self, tide: &[f64]) -> Option<PointSummary> {
        let first = self.visits.first()?;
        let rounds_us = self.rounds_us();
        let enough = Some(&rounds_us).filter(|rounds| rounds.len() >= LEAST_ROUNDS);
        let pool = self.pool(&self.visits);
        Some(PointSummary {
            configuration: first.configuration,
            size: first.size_bytes,
            exchanges: self.visits.iter().map(|visit| visit.times.exchanges()).sum(),
            units: self.visits.iter().map(|visit| visit.times.n).sum(),
            typical_us: geometric_mean(&rounds_us)?,
            interval_us: enough.and_then(|rounds| student_with_tide(rounds, tide)),
            within_round_us: pool.median_interval(),
            min_us: self.min_us()?,
            median_us: pool.quantile(0.5)?,
            p99_us: pool.quantile(0.99)?,
            mean_us: self.mean_us(&self.visits)?.0,
            average_of_3000_us: weighted_mean(&self.parts(self.first(AVERAGED)))?,
            netpipe_us: self.netpipe_us()?,
            connections_us: self.connections_us(),
            flags: self.flags(),
            rounds_us,
        })
    }

    fn us(&self, visit: &VisitSample, unit_ns: f64) -> f64 {
        self.mode.time_us(unit_ns, visit.times.batch)
    }

    /// The median of each round, in the order of the rounds.
    fn rounds_us(&self) -> Vec<f64> {
        self.visits.iter().map(|visit| self.median_us(visit)).collect()
    }

    fn median_us(&self, visit: &VisitSample) -> f64 {
        self.us(visit, visit.times.p50_ns)
    }

    fn min_us(&self) -> Option<f64> {
        let fastest = |visit: &&VisitSample| self.us(visit, visit.times.min_ns.micros() * 1e3);
        self.visits.iter().map(fastest).min_by(f64::total_cmp)
    }

    /// Every exchange of some visits, units of a batch as so many equal ones.
    fn pool(&self, visits: &[&VisitSample]) -> Counted {
        let of_visit = |visit: &&VisitSample| -> Vec<(f64, u64)> {
            let units = visit.times.distribution().into_iter();
            units.map(|(unit_ns, units)| (self.us(visit, unit_ns), units)).collect()
        };
        Counted::new(visits.iter().flat_map(of_visit).collect())
    }

    /// The mean over all exchanges of some visits, and how many there were.
    fn mean_us(&self, visits: &[&VisitSample]) -> Option<(f64, u64)> {
        weighted_mean(&self.parts(visits))
    }

    /// The mean of each visit and its exchanges.
    fn parts(&self, visits: &[&VisitSample]) -> Vec<(f64, u64)> {
        let part = |visit: &&VisitSample| {
            Some((self.us(visit, visit.times.mean_ns()?), visit.times.exchanges()))
        };
        visits.iter().filter_map(part).collect()
    }

    /// The first visits that have `wanted` exchanges together.
    fn first(&self, wanted: u64) -> &[&'s VisitSample] {
        let mut taken: u64 = 0;
        let is_needed = |visit: &&&VisitSample| {
            let is_needed = taken < wanted;
            taken = taken.saturating_add(visit.times.exchanges());
            is_needed
        };
        let needed = self.visits.iter().take_while(is_needed).count();
        &self.visits[..needed]
    }

    /// The mean of each third of the visits, as three connections share them; the smallest of the three
    /// (netpipe(1): "the minimum of three trials").
    fn netpipe_us(&self) -> Option<f64> {
        let bound = |trial: usize| (trial * self.visits.len()).div_ceil(TRIALS);
        let trial = |trial| self.mean_us(&self.visits[bound(trial)..bound(trial + 1)]);
        (0..TRIALS).filter_map(trial).map(|(mean, _)| mean).min_by(f64::total_cmp)
    }

    fn connections_us(&self) -> Vec<f64> {
        let mut medians: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for visit in &self.visits {
            medians.entry(visit.connection).or_default().push(self.median_us(visit));
        }
        medians.values().filter_map(|medians| geometric_mean(medians)).collect()
    }

    fn flags(&self) -> Vec<Flag> {
        let disturbed = self.visits.iter().filter(|visit| visit.is_disturbed()).count();
        let rounds = self.visits.len();
        let of = format!(
            "in {disturbed} of {} other work took more than 5 % of the time",
            several(rounds, "round")
        );
        let few = format!("{}, fewer than {LEAST_ROUNDS}: no interval", several(rounds, "round"));
        let mut flags = Vec::new();
        if disturbed > 0 {
            flags.push(Flag::new("disturbed", of));
        }
        if rounds < LEAST_ROUNDS {
            flags.push(Flag::new("few-rounds", few));
        }
        flags.extend(self.short_units());
        flags
    }

    /// Told of a stream whose acknowledgements count.
    fn short_units(&self) -> Option<Flag> {
        let is_short = |visit: &&&VisitSample| visit.has_short_units();
        let (short, of) = (self.visits.iter().filter(is_short).count(), self.visits.len());
        let told = || {
            let of = several(of, "round");
            format!(
                "in {short} of {of} the acknowledgement took more than 5 % of a unit, or may have"
            )
        };
        (short > 0).then(|| Flag::new(SHORT_UNITS, told()))
    }
}

/// The mean of means, each with its number of exchanges.
fn weighted_mean(parts: &[(f64, u64)]) -> Option<(f64, u64)> {
    let exchanges: u64 = parts.iter().map(|(_, exchanges)| *exchanges).sum();
    let sum: f64 = parts.iter().map(|(mean, exchanges)| mean * float(*exchanges)).sum();
    (exchanges > 0).then(|| (sum / float(exchanges), exchanges))
}

fn float(exchanges: u64) -> f64 {
    count(usize::try_from(exchanges).unwrap_or(usize::MAX))
}

/// Rounds from which an interval is printed.
pub(super) const LEAST_ROUNDS: usize = 3;

/// NetPIPE's number of trials.
const TRIALS: usize = 3;

/// The exchanges of Hollingsworth's mean.
const AVERAGED: u64 = 3_000;

#[cfg(test)]
mod tests;
