//! Tests of values against a law, correlation, self-similarity, and ratios of sums.

use statrs::distribution::ContinuousCDF;
use statrs::distribution::StudentsT;
use statrs::function::gamma::gamma_ur;

use crate::stats::count;
use crate::traffic::law::Law;

/// The largest distance of the empirical distribution function from the law's, and how likely a
/// larger one is (Kolmogorov 1933, with the correction of Stephens 1970 for finite samples).
/// Where the law has atoms the probability is a lower bound.
pub(super) fn kolmogorov(values: &mut [f64], law: &Law) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = count(values.len());
    let mut distance: f64 = 0.0;
    for (index, value) in values.iter().enumerate() {
        let above = count(index + 1) / n - law.cdf(*value);
        let below = law.cdf(value.next_down()) - count(index) / n;
        // Of equal values only the last and the first tell.
        let last = values.get(index + 1).is_none_or(|next| next > value);
        let first = index == 0 || values[index - 1] < *value;
        distance = distance.max(if last { above } else { 0.0 });
        distance = distance.max(if first { below } else { 0.0 });
    }
    let root = n.sqrt();
    (distance, tail((root + 0.12 + 0.11 / root) * distance))
}

/// 2 sum (-1)^(k-1) exp(-2 k^2 t^2).
fn tail(t: f64) -> f64 {
    if t < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * t * t).exp()
    };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// Pearson's statistic of values that were rounded to whole numbers, over bins of about equal
/// share, and how likely a larger one is.
pub(super) fn chi_squared(values: &[f64], law: &Law) -> (f64, f64) {
    let n = count(values.len());
    let edges = edges(law, n);
    let mut shares: Vec<f64> = edges.iter().map(|edge| law.cdf(*edge)).collect();
    shares.push(1.0);
    let mut seen = vec![0_usize; shares.len()];
    for value in values {
        seen[edges.partition_point(|edge| edge < value)] += 1;
    }
    let (mut statistic, mut before) = (0.0, 0.0);
    for (share, seen) in shares.iter().zip(&seen) {
        let expected = n * (share - before);
        if expected > 0.0 {
            statistic += (count(*seen) - expected).powi(2) / expected;
        } else if *seen > 0 {
            return (f64::INFINITY, 0.0);
        }
        before = *share;
    }
    let freedom = count(shares.len() - 1);
    // Of few bins every one can have exactly what is expected, where the function is not defined.
    let known = freedom > 0.0 && statistic > 0.0;
    let p = if known { gamma_ur(freedom / 2.0, statistic / 2.0) } else { 1.0 };
    (statistic, p)
}

/// Half whole numbers that part the law's values into bins with at least ten values each.
fn edges(law: &Law, n: f64) -> Vec<f64> {
    let bins = 50_u32;
    let least = (10.0 / n).max(0.2 / f64::from(bins));
    let mut edges: Vec<f64> = Vec::new();
    let mut share = 0.0;
    for bin in 1..bins {
        let edge = law.quantile(f64::from(bin) / f64::from(bins)).floor() + 0.5;
        let reached = law.cdf(edge);
        if reached - share >= least && 1.0 - reached >= least {
            edges.push(edge);
            share = reached;
        }
    }
    edges
}

/// The correlation of each value with the next one.
pub(super) fn lag_one(values: &[f64]) -> f64 {
    let n = count(values.len());
    let mean = values.iter().sum::<f64>() / n;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let pairs = values.windows(2);
    let covariance: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    covariance / variance
}

/// The Hurst parameter by the energies of Haar wavelets over octaves (Abry and Veitch, 1998): the
/// slope of log2 energy is 2H - 1. The two finest octaves belong to what the sources do, and the
/// coarsest have too few coefficients.
pub(super) fn hurst(values: &[f64]) -> f64 {
    let mut level: Vec<f64> = values.to_vec();
    let mut points: Vec<(f64, f64, f64)> = Vec::new();
    let mut octave = 0.0;
    while level.len() >= 64 {
        octave += 1.0;
        let pairs = level.chunks_exact(2);
        let details = pairs.clone().map(|pair| (pair[0] - pair[1]).powi(2) / 2.0);
        let coefficients = count(level.len() / 2);
        let energy = details.sum::<f64>() / coefficients;
        if octave > 2.0 {
            points.push((octave, energy.log2(), coefficients));
        }
        level = pairs.map(|pair| (pair[0] + pair[1]) / std::f64::consts::SQRT_2).collect();
    }
    f64::midpoint(slope(&points), 1.0)
}

