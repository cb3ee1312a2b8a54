//! Intervals of the statistics of all exchanges, from what differs from round to round.
//!
//! Exchanges of a round hang together: how far another sweep may be is told by the rounds alone, and by
//! the tide that their sizes share. The mean leaves out one round at a time (J. Tukey, "Bias and
//! confidence in not-quite large samples", Annals of Mathematical Statistics 29, 1958), which counts
//! rounds of unequal length as they are. A quantile is one of its values, and leaving out a round moves it by nothing or by a leap (J. Shao
//! and C. Wu, "A general theory for jackknife variance estimation", Annals of Statistics 17, 1989): the
//! median takes the spread of the medians of the rounds, and p99, of which a round has too few values
//! above to have one of its own, has no interval.

use std::collections::BTreeMap;

use super::LEAST_ROUNDS;
use super::Visits;
use super::points_with_tides;
use crate::pingpong::configuration::Mode;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::VisitSample;
use crate::pingpong::statistic::Statistic;
use crate::stats::Interval;
use crate::stats::count;
use crate::stats::student_with_tide;
use crate::units::Bytes;

/// The 95 % interval of the mean or the median of each size, where there are rounds enough. The fastest
/// exchange, p99 and what is made of the first ones or of the least of three have none.
pub fn intervals(
    samples: &[VisitSample],
    configuration: ConfigurationId,
    mode: Mode,
    statistic: Statistic,
) -> BTreeMap<Bytes, Interval> {
    if !matches!(statistic, Statistic::Mean | Statistic::Median) {
        return BTreeMap::new();
    }
    let points = points_with_tides(samples, configuration, mode).into_iter();
    let enough = points.filter(|(point, _)| point.visits.len() >= LEAST_ROUNDS);
    let known = enough.filter_map(|(point, tide)| {
        let bounds = match statistic {
            Statistic::Mean => point.bounds_of_mean(&tide),
            _ => point.bounds_of_median(&tide),
        };
        Some((point.visits.first()?.size_bytes, bounds?))
    });
    known.collect()
}

impl Visits<'_> {
    /// Student's t on the pseudo-values of the log: n times that of all rounds less (n - 1) times that of
    /// all but one.
    fn bounds_of_mean(&self, tide: &[f64]) -> Option<Interval> {
        let of_round = |visit: &&VisitSample| {
            let (mean, exchanges) = self.mean_us(&[*visit])?;
            let exchanges = count(usize::try_from(exchanges).unwrap_or(usize::MAX));
            Some((mean * exchanges, exchanges))
        };
        let rounds: Vec<(f64, f64)> = self.visits.iter().map(of_round).collect::<Option<_>>()?;
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

    /// As far from the median of all exchanges as Student's t on the logs of the medians of the rounds is
    /// from their geometric mean.
    fn bounds_of_median(&self, tide: &[f64]) -> Option<Interval> {
        let bounds = student_with_tide(&self.rounds_us(), tide)?;
        let (all, factor) = (self.pool().quantile(0.5)?, 1.0 + bounds.half_width());
        Some(Interval { low: all / factor, high: all * factor })
    }
}
