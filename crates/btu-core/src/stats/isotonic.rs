//! Isotonic regression: the best curve that never falls.

/// The never-falling values closest to `values` in least squares, by pooling adjacent violators
/// (Ayer et al., "An empirical distribution function for sampling with incomplete information",
/// Annals of Mathematical Statistics 26, 1955).
pub fn isotonic(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for value in values {
        pools.push((*value, 1));
        merge_violators(&mut pools);
    }
    pools.into_iter().flat_map(|(mean, n)| std::iter::repeat_n(mean, n)).collect()
}

/// Merges the last pool into the one before it for as long as that one is higher.
fn merge_violators(pools: &mut Vec<(f64, usize)>) {
    while let [.., (before, n), (last, m)] = pools[..] {
        if before <= last {
            return;
        }
        let weight = super::count(n + m);
        pools.truncate(pools.len() - 2);
        pools.push(((before * super::count(n) + last * super::count(m)) / weight, n + m));
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