/// The slope of a line through weighted points.
fn slope(points: &[(f64, f64, f64)]) -> f64 {
    let weight: f64 = points.iter().map(|(_, _, w)| w).sum();
    let x = points.iter().map(|(x, _, w)| x * w).sum::<f64>() / weight;
    let y = points.iter().map(|(_, y, w)| y * w).sum::<f64>() / weight;
    let square: f64 = points.iter().map(|(px, _, w)| w * (px - x).powi(2)).sum();
    points.iter().map(|(px, py, w)| w * (px - x) * (py - y)).sum::<f64>() / square
}

/// The ratio of two sums over batches, and its standard error. Means of k batches with the Hurst
/// parameter H scatter as k^(H - 1), which is the familiar root for independent ones.
pub(super) fn ratio(batches: &[(f64, f64)], hurst: f64) -> (f64, f64) {
    let over: f64 = batches.iter().map(|(bytes, _)| bytes).sum();
    let under: f64 = batches.iter().map(|(_, time)| time).sum();
    let ratio = over / under;
    let square = |(bytes, time): &(f64, f64)| (bytes - ratio * time).powi(2);
    let squares: f64 = batches.iter().map(square).sum();
    let n = count(batches.len());
    (ratio, (squares * n / (n - 1.0)).sqrt() / under * n.powf(hurst - 0.5))
}

/// As many standard errors of a mean of so many batches as are exceeded as seldom as four known ones, which is
/// once in 16,000.
pub(super) fn four_errors(batches: usize) -> f64 {
    let freedom = count(batches.saturating_sub(1)).max(1.0);
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - SELDOM / 2.0))
}

const SELDOM: f64 = 1.0 / 16_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Streams;

    fn drawn(law: &Law, n: usize) -> Vec<f64> {
        let mut stream = Streams::new(7, "test").stream("x");
        (0..n).map(|_| law.sample(&mut stream)).collect()
    }

    #[test]
    fn a_law_is_told_from_one_that_lies_a_thirtieth_of_its_deviation_beside() {
        let (law, beside) =
            (Law::of("normal", [100.0, 10.0, 0.0]), Law::of("normal", [100.33, 10.0, 0.0]));
        let mut values = drawn(&law, 100_000);
        assert!(kolmogorov(&mut values, &law).1 > 0.001);
        assert!(kolmogorov(&mut values, &beside).1 < 0.001);
        for value in &mut values {
            *value = value.round();
        }
        assert!(chi_squared(&values, &law).1 > 0.001);
        assert!(chi_squared(&values, &beside).1 < 0.001);
    }

    /// 75 of 100 where three quarters are expected; 55 are not.
    #[test]
    fn two_values_in_exactly_their_shares_are_as_likely_as_can_be() {
        let value = |value| Law::of("const", [value, 0.0, 0.0]);
        let law = Law::Mix(vec![(0.75, value(1500.0)), (0.25, value(576.0))]);
        let values = |large: usize| [vec![1500.0; large], vec![576.0; 100 - large]].concat();
        assert!(chi_squared(&values(75), &law).1 > 0.999);
        assert!(chi_squared(&values(55), &law).1 < 0.001);
    }

    /// t of 9 batches at 1 - 1/32000 is 7.4, of very many 4.
    #[test]
    fn few_batches_allow_for_more() {
        assert!((four_errors(10_000) - 4.0).abs() < 0.01, "{}", four_errors(10_000));
        assert!((7.0..8.0).contains(&four_errors(9)), "{}", four_errors(9));
    }

    #[test]
    fn independent_values_have_no_memory_and_half_as_hurst_parameter() {
        let values = drawn(&Law::of("exp", [1.0, 0.0, 0.0]), 1 << 17);
        assert!(lag_one(&values).abs() < 0.02);
        assert!((hurst(&values) - 0.5).abs() < 0.02, "{}", hurst(&values));
    }
}
