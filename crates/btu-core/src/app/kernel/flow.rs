//! The flow that LU, SP and BT compute: density, momentum and energy on a cube, with an exact solution forced upon them.
//!
//! A point is `[f64; 5]`: density, momentum in x, y and z, energy. What is divided by density is kept beside it, since
//! every term asks for it: 1/density, velocity in x, y and z, energy per mass ([`per_mass`]).
//!
//! Source: NASA report RNR-94-007, the application benchmarks; the numbers are those of NPB 3.4.2.

mod block;
mod exact;
mod given;
mod halo;
mod jacobian;
mod lines;
mod multipartition;
mod operator;
mod step;
mod sweep;
#[cfg(test)]
pub(crate) mod testing;

use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

pub(crate) use block::Block;
pub(crate) use block::HALO;
pub(crate) use exact::exact;
pub(crate) use exact::start;
pub(crate) use given::Given;
pub(crate) use given::Scheme;
pub(crate) use jacobian::change;
pub(crate) use lines::Lines;
pub(crate) use multipartition::LEGAL;
pub(crate) use multipartition::Multipartition;
pub(crate) use multipartition::takes;
pub(crate) use operator::per_mass;
pub(crate) use operator::pressure;
pub(crate) use step::Flow;
pub(crate) use step::Problem;
pub(crate) use step::Solver;
pub(crate) use step::memory;
pub(crate) use step::run;
pub(crate) use sweep::Elimination;
pub(crate) use sweep::Sweep;

/// The points of one edge of the cube, whose length is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mesh {
    points: usize,
}

impl Mesh {
    /// A mesh of so many points per edge.
    pub(crate) const fn new(points: usize) -> Self {
        Self { points }
    }

    /// The points of an edge.
    pub(crate) const fn points(self) -> usize {
        self.points
    }

    /// 1/h, the inverse of the way from one point to the next.
    pub(crate) fn per_spacing(self) -> f64 {
        (self.points - 1) as f64
    }

    /// Where a point is.
    pub(crate) fn place(self, index: [usize; 3]) -> [f64; 3] {
        index.map(|index| index as f64 / self.per_spacing())
    }

    /// True on the six faces of the cube, where the solution is given.
    pub(crate) fn is_boundary(self, index: [usize; 3]) -> bool {
        index.iter().any(|&index| index == 0 || index == self.points - 1)
    }

    /// The weights of the fourth difference at a point of an edge, from two points before it to two behind: none
    /// reaches over the boundary, nor to it from its neighbour.
    pub(crate) fn damping(self, index: usize) -> &'static [f64; 5] {
        match (index, self.points - 1 - index) {
            (1, _) => &[0.0, 0.0, 5.0, -4.0, 1.0],
            (2, _) => &[0.0, -4.0, 6.0, -4.0, 1.0],
            (_, 2) => &[1.0, -4.0, 6.0, -4.0, 0.0],
            (_, 1) => &[1.0, -4.0, 5.0, 0.0, 0.0],
            _ => &[1.0, -4.0, 6.0, -4.0, 1.0],
        }
    }

    /// The root of the mean square over all points inside the cube, from the sums of squares of each rank.
    pub(crate) fn root_mean_square(
        self,
        mut squares: [f64; 5],
        ranks: &mut Ranks<'_>,
    ) -> Result<[f64; 5], LayerError> {
        ranks.all_reduce(&mut squares)?;
        let inside = ((self.points - 2) as f64).powi(3);
        Ok(squares.map(|sum| (sum / inside).sqrt()))
    }
}

/// How strongly an axis spreads each quantity, beside viscosity.
pub(crate) const DIFFUSION: [f64; 3] = [0.75, 0.75, 1.0];
/// Viscosity: c3 c4.
pub(crate) const VISCOSITY: f64 = 0.1;
/// The ratio of specific heats.
pub(crate) const C1: f64 = 1.4;
pub(crate) const C2: f64 = 0.4;
/// Conduction of heat in units of viscosity: c1 c5.
pub(crate) const CONDUCTION: f64 = C1 * 1.4;
/// The factor of the fourth difference.
const DISSIPATION: f64 = 0.25;
