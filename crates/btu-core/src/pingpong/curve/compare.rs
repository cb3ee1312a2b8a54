//! Two curves beside each other, size by size.

use super::Curve;
use super::CurvePoint;
use crate::stats::Comparison;
use crate::stats::count;
use crate::stats::geometric_mean;
use crate::stats::holm;
use crate::stats::welch_on_logs;
use crate::units::Bytes;
use crate::units::Ratio;

/// Two curves compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveComparison {
    /// The sizes that both have.
    pub sizes: Vec<SizeComparison>,
    /// The share of them at which the intervals overlap; `None` where no size has two intervals.
    pub overlap: Option<Ratio>,
    /// The geometric mean of T of the second over T of the first.
    pub ratio: Option<f64>,
}

/// Two curves at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeComparison {
    /// The block.
    pub size: Bytes,
    /// T of the second over T of the first.
    pub ratio: f64,
    /// Whether the intervals overlap; `None` where one is missing.
    pub overlap: Option<bool>,
    /// Welch's test on the round medians; `None` where one curve has none.
    pub test: Option<Comparison>,
    /// Its p value, corrected for all sizes at once (Holm).
    pub adjusted_p: Option<f64>,
}

/// Compares `second` with `first` at every size that both have.
pub fn compare(first: &Curve, second: &Curve) -> CurveComparison {
    let at_both = first.points.iter().filter_map(|a| Some((a, second.at(a.size)?)));
    let mut sizes: Vec<SizeComparison> = at_both.map(|(a, b)| at_size(a, b)).collect();
    adjust(&mut sizes);
    let judged: Vec<bool> = sizes.iter().filter_map(|size| size.overlap).collect();
    let overlapping = judged.iter().filter(|overlap| **overlap).count();
    let share = || Ratio::new(count(overlapping) / count(judged.len()));
    let ratios: Vec<f64> = sizes.iter().map(|size| size.ratio).collect();
    let overlap = (!judged.is_empty()).then(share);
    CurveComparison { overlap, ratio: geometric_mean(&ratios), sizes }
}

impl CurveComparison {
    /// "No difference": the intervals overlap at nine tenths of the sizes or more.
    pub fn is_equal(&self) -> bool {
        self.overlap.is_some_and(|overlap| overlap >= EQUAL_FROM)
    }

    /// The sizes at which the second differs, all sizes tested at once.
    pub fn differing(&self) -> impl Iterator<Item = &SizeComparison> {
        self.sizes.iter().filter(|size| {
            let sure = size.adjusted_p.is_some_and(|p| p < 0.05);
            sure && size.test.is_some_and(Comparison::is_different)
        })
    }
}

fn at_size(a: &CurvePoint, b: &CurvePoint) -> SizeComparison {
    let intervals = a.interval_us.zip(b.interval_us);
    SizeComparison {
        size: a.size,
        ratio: b.time_us / a.time_us,
        overlap: intervals.map(|(a, b)| a.low <= b.high && b.low <= a.high),
        test: welch_on_logs(&a.rounds_us, &b.rounds_us),
        adjusted_p: None,
    }
}

fn adjust(sizes: &mut [SizeComparison]) {
    let tested = sizes.iter_mut().filter_map(|size| Some((size.test?.p, &mut size.adjusted_p)));
    let (p_values, adjusted): (Vec<f64>, Vec<&mut Option<f64>>) = tested.unzip();
    for (adjusted, p) in adjusted.into_iter().zip(holm(&p_values)) {
        *adjusted = Some(p);
    }
}

/// The share of overlapping intervals from which two curves are called equal.
const EQUAL_FROM: Ratio = Ratio::new(0.9);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pingpong::configuration::Configuration;
    use crate::pingpong::configuration::Mode;
    use crate::pingpong::point::summarize;
    use crate::pingpong::sample::ConfigurationId;
    use crate::pingpong::schedule::Schedule;
    use crate::pingpong::schedule::Sweep;
    use crate::pingpong::simulated::Noise;
    use crate::pingpong::simulated::Simulated;
    use crate::pingpong::sizes::Sizes;
    use crate::pingpong::statistic::Statistic;
    use crate::units::Nanos;

    fn sweep(path: Simulated, seed: u64) -> Curve {
        let noise = Noise::correlated(0.05, Nanos::from_millis(20), seed).and_each(0.1);
        let all = Sweep::new(Sizes::default().points(), seed);
        let mut schedule = Schedule::new(Sweep { budget: Nanos::from_secs(2), ..all });
        let tcp = [Configuration::new("tcp")];
        let samples = path.with_noise(noise).sweep(&mut schedule, &tcp);
        let points = summarize(&samples, ConfigurationId(1), Mode::PingPong);
        Curve::new("tcp", Mode::PingPong, Statistic::Typical, &points)
    }

    /// All sizes tested at once find something by chance in one pair of twenty.
    #[test]
    fn p6_two_sweeps_of_one_path_do_not_differ() {
        let path = || Simulated::new(10.0, 1.0);
        let mut found_by_chance = 0;
        for seed in [1, 3, 5] {
            let found = compare(&sweep(path(), seed), &sweep(path(), seed + 1));
            assert_eq!(found.sizes.len(), 124);
            assert!(found.is_equal(), "overlap {:?}", found.overlap);
            assert!((found.ratio.unwrap() - 1.0).abs() < 0.02);
            found_by_chance += usize::from(found.differing().count() > 0);
        }
        assert!(found_by_chance <= 1);
    }

    #[test]
    fn a_path_with_half_the_latency_differs_at_small_sizes() {
        let found =
            compare(&sweep(Simulated::new(10.0, 1.0), 1), &sweep(Simulated::new(5.0, 1.0), 2));
        assert!(!found.is_equal());
        let differing: Vec<Bytes> = found.differing().map(|size| size.size).collect();
        assert!(differing.contains(&Bytes::new(1)) && !differing.contains(&Bytes::new(8 << 20)));
    }
}
