//! Functions of a library that was loaded, each called by its pointer.

use std::hint::black_box;

use btu_core::app::math::Function;
use btu_sys::loaded::RealFunctions;

use super::Functions;
use super::lap::sum;
use super::lap::sum_of_powers;

/// The pointer is read anew for each call, as a program reads it from the table of what it is linked with.
#[derive(Debug)]
pub(super) struct Called(pub(super) RealFunctions);

impl Called {
    fn unary(&self, function: Function) -> Option<extern "C" fn(f64) -> f64> {
        Some(match function {
            Function::Floor => self.0.floor,
            Function::Ceil => self.0.ceil,
            Function::Fabs => self.0.fabs,
            Function::Log10 => self.0.log10,
            Function::Log => self.0.log,
            Function::Sqrt => self.0.sqrt,
            Function::Exp => self.0.exp,
            Function::Pow => return None,
        })
    }
}

impl Functions for Called {
    fn sum(&self, function: Function, arguments: &[f64], passes: u32) -> u64 {
        match self.unary(function) {
            Some(pointer) => sum(arguments, passes, |x| black_box(pointer)(x)),
            None => sum_of_powers(arguments, passes, |x, y| black_box(self.0.pow)(x, y)),
        }
    }
}
