//! What each function exactly is, to about a hundred bits.
//!
//! Independent of the libraries that are judged: whole numbers are found by conversion, signs by bits; powers of e are a
//! series, and a root or logarithm begins with an `f64` of the standard library, which only has to be near.

use super::DoubleDouble;
use super::EXPONENT;
use super::Function;

/// The value of the function, for an argument of its domain.
pub fn exact(function: Function, argument: f64) -> DoubleDouble {
    match function {
        Function::Floor => floor(argument).into(),
        Function::Ceil => (-floor(-argument)).into(),
        Function::Fabs => f64::from_bits(argument.to_bits() & !SIGN).into(),
        Function::Log10 => log(argument) * LOG10_E,
        Function::Log => log(argument),
        Function::Sqrt => sqrt(argument),
        Function::Exp => exp(argument.into()),
        Function::Pow => pow(argument, EXPONENT),
    }
}

fn floor(value: f64) -> f64 {
    if value.is_nan() || !(-ALL_WHOLE..ALL_WHOLE).contains(&value) {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "what is cut off is the fraction")]
    #[expect(clippy::cast_precision_loss, reason = "it has less than 53 bits")]
    let towards_zero = value as i64 as f64;
    if towards_zero > value { towards_zero - 1.0 } else { towards_zero }
}

/// One step of Newton's, after which a relative error e of the start is e^2 / 2.
fn sqrt(square: f64) -> DoubleDouble {
    let start = square.sqrt();
    let root = DoubleDouble::from(start);
    root + (DoubleDouble::from(square) - root * root) / (2.0 * start).into()
}

/// One step of Halley's, after which an error e of the start is e^3 / 12.
fn log(power: f64) -> DoubleDouble {
    let start = DoubleDouble::from(power.ln());
    let (power, near) = (DoubleDouble::from(power), exp(start));
    start + ((power - near) / (power + near)).scaled(2.0)
}

fn pow(base: f64, exponent: f64) -> DoubleDouble {
    exp(log(base) * exponent.into())
}

/// e^x = 2^k ((e^r - 1) + 1), where x = k ln 2 + r. The series gets a 256th of r, and what it gives is squared eight
/// times without its 1, which would cost eight bits: (1 + m)^2 - 1 = 2 m + m^2.
fn exp(power: DoubleDouble) -> DoubleDouble {
    let doublings = floor(power.nearest() / LN_2.nearest() + 0.5);
    let rest = power - LN_2 * doublings.into();
    let mut less_one = series(rest.scaled(1.0 / 256.0));
    for _ in 0..8 {
        less_one = less_one.scaled(2.0) + less_one * less_one;
    }
    (less_one + 1.0.into()).scaled(power_of_two(doublings))
}

/// e^x - 1 = x (1 + x/2 (1 + x/3 (...))): eleven terms leave less than 2^-140 of an x below 0.0014.
fn series(x: DoubleDouble) -> DoubleDouble {
    let one = DoubleDouble::from(1.0);
    let sum = (2..=TERMS).rev().fold(one, |sum, n| one + x * sum / f64::from(n).into());
    x * sum
}

/// 2^n, of the normal numbers.
fn power_of_two(n: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, 1 to 2046")]
    let biased = (n + BIAS).clamp(1.0, 2.0 * BIAS) as u64;
    f64::from_bits(biased << 52)
}

