//! The crate `libm`: what musl does, written in Rust, compiled into this program.

use btu_core::app::math::Function;
use btu_core::app::math::Mode;

use super::Functions;
use super::MathLibrary;
use super::lap::sum;
use super::lap::sum_of_powers;
use crate::error::EngineError;

/// The library `libm`.
#[derive(Debug)]
pub(super) struct Libm;

impl MathLibrary for Libm {
    fn name(&self) -> &'static str {
        "libm"
    }

    fn about(&self) -> &'static str {
        "the crate libm, musl's functions in Rust, compiled into this program"
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        Ok(Box::new(Self))
    }
}

impl Functions for Libm {
    fn sum(&self, function: Function, arguments: &[f64], passes: u32) -> u64 {
        match function {
            Function::Floor => sum(arguments, passes, ::libm::floor),
            Function::Ceil => sum(arguments, passes, ::libm::ceil),
            Function::Fabs => sum(arguments, passes, ::libm::fabs),
            Function::Log10 => sum(arguments, passes, ::libm::log10),
            Function::Log => sum(arguments, passes, ::libm::log),
            Function::Sqrt => sum(arguments, passes, ::libm::sqrt),
            Function::Exp => sum(arguments, passes, ::libm::exp),
            Function::Pow => sum_of_powers(arguments, passes, ::libm::pow),
        }
    }
}
