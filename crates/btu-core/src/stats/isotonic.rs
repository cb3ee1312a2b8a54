//! Isotonic regression: the best curve that never falls.

/// The never-falling values closest to `values` in least squares, by pooling adjacent violators
/// (Ayer et al., "An empirical distribution function for sampling with incomplete information",
/// Annals of Mathematical Statistics 26, 1955).
pub fn isotonic(values: &[f64]) -> Vec<f64> {
    let equal: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
    isotonic_weighted(&equal)
}

/// The same for (value, weight): a squared error counts as much as its weight.
pub fn isotonic_weighted(values: &[(f64, f64)]) -> Vec<f64> {
    let mut pools: Vec<Pool> = Vec::with_capacity(values.len());
    for (mean, weight) in values.iter().copied() {
        pools.push(Pool { mean, weight, n: 1 });
        merge_violators(&mut pools);
    }
    pools.into_iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.n)).collect()
}

/// Neighbours that share one fitted value.
#[derive(Clone, Copy, Debug)]
struct Pool {
    mean: f64,
    weight: f64,
    n: usize,
}

/// Merges the last pool into the one before it for as long as that one is higher.
fn merge_violators(pools: &mut Vec<Pool>) {
    while let [.., before, last] = pools[..] {
        if before.mean <= last.mean {
            return;
        }
        let weight = before.weight + last.weight;
        let mean = (before.mean * before.weight + last.mean * last.weight) / weight;
        pools.truncate(pools.len() - 2);
        pools.push(Pool { mean, weight, n: before.n + last.n });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 1 3 2 4 3 5: 3 and 2 pool to 2.5, 4 and 3 to 3.5.
    #[test]
    fn adjacent_violators_are_pooled() {
        let fit = isotonic(&[1.0, 3.0, 2.0, 4.0, 3.0, 5.0]);
        assert_eq!(fit, [1.0, 2.5, 2.5, 3.5, 3.5, 5.0]);
    }

    #[test]
    fn a_falling_row_is_one_pool() {
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
        assert!(isotonic(&[]).is_empty());
    }

    /// 3 and 1 with weights 1 and 3 pool to 6/4.
    #[test]
    fn a_pool_has_the_weighted_mean_of_its_values() {
        assert_eq!(isotonic_weighted(&[(3.0, 1.0), (1.0, 3.0), (9.0, 1.0)]), [1.5, 1.5, 9.0]);
    }

    proptest! {
        #[test]
        fn a_fit_never_falls_and_keeps_the_sum(
            values in prop::collection::vec(-100.0..100.0f64, 0..30),
        ) {
            let fit = isotonic(&values);
            prop_assert!(fit.windows(2).all(|pair| pair[0] <= pair[1]));
            let (sum, want): (f64, f64) = (fit.iter().sum(), values.iter().sum());
            prop_assert!((sum - want).abs() < 1e-9);
        }
    }
}
