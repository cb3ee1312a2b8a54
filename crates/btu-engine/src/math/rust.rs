//! The methods of `f64` in Rust's standard library: instructions where the target of the build has them, else calls of
//! what the program is linked with.

use btu_core::app::math::Function;
use btu_core::app::math::Mode;

use super::Functions;
use super::MathLibrary;
use super::lap::sum;
use super::lap::sum_of_powers;
use crate::error::EngineError;

/// The library `rust`.
#[derive(Debug)]
pub(super) struct Rust;

impl MathLibrary for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn about(&self) -> &'static str {
        "Rust's standard library, inline where the target of the build has an instruction"
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Functions for Rust {
    fn sum(&self, function: Function, arguments: &[f64], passes: u32) -> u64 {
        sum_of(function, arguments, passes)
    }
}

/// Compiled for what its caller is compiled for.
#[expect(
    clippy::inline_always,
    reason = "a caller with more instructions has nothing of them in a call"
)]
#[inline(always)]
pub(super) fn sum_of(function: Function, arguments: &[f64], passes: u32) -> u64 {
    match function {
        Function::Floor => sum(arguments, passes, f64::floor),
        Function::Ceil => sum(arguments, passes, f64::ceil),
        Function::Fabs => sum(arguments, passes, f64::abs),
        Function::Log10 => sum(arguments, passes, f64::log10),
        Function::Log => sum(arguments, passes, f64::ln),
        Function::Sqrt => sum(arguments, passes, f64::sqrt),
        Function::Exp => sum(arguments, passes, f64::exp),
        Function::Pow => sum_of_powers(arguments, passes, f64::powf),
    }
}
