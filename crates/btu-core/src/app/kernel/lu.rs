//! LU: symmetric successive over-relaxation of a flow, whose sweeps pass many small messages from rank to rank.
//!
//! Source: NASA report RNR-94-007, the LU benchmark; the numbers are those of NPB 3.4.2.

mod faces;
mod pencils;
mod piece;
mod reference;
mod solver;
mod surface;
mod sweep;

use super::Kernel;
use super::Outcome;
use super::flow::Mesh;
use super::is_power_of_two;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;
use piece::Piece;
use reference::Figures;
use solver::Solver;

/// The kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lu;

impl Kernel for Lu {
    fn name(&self) -> &'static str {
        "lu"
    }

    fn about(&self) -> &'static str {
        "a flow solved by over-relaxation: wavefronts of many small messages"
    }

    /// Class S has 12 points per edge: more ranks would own fewer than the two that their neighbours ask for.
    fn takes(&self, ranks: usize) -> bool {
        is_power_of_two(ranks) && ranks <= 16
    }

    fn legal(&self) -> &'static str {
        "a power of two, at most 16"
    }

    fn memory(&self, class: ProblemClass, ranks: usize) -> Bytes {
        let points = class.of(POINTS);
        let of_rank = |rank| Piece::new(Mesh::new(points), rank, ranks).block.volume();
        let volume: usize = (0..ranks).map(of_rank).sum();
        Bytes::new((volume * solver::BYTES_PER_POINT) as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let piece = Piece::new(Mesh::new(class.of(POINTS)), ranks.rank(), ranks.size());
        let mut solver = Solver::new(piece, class.of(TIME_STEP), ranks)?;
        over_relax(&mut solver, 1, ranks)?;
        let residual = over_relax(&mut solver, class.of(ITERATIONS), ranks)?;
        let found = Figures {
            residual,
            error: solver.error(ranks)?,
            surface: surface::integral(&solver.piece, &solver.u, ranks)?,
        };
        Ok(Outcome { checks: found.beside(&class.of(reference::OF_CLASS)) })
    }
}

/// That many iterations from the start; the residual behind the last.
///
/// The warm-up is one such run, too: the time of the second is the one that stays. As in the original, both ask for the
/// residual before the first iteration.
fn over_relax(
    solver: &mut Solver,
    iterations: usize,
    ranks: &mut Ranks<'_>,
) -> Result<[f64; 5], LayerError> {
    solver.reset();
    solver.evaluate(ranks)?;
    solver.residual(ranks)?;
    ranks.start()?;
    for _ in 0..iterations {
        solver.step(ranks)?;
    }
    let residual = solver.residual(ranks)?;
    ranks.stop();
    agree_on_time(ranks)?;
    Ok(residual)
}

/// Every rank learns how long the slowest took, as in the original: the tally is that of the original, too.
fn agree_on_time(ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
    let mine = ranks.timed().map_or(0.0, |timed| timed.elapsed.seconds());
    ranks.all_reduce_max(&mut [mine])
}

const POINTS: [usize; 3] = [12, 33, 64];
const ITERATIONS: [usize; 3] = [50, 300, 250];
const TIME_STEP: [f64; 3] = [0.5, 1.5e-3, 2.0];

/// Tags.
const FACE: u32 = 1;
const PENCIL: u32 = 2;
const SURFACE: u32 = 3;

#[cfg(test)]
mod tests;
