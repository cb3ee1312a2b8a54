//! What counts: from how many passes, from which effect, at which chance of an error. The same in every
//! analysis.

/// Passes from which an interval is printed: below, Student's t is wider than any use.
pub(crate) const LEAST_PASSES: usize = 3;

/// A change of the geometric mean that is worth calling one: less than 2 % is no news.
pub(crate) const LEAST_EFFECT: f64 = 0.02;

/// The chance of calling the same different.
pub(crate) const SIGNIFICANCE: f64 = 0.05;
