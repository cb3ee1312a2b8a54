//! The C library of this machine.

use btu_core::app::math::Mode;
use btu_sys::loaded::RealFunctions;

use super::Functions;
use super::MathLibrary;
use super::called::Called;
use crate::error::EngineError;

/// The library `system`.
#[derive(Debug)]
pub(super) struct System;

impl MathLibrary for System {
    fn name(&self) -> &'static str {
        "system"
    }

    fn about(&self) -> &'static str {
        "the C library of this machine, libm.so.6, each function by its pointer"
    }

    fn mode(&self) -> Mode {
        Mode::Call
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        Ok(Box::new(Called(RealFunctions::of_system()?)))
    }
}
