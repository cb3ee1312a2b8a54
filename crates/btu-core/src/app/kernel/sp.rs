//! SP: scalar pentadiagonal systems along each axis of a flow, whose sweeps pass rows from cell to cell.
//!
//! Source: NASA report RNR-94-007, the application benchmarks; the numbers are those of NPB 3.4.2.

mod eigen;
mod pentadiagonal;
mod problems;
#[cfg(test)]
mod tests;

use super::Kernel;
use super::Outcome;
use super::flow;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;
use pentadiagonal::Pentadiagonal;
use problems::PROBLEMS;

/// The kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sp;

impl Kernel for Sp {
    fn name(&self) -> &'static str {
        "sp"
    }

    fn about(&self) -> &'static str {
        "a flow solved by scalar pentadiagonal systems: many large messages between neighbours"
    }

    fn takes(&self, ranks: usize) -> bool {
        flow::takes(ranks)
    }

    fn legal(&self) -> &'static str {
        flow::LEGAL
    }

    fn memory(&self, class: ProblemClass, ranks: usize) -> Bytes {
        flow::memory(class.of(PROBLEMS).points, ranks, pentadiagonal::BYTES_PER_POINT)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        flow::run::<Pentadiagonal>(&class.of(PROBLEMS), ranks)
    }
}
