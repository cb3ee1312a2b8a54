//! The bootstrap of a composite: whole passes are drawn, never single cells.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::count;
use super::interval::Interval;
use super::logs;
use super::mean_and_sd;
use super::quantile;

/// How often a bootstrap draws.
pub const RESAMPLES: usize = 2000;

/// The percentile bootstrap of the geometric mean of per-pass composites, 95 %, in log space
/// (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
///
/// The deviations are scaled by sqrt(n / (n - 1)), because resampling shrinks the variance by
/// (n - 1) / n. What is drawn is the composite of a whole pass: drawing cells one by one would deny
/// that the cells of a pass drift together, and then covers far too little. `None` under 3 passes.
pub fn whole_pass_bootstrap(composites: &[f64], seed: u64) -> Option<Interval> {
    let values = logs(composites)?;
    if values.len() < 3 {
        return None;
    }
    let (mean, _) = mean_and_sd(&values)?;
    let n = count(values.len());
    let scale = (n / (n - 1.0)).sqrt();
    let means = resampled_means(&values, RESAMPLES, &mut ChaCha12Rng::seed_from_u64(seed));
    let bound = |share| quantile(&means, share).map(|at| (mean + scale * (at - mean)).exp());
    Some(Interval { low: bound(0.025)?, high: bound(0.975)? })
}

/// The means of `resamples` draws with replacement, each as large as the sample.
pub(super) fn resampled_means(
    values: &[f64],
    resamples: usize,
    chance: &mut ChaCha12Rng,
) -> Vec<f64> {
    let n = values.len();
    let mean = |_| (0..n).map(|_| values[chance.random_range(0..n)]).sum::<f64>() / count(n.max(1));
    (0..resamples).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes 90, 100, 110: at n = 3 a draw is three times the smallest with probability 1/27 =
    /// 3.7 %, so the 2.5 % percentile is the smallest value itself, moved out by sqrt(3 / 2).
    #[test]
    fn three_passes_reach_past_their_extremes_by_the_scale() {
        let logs = [90.0_f64, 100.0, 110.0].map(f64::ln);
        let mean = logs.iter().sum::<f64>() / 3.0;
        let interval = whole_pass_bootstrap(&[90.0, 100.0, 110.0], 1).unwrap();
        let low = (mean + 1.5_f64.sqrt() * (logs[0] - mean)).exp();
        let high = (mean + 1.5_f64.sqrt() * (logs[2] - mean)).exp();
        assert!((interval.low - low).abs() < 1e-9 && (interval.high - high).abs() < 1e-9);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let passes: Vec<f64> = (0..12_i32).map(|i| 100.0 + f64::from(i * i % 7)).collect();
        assert_eq!(whole_pass_bootstrap(&passes, 7), whole_pass_bootstrap(&passes, 7));
        assert_ne!(whole_pass_bootstrap(&passes, 7), whole_pass_bootstrap(&passes, 8));
    }

    #[test]
    fn two_passes_have_no_bootstrap() {
        assert_eq!(whole_pass_bootstrap(&[1.0, 2.0], 1), None);
    }
}
