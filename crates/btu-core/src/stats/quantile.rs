//! Quantiles by linear interpolation, and the robust spread built on them.

/// The quantile at `share` (0 to 1) by linear interpolation: type 7 of Hyndman and Fan, "Sample
/// quantiles in statistical packages", The American Statistician 50(4), 1996. The position among
/// the sorted values, from 0, is `(n - 1) x share`.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = super::count(sorted.len().checked_sub(1)?) * share.clamp(0.0, 1.0);
    let low = floor(position);
    let high = (low + 1).min(sorted.len() - 1);
    let part = position - super::count(low);
    Some(sorted[low] + part * (sorted[high] - sorted[low]))
}

/// The quantile at one half.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median of the absolute deviations from the median.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&deviations)
}

/// 1.4826 MAD / median: the coefficient of variation of a normal sample, unmoved by outliers
/// (1.4826 = 1 / the 75 % quantile of the normal distribution; Rousseeuw and Croux, 1993).
pub fn robust_cv(values: &[f64]) -> Option<f64> {
    let middle = median(values).filter(|middle| *middle > 0.0)?;
    mad(values).map(|deviation| NORMAL_MAD * deviation / middle)
}

/// What a MAD is multiplied by to estimate the standard deviation of a normal sample.
pub(crate) const NORMAL_MAD: f64 = 1.4826;

/// The whole part of a position in a slice.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position is between 0 and the length of a slice"
)]
pub(crate) fn floor(position: f64) -> usize {
    position as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 1 2 4 8: positions 0.75, 1.5 and 2.25 lie at 1.75, 3 and 5.
    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        let values = [8.0, 1.0, 4.0, 2.0];
        let found = [0.25, 0.5, 0.75].map(|share| quantile(&values, share).unwrap());
        assert!(found.iter().zip([1.75, 3.0, 5.0]).all(|(f, want)| (f - want).abs() < 1e-12));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
    }

    /// 1, 2, 3, 4, 100: median 3, deviations 2 1 0 1 97, MAD 1, robust CV 1.4826 / 3.
    #[test]
    fn one_wild_value_does_not_move_the_robust_spread() {
        let values = [1.0, 2.0, 3.0, 4.0, 100.0];
        assert_eq!(mad(&values), Some(1.0));
        assert!((robust_cv(&values).unwrap() - 0.4942).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn quantiles_are_monotone(
            values in prop::collection::vec(-1e6..1e6f64, 1..30),
            a in 0.0..1.0f64,
            b in 0.0..1.0f64,
        ) {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(quantile(&values, low) <= quantile(&values, high));
        }
    }
}
