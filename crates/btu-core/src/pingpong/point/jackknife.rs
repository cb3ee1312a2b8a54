//! Intervals of the statistics of all exchanges: by leaving out one round at a time.
//!
//! Exchanges of a round hang together, rounds do not: what a statistic changes when a whole round is left
//! out tells how far another sweep may be from it (J. Tukey, "Bias and confidence in not-quite large
//! samples", Annals of Mathematical Statistics 29, 1958; J. Shao and C. Wu, "A general theory for
//! jackknife variance estimation", Annals of Statistics 17, 1989, for quantiles, of which many values
//! must be left out at once).

use std::collections::BTreeMap;

use super::LEAST_ROUNDS;
use super::Visits;
use super::by_size;
use crate::pingpong::configuration::Mode;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::VisitSample;
use crate::pingpong::statistic::Statistic;
use crate::stats::Interval;
use crate::stats::count;
use crate::stats::student_on_logs;
use crate::units::Bytes;

/// The 95 % interval of mean, median or p99 of each size, where there are rounds and exchanges enough.
/// The fastest exchange and what is made of the first ones or of the least of three have none.
pub fn intervals(
    samples: &[VisitSample],
    configuration: ConfigurationId,
    mode: Mode,
    statistic: Statistic,
) -> BTreeMap<Bytes, Interval> {
    let Some(least) = least_exchanges(statistic) else { return BTreeMap::new() };
    let points = by_size(samples, configuration).into_iter();
    let known = points.filter_map(|(size, visits)| {
        let visits = Visits { visits, mode };
        let exchanges: u64 = visits.visits.iter().map(|visit| visit.times.exchanges()).sum();
        Some((size, visits.jackknife(statistic)?)).filter(|_| exchanges >= least)
    });
    known.collect()
}

/// A quantile of few values is one of them: leaving others out changes nothing.
const fn least_exchanges(statistic: Statistic) -> Option<u64> {
    match statistic {
        Statistic::Mean => Some(1),
        Statistic::Median => Some(100),
        Statistic::P99 => Some(1_000),
        Statistic::AverageOf3000 | Statistic::Min | Statistic::Netpipe | Statistic::Typical => None,
    }
}

impl Visits<'_> {
    /// Student's t on the pseudo-values of the log: n times that of all rounds less (n - 1) times that of
    /// all but one.
    fn jackknife(&self, statistic: Statistic) -> Option<Interval> {
        let (rounds, all) = (self.visits.len(), self.value_us(statistic)?.ln());
        let pseudo = |left_out: usize| {
            let mut visits = self.visits.clone();
            visits.remove(left_out);
            let rest = Visits { visits, mode: self.mode }.value_us(statistic)?.ln();
            Some((count(rounds) * all - count(rounds - 1) * rest).exp())
        };
        let pseudo: Vec<f64> = (0..rounds).map(pseudo).collect::<Option<_>>()?;
        student_on_logs(&pseudo).filter(|_| rounds >= LEAST_ROUNDS)
    }

    fn value_us(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Mean => self.mean_us(&self.visits).map(|(mean, _)| mean),
            Statistic::Median => self.pool().quantile(0.5),
            Statistic::P99 => self.pool().quantile(0.99),
            _ => None,
        }
    }
}
