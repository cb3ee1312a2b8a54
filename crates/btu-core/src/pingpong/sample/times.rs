//! The times of a visit: exact moments, the first values in order, and all of them as a histogram.

use hdrhistogram::Histogram;
use serde::Deserialize;
use serde::Serialize;

use crate::stats::count;
use crate::stats::quantile;
use crate::units::Nanos;

/// The times of timed units, each a batch of one or more exchanges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Timed units.
    pub n: u64,
    /// Exchanges per unit.
    pub batch: u32,
    /// All units together.
    pub sum_ns: Nanos,
    /// The fastest unit.
    pub min_ns: Nanos,
    /// The slowest unit.
    pub max_ns: Nanos,
    /// Median of the units, exact.
    pub p50_ns: f64,
    /// 99 % quantile of the units, exact.
    pub p99_ns: f64,
    /// The first units, in order.
    pub raw_ns: Vec<u64>,
    /// All units, where `raw_ns` does not hold them all: middles of bins of a thousandth, the first
    /// one and then differences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bin_ns: Vec<u64>,
    /// Units in each bin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bin_count: Vec<u64>,
}

impl Times {
    /// Folds the times of units in nanoseconds; the first `keep` stay raw.
    pub fn fold(unit_ns: &[u64], batch: u32, keep: usize) -> Self {
        let mut sorted = unit_ns.to_vec();
        sorted.sort_unstable();
        let values: Vec<f64> =
            sorted.iter().map(|time| Nanos::new(*time).seconds() * 1e9).collect();
        let share = |share| quantile(&values, share).unwrap_or_default();
        let raw_ns = unit_ns[..unit_ns.len().min(keep)].to_vec();
        let bins = if unit_ns.len() > keep { bins(&sorted) } else { Vec::new() };
        Self {
            n: u64::try_from(unit_ns.len()).unwrap_or(u64::MAX),
            batch: batch.max(1),
            sum_ns: unit_ns.iter().copied().map(Nanos::new).sum(),
            min_ns: Nanos::new(sorted.first().copied().unwrap_or_default()),
            max_ns: Nanos::new(sorted.last().copied().unwrap_or_default()),
            p50_ns: share(0.5),
            p99_ns: share(0.99),
            raw_ns,
            bin_ns: differences(&bins),
            bin_count: bins.iter().map(|(_, units)| *units).collect(),
        }
    }

    /// True without any unit.
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Exchanges made.
    pub fn exchanges(&self) -> u64 {
        self.n.saturating_mul(u64::from(self.batch))
    }

    /// The mean of the units; nothing of none.
    pub fn mean_ns(&self) -> Option<f64> {
        let sum = self.sum_ns.seconds() * 1e9;
        (self.n > 0).then(|| sum / count(usize::try_from(self.n).unwrap_or(usize::MAX)))
    }

    /// Every unit as (nanoseconds, how many): exact where all are raw, else within a thousandth.
    pub fn distribution(&self) -> Vec<(f64, u64)> {
        let whole = |time: u64| Nanos::new(time).seconds() * 1e9;
        if self.bin_ns.is_empty() {
            return self.raw_ns.iter().map(|time| (whole(*time), 1)).collect();
        }
        let middles = self.bin_ns.iter().scan(0_u64, |at, step| {
            *at = at.saturating_add(*step);
            Some(*at)
        });
        middles.zip(&self.bin_count).map(|(at, units)| (whole(at), *units)).collect()
    }
}

/// Bins of three significant digits of ascending times: (middle, units), ascending (the layout of
/// `HdrHistogram`, whose thousands of counts would take longer to walk through than the times).
fn bins(sorted_ns: &[u64]) -> Vec<(u64, u64)> {
    let Ok(layout) = Histogram::<u64>::new_with_max(2, 3) else { return Vec::new() };
    let middles = sorted_ns.iter().map(|time| layout.median_equivalent(*time));
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for middle in middles {
        match bins.last_mut() {
            Some((at, units)) if *at == middle => *units += 1,
            _ => bins.push((middle, 1)),
        }
    }
    bins
}

/// The first middle, then the distance of each to the one before it.
fn differences(bins: &[(u64, u64)]) -> Vec<u64> {
    let before = std::iter::once(0).chain(bins.iter().map(|(at, _)| *at));
    bins.iter().zip(before).map(|((at, _), before)| at - before).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_times_stay_raw_and_exact() {
        let times = Times::fold(&[5, 1, 3], 4, 64);
        assert_eq!((times.n, times.exchanges(), times.raw_ns.as_slice()), (3, 12, &[5, 1, 3][..]));
        assert!((times.p50_ns - 3.0).abs() < 1e-12 && times.bin_ns.is_empty());
        assert!((times.mean_ns().unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(times.distribution().len(), 3);
        assert!(Times::fold(&[], 1, 64).is_empty());
    }

    #[test]
    fn a_thousand_times_need_less_room_than_their_digits() {
        let unit_ns: Vec<u64> = (0..1_000).map(|n| 10_000 + n * n % 977).collect();
        let line = serde_json::to_string(&Times::fold(&unit_ns, 1, 16)).unwrap();
        assert!(line.len() < 2_500, "{} bytes", line.len());
    }

    proptest! {
        #[test]
        fn bins_are_those_of_a_histogram_that_counts(
            mut unit_ns in prop::collection::vec(0..10_000_000_000_u64, 1..40),
        ) {
            unit_ns.sort_unstable();
            let largest = unit_ns.last().copied().unwrap().max(2);
            let mut histogram = Histogram::<u64>::new_with_max(largest, 3).unwrap();
            for time in &unit_ns {
                histogram.record(*time).unwrap();
            }
            let recorded = histogram.iter_recorded();
            let wanted: Vec<(u64, u64)> = recorded
                .map(|bin| (histogram.median_equivalent(bin.value_iterated_to()), bin.count_at_value()))
                .collect();
            prop_assert_eq!(bins(&unit_ns), wanted);
        }

        #[test]
        fn a_histogram_keeps_every_unit_within_a_thousandth(
            unit_ns in prop::collection::vec(1..10_000_000_000_u64, 1..200),
        ) {
            let times = Times::fold(&unit_ns, 1, 0);
            let mut sorted = unit_ns.clone();
            sorted.sort_unstable();
            let spread = times.distribution().into_iter().flat_map(|(at, units)| {
                std::iter::repeat_n(at, usize::try_from(units).unwrap())
            });
            let kept: Vec<f64> = spread.collect();
            prop_assert_eq!(kept.len(), sorted.len());
            for (kept, given) in kept.iter().zip(&sorted) {
                let given = Nanos::new(*given).seconds() * 1e9;
                prop_assert!((kept - given).abs() <= given * 1e-3 + 1.0, "{} {}", kept, given);
            }
        }
    }
}
