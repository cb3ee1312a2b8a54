//! MG: Poisson's equation on a periodic cube, solved by V-cycles over ever coarser grids.
//!
//! Source: NASA report NAS-95-020, section 2.2.2. Borders are exchanged after every step on every grid: those of the
//! finest are long messages, those of the coarsest single numbers, and there most of the waiting is.

mod borders;
mod charges;
mod grid;
mod hierarchy;
mod layout;
mod stencil;
#[cfg(test)]
mod tests;

use super::Check;
use super::Kernel;
use super::Outcome;
use super::is_power_of_two;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;

use hierarchy::Hierarchy;

/// The kernel MG.
#[derive(Debug)]
pub(super) struct Mg;

impl Kernel for Mg {
    fn name(&self) -> &'static str {
        "mg"
    }

    fn about(&self) -> &'static str {
        "multigrid on a periodic cube: borders of every length, down to one number"
    }

    fn takes(&self, ranks: usize) -> bool {
        is_power_of_two(ranks)
    }

    fn legal(&self) -> &'static str {
        "a power of two"
    }

    /// Three grids, and two of each coarser size, which together have a seventh of the points.
    fn memory(&self, class: ProblemClass, _ranks: usize) -> Bytes {
        let points = 1_u64 << (3 * Problem::of(class).levels);
        Bytes::new((3 * points + 2 * points / 7) * size_of::<f64>() as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let problem = Problem::of(class);
        let mut grids = Hierarchy::new(problem.levels, ranks);
        warm_up(&mut grids, ranks)?;
        grids.charge(ranks)?;
        ranks.start()?;
        let norm = iterate(&mut grids, ranks)?;
        ranks.stop();
        Ok(Outcome { checks: vec![Check::new("residual", norm, problem.norm, TOLERANCE)] })
    }
}

/// The parameters of a class, and its result.
#[derive(Debug)]
struct Problem {
    /// The finest grid has 2^levels points along each axis; the coarsest has 2.
    levels: u32,
    norm: f64,
}

impl Problem {
    fn of(class: ProblemClass) -> Self {
        let (levels, norm) = class.of([
            (5, 0.530_770_700_573_4e-4),
            (7, 0.646_732_937_533_9e-5),
            (8, 0.243_336_530_906_9e-5),
        ]);
        Self { levels, norm }
    }
}

/// What the benchmark does once before it takes the time, with the norms that it reports.
fn warm_up(grids: &mut Hierarchy, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
    grids.charge(ranks)?;
    grids.charges_norms(ranks)?;
    grids.renew_residual(ranks)?;
    grids.residual_norms(ranks)?;
    grids.cycle(ranks)?;
    grids.renew_residual(ranks)
}

/// All cycles; returns the root mean square of what remains.
fn iterate(grids: &mut Hierarchy, ranks: &mut Ranks<'_>) -> Result<f64, LayerError> {
    grids.renew_residual(ranks)?;
    grids.residual_norms(ranks)?;
    for _ in 0..ITERATIONS {
        grids.cycle(ranks)?;
        grids.renew_residual(ranks)?;
    }
    let (root_mean_square, _) = grids.residual_norms(ranks)?;
    Ok(root_mean_square)
}

const ITERATIONS: usize = 4;
const TOLERANCE: f64 = 1e-8;
