//! BT: block tridiagonal systems along each axis of a flow, whose sweeps pass blocks from cell to cell.
//!
//! Source: NASA report RNR-94-007, the application benchmarks; the numbers are those of NPB 3.4.2.

mod blocks;
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
use blocks::Blocks;
use problems::PROBLEMS;

/// The kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bt;

impl Kernel for Bt {
    fn name(&self) -> &'static str {
        "bt"
    }

    fn about(&self) -> &'static str {
        "a flow solved by block tridiagonal systems: few large messages between neighbours"
    }

    fn takes(&self, ranks: usize) -> bool {
        flow::takes(ranks)
    }

    fn legal(&self) -> &'static str {
        flow::LEGAL
    }

    fn memory(&self, class: ProblemClass, ranks: usize) -> Bytes {
        flow::memory(class.of(PROBLEMS).points, ranks, blocks::BYTES_PER_POINT)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        flow::run::<Blocks>(&class.of(PROBLEMS), ranks)
    }
}
