//! Numbers of about 106 bits: the sum of two `f64`, the second at most half a unit in the last place of the first.
//!
//! Sources: T. J. Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971);
//! D. E. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B; Y. Hida, X. S. Li, D. H. Bailey, Algorithms for
//! quad-double precision floating point arithmetic, ARITH-15 (2001). Nothing here calls a mathematical library.

use std::ops::Add;
use std::ops::Div;
use std::ops::Mul;
use std::ops::Neg;
use std::ops::Sub;

/// A real number, as far as it is known: exactly `high` + `low`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// The sum of two numbers, of which the second is that small already.
    pub(super) const fn of(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// The nearest `f64`.
    pub fn nearest(self) -> f64 {
        self.high
    }

    /// The number times a power of two, which is exact.
    pub(super) fn scaled(self, power_of_two: f64) -> Self {
        Self { high: self.high * power_of_two, low: self.low * power_of_two }
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.high, other.high);
        let (low, low_error) = two_sum(self.low, other.low);
        let first = quick_two_sum(sum, error + low);
        quick_two_sum(first.high, first.low + low_error)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        quick_two_sum(product, error + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    /// Long division with three digits, each an `f64`.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        let third = rest.high / other.high;
        quick_two_sum(first, second) + third.into()
    }
}

/// The sum, rounded, and exactly what the rounding took.
fn two_sum(left: f64, right: f64) -> (f64, f64) {
    let sum = left + right;
    let of_right = sum - left;
    (sum, (left - (sum - of_right)) + (right - of_right))
}

/// The sum of two numbers, of which the first is the larger one.
fn quick_two_sum(left: f64, right: f64) -> DoubleDouble {
    let sum = left + right;
    DoubleDouble::of(sum, right - (sum - left))
}

/// The product, rounded, and exactly what the rounding took. By halves of 26 bits: where the CPU lacks a fused
/// multiply-add, that would be a call of the library that is judged.
fn two_product(left: f64, right: f64) -> (f64, f64) {
    let product = left * right;
    let ((a, b), (c, d)) = (halves(left), halves(right));
    (product, ((a * c - product) + a * d + b * c) + b * d)
}

fn halves(value: f64) -> (f64, f64) {
    let shifted = SPLITTER * value;
    let high = shifted - (shifted - value);
    (high, value - high)
}

/// 2^27 + 1
const SPLITTER: f64 = 134_217_729.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_f64_loses_is_kept() {
        let tiny = DoubleDouble::from(2.0_f64.powi(-80));
        let sum = DoubleDouble::from(1.0) + tiny;
        assert!(sum.nearest().to_bits() == 1.0_f64.to_bits());
        assert_eq!(sum - 1.0.into(), tiny);
    }

    /// (2^53 - 1)^2 = 2^106 - 2^54 + 1
    #[test]
    fn a_product_of_two_f64_is_exact() {
        let most = 2.0_f64.powi(53) - 1.0;
        let square = DoubleDouble::from(most) * most.into();
        assert_eq!(square, DoubleDouble::of(2.0_f64.powi(106) - 2.0_f64.powi(54), 1.0));
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend() {
        for (dividend, divisor) in [(1.0, 3.0), (2.0, 7.0), (-355.0, 113.0), (1e-3, 3700.0)] {
            let quotient = DoubleDouble::from(dividend) / divisor.into();
            let rest = quotient * divisor.into() - dividend.into();
            assert!(rest.high.abs() <= 2.0_f64.powi(-103) * dividend.abs(), "{rest:?}");
        }
    }
}
