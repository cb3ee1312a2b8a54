//! A mesh: every pair of some hosts is measured, and a host, a direction or a path that is slower than the others is named.
//!
//! [`schedule`] says who is measured with whom and when, [`polish`] parts what pairs have in common from what is theirs
//! alone, [`suspect`] names what stands out, and [`confirm`] says how a suspicion is tried before a name is told.

pub mod analysis;
pub mod confirm;
pub mod course;
pub mod host_list;
pub mod plan;
pub mod polish;
pub mod sample;
pub mod schedule;
pub mod suspect;

#[cfg(test)]
mod simulation;

use crate::verb;

/// Everything that a result directory of a mesh holds.
pub type Journal = verb::Journal<plan::Plan, sample::Line>;
