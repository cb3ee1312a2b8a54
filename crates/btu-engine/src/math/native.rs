//! The methods of `f64` once more, compiled for a CPU that rounds by an instruction: what `rust` is in a build for such
//! a CPU.

use btu_core::app::math::Function;
use btu_core::app::math::Mode;
use btu_sys::instructions::Sse41;

use super::Functions;
use super::MathLibrary;
use super::rust;
use crate::error::EngineError;

/// The library `native`.
#[derive(Debug)]
pub(super) struct Native;

impl MathLibrary for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn about(&self) -> &'static str {
        "Rust's standard library, compiled for SSE4.1, which rounds by an instruction"
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        let lacks = || EngineError::Refused(WITHOUT.to_owned());
        Ok(Box::new(Compiled(Sse41::of_this_cpu().ok_or_else(lacks)?)))
    }
}

#[derive(Debug)]
struct Compiled(Sse41);

impl Functions for Compiled {
    fn sum(&self, function: Function, arguments: &[f64], passes: u32) -> u64 {
        self.0.run(|| rust::sum_of(function, arguments, passes))
    }
}

const WITHOUT: &str = "this CPU has no SSE4.1; the library rust has what other CPUs have";
