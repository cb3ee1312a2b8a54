//! Intervals of the statistics of all exchanges, from what differs from round to round.
//!
//! Exchanges of a round hang together: how far another sweep may be is told by the rounds alone, and by
//! the tide that their sizes share. Each interval is one of Student's t on logs:
//!
//! * A mean leaves out one round at a time (J. Tukey, "Bias and confidence in not-quite large samples",
//!   Annals of Mathematical Statistics 29, 1958), which counts rounds of unequal length as they are.
//! * A quantile is one of its values, and leaving out a round moves it by nothing or by a leap (J. Shao and
//!   C. Wu, "A general theory for jackknife variance estimation", Annals of Statistics 17, 1989). The median
//!   takes the spread of the medians of the rounds, p99 that of stretches of rounds which are long enough
//!   to have one; both stand around the quantile of all exchanges, which is off by less (S. Asmussen and
//!   P. Glynn, "Stochastic Simulation", 2007, III.5a: sectioning).
//! * The smallest of three means spreads as such a one does.
//!
//! The fastest exchange has none: it is an end of the distribution, and no resampling of one sweep tells
//! how far another would come to it (P. Bickel and D. Freedman, "Some asymptotic theory for the bootstrap",
//! Annals of Statistics 9, 1981).

use std::collections::BTreeMap;
use std::ops::Range;

use super::AVERAGED;
use super::LEAST_ROUNDS;
use super::TRIALS;
use super::Visits;
use super::float;
use super::points_with_tides;
use crate::pingpong::configuration::Mode;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::VisitSample;
use crate::pingpong::statistic::Statistic;
use crate::stats::Interval;
use crate::stats::arithmetic_mean;
use crate::stats::count;
use crate::stats::student_with_tide;
use crate::units::Bytes;

/// The 95 % interval of a statistic at each size, where there are rounds and exchanges enough: of every
/// one but the fastest exchange, and the typical time, which has its own.
pub fn intervals(
    samples: &[VisitSample],
    configuration: ConfigurationId,
    mode: Mode,
    statistic: Statistic,
) -> BTreeMap<Bytes, Interval> {
    if matches!(statistic, Statistic::Min | Statistic::Typical) {
        return BTreeMap::new();
    }
    let points = points_with_tides(samples, configuration, mode).into_iter();
    let enough = points.filter(|(point, _)| point.visits.len() >= LEAST_ROUNDS);
    let known = enough.filter_map(|(point, tide)| {
        Some((point.visits.first()?.size_bytes, point.bounds(statistic, &tide)?))
    });
    known.collect()
}

impl Visits<'_> {
    fn bounds(&self, statistic: Statistic, tide: &[f64]) -> Option<Interval> {
        match statistic {
            Statistic::AverageOf3000 => self.bounds_of_average(tide),
            Statistic::Mean => bounds_of_mean(&self.parts(&self.visits), tide),
            Statistic::Median => self.bounds_of_median(tide),
            Statistic::Min | Statistic::Typical => None,
            Statistic::Netpipe => self.bounds_of_netpipe(tide),
            Statistic::P99 => self.bounds_of_p99(tide),
        }
    }

    /// That of the mean of the rounds which it is of.
    fn bounds_of_average(&self, tide: &[f64]) -> Option<Interval> {
        let parts = self.parts(self.first(AVERAGED));
        bounds_of_mean(&parts, &tide[..parts.len()])
    }

    /// As far from the median of all exchanges as Student's t on the logs of the medians of the rounds is
    /// from their geometric mean.
    fn bounds_of_median(&self, tide: &[f64]) -> Option<Interval> {
        let bounds = student_with_tide(&self.rounds_us(), tide)?;
        Some(around(self.pool(&self.visits).quantile(0.5)?, bounds, 1.0))
    }

    /// The mean of a third has three times the variance of the mean of all, the smallest of three such
    /// means [`SMALLEST_OF_THREE`] of that.
    fn bounds_of_netpipe(&self, tide: &[f64]) -> Option<Interval> {
        let bounds = bounds_of_mean(&self.parts(&self.visits), tide)?;
        let wider = (count(TRIALS) * SMALLEST_OF_THREE).sqrt();
        Some(around(self.netpipe_us()?, bounds, wider))
    }

    /// As far from the quantile of all exchanges as Student's t on the logs of those of the stretches is
    /// from their geometric mean.
    fn bounds_of_p99(&self, tide: &[f64]) -> Option<Interval> {
        let stretches = self.stretches();
        if stretches.len() < LEAST_ROUNDS {
            return None;
        }
        let quantile = |visits: &[&VisitSample]| self.pool(visits).quantile(0.99);
        let of_each = stretches.iter().map(|rounds| quantile(&self.visits[rounds.clone()]));
        let tides = stretches.iter().map(|rounds| arithmetic_mean(&tide[rounds.clone()]));
        let (of_each, tides): (Option<Vec<f64>>, Option<Vec<f64>>) =
            (of_each.collect(), tides.collect());
        let bounds = student_with_tide(&of_each?, &tides?)?;
        Some(around(quantile(&self.visits)?, bounds, 1.0))
    }

    /// Rounds in a row that have exchanges enough for a p99; what is left belongs to the last stretch.
    fn stretches(&self) -> Vec<Range<usize>> {
        let (mut found, mut from, mut timed) = (Vec::<Range<usize>>::new(), 0, 0);
        for (at, visit) in self.visits.iter().enumerate() {
            timed += visit.times.n;
            if timed >= LEAST_FOR_P99 {
                found.push(from..at + 1);
                (from, timed) = (at + 1, 0);
            }
        }
        if let Some(last) = found.last_mut() {
            last.end = self.visits.len();
        }
        found
    }
}

/// Student's t on the pseudo-values of the log: n times that of all rounds less (n - 1) times that of all
/// but one. `None` under three rounds.
fn bounds_of_mean(rounds: &[(f64, u64)], tide: &[f64]) -> Option<Interval> {
    if rounds.len() < LEAST_ROUNDS {
        return None;
    }
    let weighed =
        rounds.iter().map(|(mean, exchanges)| (mean * float(*exchanges), float(*exchanges)));
    let rounds: Vec<(f64, f64)> = weighed.collect();
    let sum: f64 = rounds.iter().map(|(time, _)| time).sum();
    let exchanges: f64 = rounds.iter().map(|(_, exchanges)| exchanges).sum();
    let n = count(rounds.len());
    let all = (sum / exchanges).ln();
    let pseudo = |(time, part): &(f64, f64)| {
        let rest = ((sum - time) / (exchanges - part)).ln();
        (n * all - (n - 1.0) * rest).exp()
    };
    student_with_tide(&rounds.iter().map(pseudo).collect::<Vec<_>>(), tide)
}

/// So many times as far from `value` as `bounds` are from their middle, on logs.
fn around(value: f64, bounds: Interval, times: f64) -> Interval {
    let factor = (1.0 + bounds.half_width()).powf(times);
    Interval { low: value / factor, high: value * factor }
}

/// The variance of the smallest of three values of a normal distribution, as a part of that of one:
/// 1 + (2 sqrt(3) - 9) / 4 pi (H. Jones, "Exact lower moments of order statistics in small samples from a
/// normal distribution", Annals of Mathematical Statistics 19, 1948).
const SMALLEST_OF_THREE: f64 = 0.559_467;

/// Timed units of a stretch that has a p99 of its own: five of them are above.
const LEAST_FOR_P99: u64 = 500;
