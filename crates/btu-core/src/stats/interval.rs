//! The interval of a geometric mean: Student's t on logarithms.

use statrs::distribution::ContinuousCDF;
use statrs::distribution::StudentsT;

use super::count;
use super::logs;
use super::mean_and_sd;

/// A 95 % interval of a positive quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// True for a value inside, bounds included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half the width on the log scale as a relative change: 0.025 for "within 2.5 %".
    pub fn half_width(self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}

/// The 95 % interval of the geometric mean of `values`: mean of logs +- t(0.975, n - 1) sd /
/// sqrt(n), taken back by exp (Student, "The probable error of a mean", Biometrika 6, 1908).
///
/// `None` under two values, or where a value is not positive. Two values give an interval that is
/// right and useless (t = 12.7); callers print none below three.
pub fn student_on_logs(values: &[f64]) -> Option<Interval> {
    let (mean, sd) = mean_and_sd(&logs(values)?)?;
    let n = count(values.len());
    let half = t_quantile(n - 1.0, 0.975)? * sd / n.sqrt();
    Some(Interval { low: (mean - half).exp(), high: (mean + half).exp() })
}

/// The 95 % interval of the arithmetic mean of `values`, for quantities that may be zero or less; `None` under two.
pub fn student(values: &[f64]) -> Option<Interval> {
    let (mean, sd) = mean_and_sd(values)?;
    let n = count(values.len());
    let half = t_quantile(n - 1.0, 0.975)? * sd / n.sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

/// The quantile of Student's t with `freedom` degrees of freedom.
pub(super) fn t_quantile(freedom: f64, share: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table values of t(0.975): 4.303 for 2 degrees of freedom, 2.776 for 4, 2.262 for 9.
    #[test]
    fn t_agrees_with_the_tables() {
        for (freedom, table) in [(2.0, 4.303), (4.0, 2.776), (9.0, 2.262)] {
            assert!((t_quantile(freedom, 0.975).unwrap() - table).abs() < 5e-4);
        }
    }

    /// 0, 1, 2: mean 1, sd 1; half = 4.3027 / sqrt(3).
    #[test]
    fn a_mean_with_a_zero_has_an_interval_too() {
        let interval = student(&[0.0, 1.0, 2.0]).unwrap();
        assert!((interval.low - (1.0 - 2.4842)).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - (1.0 + 2.4842)).abs() < 1e-4, "{interval:?}");
        assert_eq!((student(&[1.0]), student(&[])), (None, None));
        assert_eq!(student_on_logs(&[0.0, 1.0, 2.0]), None);
    }

    /// 1, e, e^2: logs 0 1 2, mean 1, sd 1; half = 4.3027 / sqrt(3) = 2.4842.
    #[test]
    fn the_interval_of_three_powers_of_e() {
        let e = std::f64::consts::E;
        let interval = student_on_logs(&[1.0, e, e * e]).unwrap();
        assert!((interval.low.ln() - (1.0 - 2.4841)).abs() < 1e-3);
        assert!((interval.high.ln() - (1.0 + 2.4841)).abs() < 1e-3);
        assert!((interval.half_width() - 2.4841_f64.exp_m1()).abs() < 1e-2);
    }

    #[test]
    fn one_value_or_a_zero_has_no_interval() {
        assert_eq!(student_on_logs(&[1.0]), None);
        assert_eq!(student_on_logs(&[1.0, 0.0, 2.0]), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let interval = student_on_logs(&[5.0; 4]).unwrap();
        assert!((interval.low - 5.0).abs() < 1e-12 && (interval.high - 5.0).abs() < 1e-12);
    }
}
