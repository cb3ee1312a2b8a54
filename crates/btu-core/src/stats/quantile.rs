//! Quantiles by linear interpolation, and the robust spread built on them.

/// Values in ascending order, at least one: whoever asks for several quantiles sorts once.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Takes values in any order; `None` without any.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self(values))
    }

    /// The quantile at `share` (0 to 1) by linear interpolation: type 7 of Hyndman and Fan, "Sample
    /// quantiles in statistical packages", The American Statistician 50(4), 1996. The position among
    /// the sorted values, from 0, is `(n - 1) x share`.
    pub fn at(&self, share: f64) -> f64 {
        let Self(sorted) = self;
        let position = super::count(sorted.len() - 1) * share.clamp(0.0, 1.0);
        let low = floor(position);
        let high = (low + 1).min(sorted.len() - 1);
        sorted[low] + (position - super::count(low)) * (sorted[high] - sorted[low])
    }

    /// All of them.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// sum(v) / n.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / super::count(self.0.len())
    }
}

/// The quantile at `share`, as [`Sorted::at`]; `None` without values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    Some(Sorted::new(values.to_vec())?.at(share))
}

/// The same of whole numbers, such as nanoseconds or bytes, to the nearest one.
#[expect(clippy::cast_precision_loss, reason = "times and sizes of a measurement are below 2^53")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a quantile lies between the smallest and the largest value"
)]
pub fn whole_quantile(values: &[u64], share: f64) -> Option<u64> {
    let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
    quantile(&values, share).map(|value| value.round() as u64)
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

    /// 10 and 13 ns: the median lies at 11.5, the nearest whole number away from zero is 12.
    #[test]
    fn a_quantile_of_whole_numbers_is_the_nearest_one() {
        assert_eq!(whole_quantile(&[13, 10], 0.5), Some(12));
        assert_eq!(whole_quantile(&[13, 10], 0.9), Some(13));
        assert_eq!(whole_quantile(&[], 0.5), None);
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
