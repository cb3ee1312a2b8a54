//! The loop that is timed, and the same loop without a function.

use std::hint::black_box;

use btu_core::app::math::EXPONENT;
use btu_core::app::math::Function;

use super::Functions;

/// Adds up the results for all arguments, so many times. The compiler knows neither an argument nor what becomes of the sum:
/// it can leave out nothing, compute nothing beforehand, and take no two arguments at once.
#[expect(clippy::inline_always, reason = "compiled for what its caller is compiled for")]
#[inline(always)]
pub(super) fn sum(arguments: &[f64], passes: u32, call: impl Fn(f64) -> f64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..passes {
        for argument in arguments {
            sum += call(black_box(*argument));
        }
    }
    black_box(sum)
}

/// The same for powers, whose exponent the compiler does not know either.
#[expect(clippy::inline_always, reason = "compiled for what its caller is compiled for")]
#[inline(always)]
pub(super) fn sum_of_powers(arguments: &[f64], passes: u32, pow: impl Fn(f64, f64) -> f64) -> f64 {
    let exponent = black_box(EXPONENT);
    sum(arguments, passes, |base| pow(base, exponent))
}

/// A loop in which nothing is called.
#[derive(Debug)]
pub(super) struct EmptyLoop;

impl Functions for EmptyLoop {
    fn sum(&self, _: Function, arguments: &[f64], passes: u32) -> f64 {
        sum(arguments, passes, |argument| argument)
    }
}
