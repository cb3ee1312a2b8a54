//! What a kernel is, and the list of those that exist.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::similar_names,
    reason = "indices, keys and counts of the classes are below 2^31; names are those of the published algorithms"
)]

mod bt;
mod cg;
mod ep;
mod flow;
mod ft;
mod is;
mod lu;
mod mg;
mod sp;

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;

use super::class::ProblemClass;
use super::endpoint::LayerError;
use super::ranks::Ranks;
use crate::units::Bytes;

/// Every kernel of this build, in the order of the pages that describe them.
pub static KERNELS: &[&dyn Kernel] =
    &[&ep::Ep, &is::Is, &cg::Cg, &mg::Mg, &ft::Ft, &lu::Lu, &sp::Sp, &bt::Bt];

/// A parallel program that verifies itself.
///
/// To add one: a file in this folder with a type that implements `Kernel`, and a line in [`KERNELS`]. It computes and
/// passes messages through [`Ranks`], and does nothing else: no clock, no chance but [`super::random`], no thread.
///
/// `run` makes its data, warms up where the benchmark does, calls [`Ranks::start`], iterates, calls [`Ranks::stop`] and
/// verifies. Every rank returns the same outcome, but for checks that one rank alone can make.
pub trait Kernel: fmt::Debug + Sync {
    /// Its name: lower case, as in the literature.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// Whether it can be divided among so many ranks.
    fn takes(&self, ranks: usize) -> bool;

    /// The numbers of ranks that it takes, in words: "a power of two".
    fn legal(&self) -> &'static str;

    /// What all ranks together keep in memory, about.
    fn memory(&self, class: ProblemClass, ranks: usize) -> Bytes;

    /// Runs one rank of it.
    ///
    /// # Errors
    /// A message could not be passed.
    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError>;
}

/// The kernel of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Kernel> {
    KERNELS.iter().copied().find(|kernel| kernel.name() == name)
}

/// What a kernel found, and what it should have found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Every figure that was verified.
    pub checks: Vec<Check>,
}

/// One figure beside its reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// What was computed.
    #[serde(deserialize_with = "number")]
    pub found: f64,
    /// What the benchmark publishes.
    pub reference: f64,
    /// The largest relative difference that passes; 0 for what must be equal.
    pub tolerance: f64,
}

/// What is no number is `null` in JSON.
fn number<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    Option::deserialize(from).map(|number| number.unwrap_or(f64::NAN))
}

impl Check {
    /// A figure beside its reference.
    pub fn new(name: impl Into<String>, found: f64, reference: f64, tolerance: f64) -> Self {
        Self { name: name.into(), found, reference, tolerance }
    }

    /// True where the figure is the reference within the tolerance; never for what is no number.
    pub fn passes(&self) -> bool {
        let apart = (self.found - self.reference).abs();
        apart <= self.tolerance * self.reference.abs()
    }
}

impl Outcome {
    /// True where something was verified and all of it passes.
    pub fn is_verified(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(Check::passes)
    }
}

/// True for 1, 2, 4, 8 ...
pub(crate) const fn is_power_of_two(ranks: usize) -> bool {
    ranks.is_power_of_two()
}

/// The root of a square number.
pub(crate) const fn square_root(ranks: usize) -> Option<usize> {
    let root = ranks.isqrt();
    if root * root == ranks && ranks > 0 { Some(root) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_no_number_comes_back_as_none_and_does_not_pass() {
        let kept = serde_json::to_string(&Check::new("norm", f64::NAN, 1.0, 0.1)).unwrap();
        let check: Check = serde_json::from_str(&kept).unwrap();
        assert!(check.found.is_nan() && !check.passes());
    }
}
