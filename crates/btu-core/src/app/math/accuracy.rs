//! How far the results of a library are from the exact ones, in units of the last place.

use serde::Deserialize;
use serde::Serialize;

use super::DoubleDouble;

/// The largest error over all arguments. One that rounds as well as can be has at most 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargestError {
    /// The error, at most [`NO_DIGIT_RIGHT_ULP`].
    #[serde(rename = "largest_error_ulp")]
    pub error_ulp: f64,
    /// The first argument with this error.
    #[serde(rename = "largest_error_argument")]
    pub argument: f64,
}

/// The error of a result without one correct bit, and of one that is no number: 2^53.
pub const NO_DIGIT_RIGHT_ULP: f64 = 9_007_199_254_740_992.0;

impl LargestError {
    /// Of pairs of an argument and what its result should be; `None` without any.
    pub fn over<'x>(
        exact: impl IntoIterator<Item = &'x (f64, DoubleDouble)>,
        value: impl Fn(f64) -> f64,
    ) -> Option<Self> {
        let errors = exact.into_iter().map(|(argument, exact)| Self {
            error_ulp: error_ulp(value(*argument), *exact),
            argument: *argument,
        });
        errors.reduce(|worst, next| if next.error_ulp > worst.error_ulp { next } else { worst })
    }
}

fn error_ulp(value: f64, exact: DoubleDouble) -> f64 {
    let error = (DoubleDouble::from(value) - exact).nearest().abs() / ulp(exact.nearest());
    // What is no number is larger than nothing, and not smaller either.
    if error < NO_DIGIT_RIGHT_ULP { error } else { NO_DIGIT_RIGHT_ULP }
}

/// The distance to the next number that is farther from zero.
fn ulp(value: f64) -> f64 {
    let magnitude = value.abs();
    f64::from_bits(magnitude.to_bits() + 1) - magnitude
}

#[cfg(test)]
mod tests {
    use super::super::Function;
    use super::super::exact;
    use super::*;

    fn pairs(function: Function) -> Vec<(f64, DoubleDouble)> {
        let arguments = function.arguments(500);
        arguments.into_iter().map(|x| (x, exact(function, x))).collect()
    }

    fn largest(function: Function, value: impl Fn(f64) -> f64) -> f64 {
        LargestError::over(&pairs(function), value).unwrap().error_ulp
    }

    #[test]
    fn a_result_that_is_rounded_has_half_a_unit_at_most() {
        let sqrt = largest(Function::Sqrt, f64::sqrt);
        assert!(sqrt > 0.4 && sqrt <= 0.5, "{sqrt}");
        for (function, value) in [
            (Function::Floor, f64::floor as fn(f64) -> f64),
            (Function::Ceil, f64::ceil),
            (Function::Fabs, f64::abs),
        ] {
            assert!(largest(function, value) == 0.0, "{function:?}");
        }
    }

    #[test]
    fn the_next_number_is_one_unit_away() {
        let error = error_ulp(f64::from_bits(3.0_f64.to_bits() + 1), 3.0.into());
        assert!((error - 1.0).abs() < 1e-15, "{error}");
    }

    #[test]
    fn what_is_no_number_has_no_digit_right() {
        for value in [f64::NAN, f64::INFINITY, 1e300] {
            assert!(error_ulp(value, 0.5.into()) == NO_DIGIT_RIGHT_ULP, "{value}");
        }
        let nan_at_two = |x: f64| if x > 1.5 && x < 2.5 { f64::NAN } else { x };
        let exact = [1.0, 2.0, 3.0].map(|x| (x, x.into()));
        let worst = LargestError::over(&exact, nan_at_two).unwrap();
        assert!((worst.argument, worst.error_ulp) == (2.0, NO_DIGIT_RIGHT_ULP), "{worst:?}");
    }
}
