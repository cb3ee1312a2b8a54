//! A file service: what it delivers to one and to many clients, and what that costs its server.
//!
//! The five experiments are those of CITI TR 92-2 (Antonelli 1992), each with its table.

pub mod analysis;
pub mod experiment;
mod leftovers;
pub mod night;
pub mod plan;
pub mod point;
pub mod round;
pub mod sample;
pub mod table;
pub mod target;
#[cfg(test)]
mod testing;

use crate::verb;

pub use leftovers::leftovers;

/// Everything that a result directory of a file service holds.
pub type Journal = verb::Journal<plan::Plan, sample::Line>;