const TERMS: u32 = 11;
const SIGN: u64 = 1 << 63;
/// 2^52: from here on every number is whole.
const ALL_WHOLE: f64 = 4_503_599_627_370_496.0;
/// Of the exponent of an `f64` (IEEE 754-2019, table 3.5).
const BIAS: f64 = 1023.0;
/// ln 2 (OEIS A002162).
const LN_2: DoubleDouble = DoubleDouble::of(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// 1 / ln 10 (OEIS A002285).
const LOG10_E: DoubleDouble =
    DoubleDouble::of(std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that these digits write: `2.718`
    fn decimal(digits: &str) -> DoubleDouble {
        let (whole, fraction) = digits.split_once('.').unwrap();
        let ten = DoubleDouble::from(10.0);
        let append = |number: DoubleDouble, digit: char| {
            number * ten + f64::from(digit.to_digit(10).unwrap()).into()
        };
        let number = whole.chars().chain(fraction.chars()).fold(0.0.into(), append);
        fraction.chars().fold(number, |number, _| number / ten)
    }

    /// To 30 digits, relative to the larger of value and 1.
    fn agrees(value: DoubleDouble, digits: &str) {
        let difference = (value - decimal(digits)).nearest().abs();
        let scale = value.nearest().abs().max(1.0);
        assert!(difference <= 1e-30 * scale, "{value:?} is not {digits}: {difference:e}");
    }

    /// Digits of the On-Line Encyclopedia of Integer Sequences: A002162, A002392, A016627 (ln 4), A007524 (log10 2),
    /// A001113, A092426 (e^4), A068985 (1/e).
    #[test]
    fn logarithms_and_powers_of_e_have_the_published_digits() {
        agrees(exact(Function::Log, 2.0), "0.693147180559945309417232121458176568");
        agrees(exact(Function::Log, 10.0), "2.302585092994045684017991454684364208");
        agrees(exact(Function::Log, 4.0), "1.386294361119890618834464242916353136");
        agrees(exact(Function::Log10, 2.0), "0.301029995663981195213738894724493027");
        agrees(exact(Function::Log10, 1000.0), "3.0");
        agrees(exact(Function::Exp, 1.0), "2.718281828459045235360287471352662498");
        agrees(exact(Function::Exp, 4.0), "54.598150033144239078110261202860878403");
        agrees(exact(Function::Exp, -1.0), "0.367879441171442321595523770161460867");
        agrees(exact(Function::Exp, 0.0), "1.0");
    }

    /// A002193, A002194, A010503, A010767 (the fourth root of 2).
    #[test]
    fn roots_and_powers_have_the_published_digits() {
        agrees(exact(Function::Sqrt, 2.0), "1.414213562373095048801688724209698079");
        agrees(exact(Function::Sqrt, 3.0), "1.732050807568877293527446341505872367");
        agrees(exact(Function::Sqrt, 1369.0), "37.0");
        agrees(pow(2.0, 0.5), "1.414213562373095048801688724209698079");
        agrees(pow(0.5, 0.5), "0.707106781186547524400844362104849039");
        agrees(pow(2.0, 0.25), "1.189207115002721066717499970560475915");
        agrees(pow(10.0, 3.0), "1000.0");
        agrees(exact(Function::Pow, 1.0), "1.0");
    }

    #[test]
    fn whole_numbers_and_signs_are_exact() {
        let of = |function, argument| exact(function, argument).nearest();
        let rows = [(2.5, 2.0, 3.0), (-2.5, -3.0, -2.0), (7.0, 7.0, 7.0), (0.3, 0.0, 1.0)];
        for (argument, floor, ceil) in rows {
            assert_eq!(
                (of(Function::Floor, argument), of(Function::Ceil, argument)),
                (floor, ceil)
            );
        }
        for whole in [1e16, -1e300, f64::INFINITY] {
            assert!(of(Function::Floor, whole).to_bits() == whole.to_bits());
        }
        assert!(of(Function::Fabs, -0.25).to_bits() == 0.25_f64.to_bits());
    }

    /// log(exp(x)) would hide an error that both make: the law of powers does not.
    #[test]
    fn the_power_of_a_sum_is_the_product_of_the_powers() {
        for (x, y) in [(0.125, -11.5), (-0.000_976_562_5, -36.0), (-5.75, 5.5), (2.25, 3.0)] {
            let (product, whole) = (exp(x.into()) * exp(y.into()), exp((x + y).into()));
            let ratio = (product / whole - 1.0.into()).nearest();
            assert!(ratio.abs() < 2.0_f64.powi(-98), "{x} and {y}: {ratio:e}");
        }
    }
}
