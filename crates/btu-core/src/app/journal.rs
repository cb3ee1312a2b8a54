//! A measurement of applications that was read back whole: its plan, its hosts, its lines.

use super::plan::Plan;
use super::sample::Line;
use crate::verb;

/// Everything that a result directory of applications holds.
pub type Journal = verb::Journal<Plan, Line>;
