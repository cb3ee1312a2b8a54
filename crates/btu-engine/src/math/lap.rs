//! The loop that is timed, and the same loop without a function.

use std::hint::black_box;

use btu_core::app::math::EXPONENT;
use btu_core::app::math::Function;

use super::Functions;

/// Adds up the bits of the results for all arguments, so many times. The compiler knows neither an argument nor what becomes
/// of the sum: it can leave out nothing, compute nothing beforehand, and take no two arguments at once.
///
/// As a whole number the sum stays in a register over a call. As an `f64` it would not: a call preserves no register of
/// numbers (System V ABI for AMD64, 3.2.1), and the way of the sum to memory and back takes longer than `floor` or `log`.
#[expect(clippy::inline_always, reason = "compiled for what its caller is compiled for")]
#[inline(always)]
pub(super) fn sum(arguments: &[f64], passes: u32, call: impl Fn(f64) -> f64) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..passes {
        for argument in arguments {
            sum = sum.wrapping_add(call(black_box(*argument)).to_bits());
        }
    }
    black_box(sum)
}

/// The same for powers, whose exponent the compiler does not know either.
#[expect(clippy::inline_always, reason = "compiled for what its caller is compiled for")]
#[inline(always)]
pub(super) fn sum_of_powers(arguments: &[f64], passes: u32, pow: impl Fn(f64, f64) -> f64) -> u64 {
    let exponent = black_box(EXPONENT);
    sum(arguments, passes, |base| pow(base, exponent))
}

/// A loop in which nothing is called.
#[derive(Debug)]
pub(super) struct EmptyLoop;

impl Functions for EmptyLoop {
    fn sum(&self, _: Function, arguments: &[f64], passes: u32) -> u64 {
        sum(arguments, passes, |argument| argument)
    }
}
