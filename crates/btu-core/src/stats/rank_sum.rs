//! The one-sided test of Mann and Whitney: is the first sample the larger one?

use statrs::distribution::ContinuousCDF;
use statrs::distribution::Normal;

use super::compare::RankSum;
use super::count;

/// The probability that so many wins of `first` over `second`, or more, come about by chance alone
/// (Mann and Whitney, Annals of Mathematical Statistics 18, 1947): exact for small samples without
/// ties, where 5 against 5 reach 1 / 252 = 0.004 at best; else the normal approximation. `None` for
/// an empty side; 1 where all values are equal.
pub fn mann_whitney_greater(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let sum = RankSum::of(first, second);
    let small = first.len() * second.len() <= LARGEST_EXACT;
    if small && !sum.has_ties() {
        return Some(exact(first.len(), second.len(), sum.wins));
    }
    if sum.variance <= 0.0 {
        return Some(1.0);
    }
    let z = (sum.wins - sum.mean - 0.5) / sum.variance.sqrt();
    Some(Normal::new(0.0, 1.0).ok()?.cdf(-z))
}

/// P(U >= wins) over all orders of `n` and `m` distinct values.
fn exact(n: usize, m: usize, wins: f64) -> f64 {
    let orders = orders(n, m);
    let total: f64 = orders.iter().sum();
    let reached = orders.iter().enumerate().filter(|(u, _)| count(*u) >= wins - 1e-9);
    reached.map(|(_, orders)| *orders).sum::<f64>() / total
}

/// How many orders of `n` and `m` values have each number of wins: the coefficients of the Gaussian binomial
/// of n + m over n, the product of (1 - q^(m + i)) / (1 - q^i) for i from 1 to n (Andrews, "The Theory of
/// Partitions", 1976, chapter 3). After each factor they are those of `i` and `m` values, whole numbers that
/// a float holds.
fn orders(n: usize, m: usize) -> Vec<f64> {
    let mut orders = vec![0.0; n * m + 1];
    orders[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..orders.len()).rev() {
            orders[u] -= orders[u - m - i];
        }
        for u in i..orders.len() {
            orders[u] += orders[u - i];
        }
    }
    orders
}

/// The largest n x m whose orders are counted.
const LARGEST_EXACT: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_above_five_is_one_order_of_252() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((mann_whitney_greater(&high, &low).unwrap() - 1.0 / 252.0).abs() < 1e-12);
        assert!((mann_whitney_greater(&low, &high).unwrap() - 1.0).abs() < 1e-12);
    }

    /// 2 against 2: the wins 0 1 2 3 4 have 1 1 2 1 1 of 6 orders.
    #[test]
    fn orders_of_two_against_two() {
        assert_eq!(orders(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(orders(3, 2), orders(2, 3));
        assert!(
            (mann_whitney_greater(&[1.0, 4.0], &[2.0, 3.0]).unwrap() - 4.0 / 6.0).abs() < 1e-12
        );
    }

    #[test]
    fn ties_and_large_samples_go_by_the_normal_approximation() {
        let first: Vec<f64> = (0..30).map(f64::from).collect();
        let second: Vec<f64> = (0..30).map(|n| f64::from(n) + 0.5).collect();
        let p = mann_whitney_greater(&second, &first).unwrap();
        assert!(p > 0.3 && p < 0.5, "{p}");
        assert_eq!(mann_whitney_greater(&[1.0; 4], &[1.0; 4]), Some(1.0));
        assert_eq!(mann_whitney_greater(&[], &[1.0]), None);
    }
}
