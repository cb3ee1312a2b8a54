//! Mathematical libraries: their functions in timed loops, and their results beside the exact ones.

mod called;
mod compare;
mod lap;
mod libm;
mod native;
mod rust;
mod sleef;
mod system;

use std::fmt::Debug;

use btu_core::app::math::Function;
use btu_core::app::math::Mode;

use crate::error::EngineError;

pub use compare::Terms;
pub use compare::compare;

/// Every mathematical library of this build, in the order in which `btu list` shows them.
pub static MATH_LIBRARIES: &[&dyn MathLibrary] =
    &[&system::System, &rust::Rust, &native::Native, &libm::Libm, &sleef::Sleef];

/// A mathematical library.
///
/// To add one: a file in this folder, a line in [`MATH_LIBRARIES`], a section of its page.
pub trait MathLibrary: Debug + Sync {
    /// The name of the command line.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn about(&self) -> &'static str;

    /// How its functions are reached.
    fn mode(&self) -> Mode;

    /// Makes its functions ready to be called.
    ///
    /// # Errors
    /// This machine lacks it: a sentence with the reason and the remedy.
    fn open(&self) -> Result<Box<dyn Functions>, EngineError>;
}

/// Functions that are ready to be called.
pub trait Functions: Debug {
    /// Goes through the arguments so many times, and adds up the bits of what the function gives, modulo 2^64.
    ///
    /// The one virtual call is this: the loop behind it is compiled for the library and the function, and has nothing else
    /// in it. Nothing may be kept from one argument to the next.
    fn sum(&self, function: Function, arguments: &[f64], passes: u32) -> u64;
}

/// The library of this name.
pub fn by_name(name: &str) -> Option<&'static dyn MathLibrary> {
    MATH_LIBRARIES.iter().copied().find(|library| library.name() == name)
}
