//! Does one order predict another? Spearman's rank correlation.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::count;
use super::interval::Interval;
use crate::run::schedule::shuffle;

/// Spearman's rho: the correlation of the ranks, where equal values share the mean of theirs (Spearman,
/// "The proof and measurement of association between two things", American Journal of Psychology 15,
/// 1904). `None` under 3 pairs, or where all values of a side are equal.
pub fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len() < 3 || first.len() != second.len() {
        return None;
    }
    correlation(&ranks(first), &ranks(second))
}

/// The 95 % interval of rho by Fisher's z with variance 1.06 / (n - 3) (Fieller, Hartley and Pearson,
/// "Tests for rank correlation coefficients", Biometrika 44, 1957). `None` under 10 pairs, where the
/// approximation is not to be trusted, and at the ends of the scale.
pub fn spearman_interval(rho: f64, pairs: usize) -> Option<Interval> {
    if pairs < LEAST_FOR_INTERVAL || rho.abs() >= 1.0 {
        return None;
    }
    let half = 1.959_964 * (1.06 / (count(pairs) - 3.0)).sqrt();
    Some(Interval { low: (rho.atanh() - half).tanh(), high: (rho.atanh() + half).tanh() })
}

/// The two-sided p value of "no relation": the share of all orders of one side whose rho is at least
/// as far from 0. Every order up to 8 pairs, 20,000 drawn ones above. `None` under 4 pairs, where not
/// even a perfect relation is a surprise.
pub fn spearman_p(first: &[f64], second: &[f64], seed: u64) -> Option<f64> {
    let found = spearman(first, second).filter(|_| first.len() >= 4)?.abs();
    let (fixed, mut moved) = (ranks(first), ranks(second));
    let as_far =
        |moved: &[f64]| correlation(&fixed, moved).is_some_and(|rho| rho.abs() >= found - ROUNDING);
    if first.len() <= MOST_FOR_ALL {
        let (mut hits, mut all) = (0, 0);
        each_order(&mut moved, 0, &mut |order| {
            all += 1;
            hits += usize::from(as_far(order));
        });
        return Some(count(hits) / count(all));
    }
    let mut chance = ChaCha12Rng::seed_from_u64(seed);
    let hits = (0..DRAWN).filter(|_| {
        shuffle(&mut moved, &mut chance);
        as_far(&moved)
    });
    Some((count(hits.count()) + 1.0) / (count(DRAWN) + 1.0))
}

/// The ranks from 1, equal values sharing the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        count(below) + f64::midpoint(count(equal), 1.0)
    };
    values.iter().map(rank).collect()
}

/// Pearson's correlation; `None` where all values of a side are equal.
pub(crate) fn correlation(first: &[f64], second: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count(values.len());
    let (a, b) = (mean(first), mean(second));
    let pairs = || first.iter().zip(second).map(|(x, y)| (x - a, y - b));
    let square = |of: fn((f64, f64)) -> f64| pairs().map(of).map(|d| d * d).sum::<f64>();
    let spread = (square(|(x, _)| x) * square(|(_, y)| y)).sqrt();
    (spread > 0.0).then(|| pairs().map(|(x, y)| x * y).sum::<f64>() / spread)
}

/// Calls `see` with every order of the values, those before `from` fixed.
fn each_order(values: &mut [f64], from: usize, see: &mut impl FnMut(&[f64])) {
    if from == values.len() {
        return see(values);
    }
    for other in from..values.len() {
        values.swap(from, other);
        each_order(values, from + 1, see);
        values.swap(from, other);
    }
}

const LEAST_FOR_INTERVAL: usize = 10;
const MOST_FOR_ALL: usize = 8;
const DRAWN: usize = 20_000;
/// Sums of ranks in another order may differ in their last digit.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The four machines of the paper's table 1: ranks of BTU 4 3 2 1, of price and of marks
    /// 4 1 2.5 2.5; covariance 1.5, squares 5 and 4.5, rho = 1.5 / sqrt(22.5) = 0.3162.
    //= maly1996#5 table 1
    #[test]
    fn neither_price_nor_marks_predict_the_paper_s_ranking() {
        let btu = [2.87, 2.72, 2.45, 2.19];
        let price = [15195.0, 2900.0, 7745.0, 7745.0];
        let marks = [76.9, 32.2, 65.3, 65.3];
        for other in [price, marks] {
            assert!((spearman(&btu, &other).unwrap() - 0.316_227_766).abs() < 1e-9);
        }
        // No order of these ranks is nearer to 0: it is no surprise at all.
        let p = spearman_p(&btu, &price, 1).unwrap();
        assert!((p - 1.0).abs() < 1e-12, "{p}");
    }

    /// Four pairs in perfect order: 2 of 24 orders are as extreme.
    #[test]
    fn a_perfect_order_of_four_is_one_of_twelve() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(spearman(&values, &values), Some(1.0));
        assert!((spearman_p(&values, &values, 1).unwrap() - 2.0 / 24.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_or_equal_values_have_no_relation() {
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0; 3]), None);
        assert_eq!(spearman_p(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 1), None);
        assert_eq!(spearman_interval(0.5, 9), None);
    }

    /// rho 0.5, n = 12: z = 0.5493 +- 1.96 sqrt(1.06 / 9) = 0.6726; tanh(-0.1233), tanh(1.2219).
    #[test]
    fn the_interval_of_a_half_over_twelve() {
        let interval = spearman_interval(0.5, 12).unwrap();
        assert!((interval.low + 0.1227).abs() < 1e-3 && (interval.high - 0.8402).abs() < 1e-3);
    }

    #[test]
    fn drawn_orders_agree_with_all_orders() {
        let first: Vec<f64> = (0..9_i32).map(f64::from).collect();
        let second = [2.0, 0.0, 1.0, 4.0, 3.0, 7.0, 5.0, 8.0, 6.0];
        let p = spearman_p(&first, &second, 7).unwrap();
        assert_eq!(Some(p), spearman_p(&first, &second, 7));
        assert!(p < 0.02, "{p}");
    }

    proptest! {
        #[test]
        fn rho_is_bounded_and_knows_no_unit(
            pairs in prop::collection::vec((0.1..100.0_f64, 0.1..100.0_f64), 3..20),
            unit in 0.01..100.0_f64,
        ) {
            let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let scaled: Vec<f64> = first.iter().map(|value| value * unit).collect();
            let mirrored: Vec<f64> = first.iter().map(|value| -value).collect();
            if let Some(rho) = spearman(&first, &second) {
                prop_assert!(rho.abs() <= 1.0 + 1e-12);
                prop_assert!((spearman(&scaled, &second).unwrap() - rho).abs() < 1e-9);
                prop_assert!((spearman(&mirrored, &second).unwrap() + rho).abs() < 1e-9);
            }
        }
    }
}
