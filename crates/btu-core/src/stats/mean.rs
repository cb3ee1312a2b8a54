//! The three means of a table (maly1996, section 5, "Statistics").

use super::count;
use super::logs;

/// AM, GM and HM of one table; the geometric mean is the score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Arithmetic mean.
    pub am: f64,
    /// Geometric mean.
    pub gm: f64,
    /// Harmonic mean.
    pub hm: f64,
}

impl Means {
    /// The means of positive values; `None` for no values, or where one is not positive.
    pub fn of(values: &[f64]) -> Option<Self> {
        let (am, gm) = (arithmetic_mean(values)?, geometric_mean(values)?);
        Some(Self { am, gm, hm: harmonic_mean(values)? })
    }
}

/// sum(v) / n.
pub fn arithmetic_mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// exp(sum(ln v) / n); only positive values have one.
///
/// It is the only mean that ranks two systems alike whatever the reference system is
/// (Fleming and Wallace, CACM 29(3), 1986; maly1996, section 5).
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    arithmetic_mean(&logs(values)?).map(f64::exp)
}

/// n / sum(1 / v); only positive values have one.
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    let positive = values.iter().all(|value| *value > 0.0);
    let inverse: Vec<f64> = values.iter().map(|value| value.recip()).collect();
    arithmetic_mean(&inverse).filter(|_| positive).map(f64::recip)
}

/// sd / AM, with n - 1 under the root; at least two positive values have one.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let (mean, sd) = super::mean_and_sd(values)?;
    (mean > 0.0).then(|| sd / mean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2, 4 and 8: mean 14/3, squares 64/9 + 4/9 + 100/9 = 168/9, over 2: 28/3.
    #[test]
    fn a_spread_is_a_part_of_its_mean() {
        let found = coefficient_of_variation(&[2.0, 4.0, 8.0]).unwrap();
        assert!((found - (28.0_f64 / 3.0).sqrt() / (14.0 / 3.0)).abs() < 1e-12);
        assert_eq!(coefficient_of_variation(&[2.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None);
    }

    /// 1, 2 and 4: AM 7/3, GM cube root of 8, HM 3 / (1 + 1/2 + 1/4).
    #[test]
    fn the_means_of_1_2_4() {
        let means = Means::of(&[1.0, 2.0, 4.0]).unwrap();
        assert!((means.am - 7.0 / 3.0).abs() < 1e-12);
        assert!((means.gm - 2.0).abs() < 1e-12);
        assert!((means.hm - 12.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn no_values_or_a_value_that_is_not_positive_have_no_geometric_mean() {
        for values in [&[][..], &[1.0, 0.0], &[2.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(geometric_mean(values), None, "{values:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn harmonic_is_at_most_geometric_is_at_most_arithmetic(
            values in prop::collection::vec(1e-6..1e9f64, 1..20),
        ) {
            let means = Means::of(&values).unwrap();
            prop_assert!(means.hm <= means.gm * (1.0 + 1e-12));
            prop_assert!(means.gm <= means.am * (1.0 + 1e-12));
        }
    }
}
