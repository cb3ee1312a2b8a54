//! FT: a differential equation is solved by Fourier transforms in three dimensions.
//!
//! Source: NASA report NAS-95-020, the 3-D FFT benchmark. The grid is cut into slabs, one for each rank.

mod grid;
mod reference;
mod solver;
#[cfg(test)]
mod tests;
mod transform;

use super::Check;
use super::Kernel;
use super::Outcome;
use super::is_power_of_two;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;
use grid::Grid;
use reference::CHECKSUMS;
use reference::ITERATIONS;
use solver::Solver;

/// "Fourier transform": all of the data goes from every rank to every other.
#[derive(Debug)]
pub(super) struct Ft;

impl Kernel for Ft {
    fn name(&self) -> &'static str {
        "ft"
    }

    fn about(&self) -> &'static str {
        "Fourier transforms in three dimensions; all data to every rank, in large messages"
    }

    fn takes(&self, ranks: usize) -> bool {
        is_power_of_two(ranks) && ranks <= MOST_RANKS
    }

    fn legal(&self) -> &'static str {
        "a power of two, up to 32"
    }

    fn memory(&self, class: ProblemClass, _: usize) -> Bytes {
        let points = Grid::of(class, 0, 1).points();
        Bytes::new((solver::ARRAYS * points * size_of::<[f64; 2]>()) as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let mut solver = Solver::new(Grid::of(class, ranks.rank(), ranks.size()));
        solver.begin(ranks)?;
        ranks.start()?;
        solver.begin(ranks)?;
        let mut checksums = [0.0; 2 * ITERATIONS];
        for checksum in checksums.as_chunks_mut::<2>().0 {
            solver.step(ranks)?;
            *checksum = solver.checksum();
            ranks.reduce(0, checksum)?;
        }
        ranks.stop();
        ranks.broadcast(0, &mut checksums)?;
        Ok(verify(class, &checksums))
    }
}

/// The benchmark bounds the distance of complex numbers; the same bound on each of their parts is stricter.
fn verify(class: ProblemClass, checksums: &[f64]) -> Outcome {
    let references = class.of(CHECKSUMS);
    let check = |(index, (found, reference)): (usize, (&f64, &f64))| {
        let part = ["real", "imaginary"][index % 2];
        let name = format!("checksum {}, {part}", index / 2 + 1);
        Check::new(name, *found, *reference, TOLERANCE)
    };
    let pairs = checksums.iter().zip(references.as_flattened());
    Outcome { checks: pairs.enumerate().map(check).collect() }
}

/// The planes of class W: each rank has one or more.
const MOST_RANKS: usize = 32;
const TOLERANCE: f64 = 1e-12;
