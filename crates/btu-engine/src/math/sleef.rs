//! SLEEF, which computes the same for one number and for vectors.

use btu_core::app::math::Mode;
use btu_sys::loaded::RealFunctions;

use super::Functions;
use super::MathLibrary;
use super::called::Called;
use crate::error::EngineError;

/// The library `sleef`.
#[derive(Debug)]
pub(super) struct Sleef;

impl MathLibrary for Sleef {
    fn name(&self) -> &'static str {
        "sleef"
    }

    fn about(&self) -> &'static str {
        "SLEEF 3, libsleef.so.3, its functions of one number, each by its pointer"
    }

    fn mode(&self) -> Mode {
        Mode::Call
    }

    fn open(&self) -> Result<Box<dyn Functions>, EngineError> {
        let functions = RealFunctions::of_sleef().map_err(|cause| {
            EngineError::Refused(format!("{}; {REMEDY}", btu_core::words::sentence(&cause)))
        })?;
        Ok(Box::new(Called(functions)))
    }
}

const REMEDY: &str = "install libsleef3 (Debian, Ubuntu) or sleef (Fedora, Arch)";
