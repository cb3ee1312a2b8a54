//! The state of the flow on one rank, and one iteration of it.

use std::array::from_fn;

use super::faces::Faces;
use super::piece::Piece;
use super::sweep::Sweep;
use crate::app::endpoint::LayerError;
use crate::app::kernel::flow;
use crate::app::kernel::flow::Lines;
use crate::app::kernel::flow::Scheme;
use crate::app::ranks::Ranks;

/// The arrays of one rank, and what works upon them.
#[derive(Debug)]
pub(super) struct Solver {
    pub(super) piece: Piece,
    pub(super) u: Vec<[f64; 5]>,
    /// `u` by [`flow::per_mass`].
    w: Vec<[f64; 5]>,
    /// dt (L(u) + forcing); while the sweeps run, the change of `u`. It stays zero on the boundary of the cube.
    v: Vec<[f64; 5]>,
    /// dt times the forcing.
    forcing: Vec<[f64; 5]>,
    time_step: f64,
    lines: Lines,
    faces: Faces,
    sweep: Sweep,
}

/// What the arrays take.
pub(super) const BYTES_PER_POINT: usize = 4 * size_of::<[f64; 5]>();

impl Solver {
    /// The arrays of a piece, with the forcing that keeps the exact solution in balance: -L of it.
    pub(super) fn new(
        piece: Piece,
        time_step: f64,
        ranks: &mut Ranks<'_>,
    ) -> Result<Self, LayerError> {
        let (block, scheme) = (piece.block, Scheme::new(piece.block.mesh, time_step));
        let zero = vec![[0.0; 5]; block.volume()];
        let mut solver = Self {
            u: block.field(|point| flow::exact(block.mesh.place(point))),
            w: zero.clone(),
            v: zero.clone(),
            forcing: zero,
            time_step,
            lines: Lines::new(scheme),
            faces: Faces::default(),
            sweep: Sweep::new(&piece, scheme),
            piece,
        };
        solver.evaluate(ranks)?;
        solver.forcing = solver.v.iter().map(|change| change.map(|value| -value)).collect();
        Ok(solver)
    }

    /// Goes back to the state before the first iteration.
    pub(super) fn reset(&mut self) {
        let (block, mesh) = (self.piece.block, self.piece.block.mesh);
        self.u = block.field(|point| {
            let place = mesh.place(point);
            if mesh.is_boundary(point) { flow::exact(place) } else { flow::start(place) }
        });
    }

    /// Brings the halo up to date, and `v` to dt (L(u) + forcing).
    pub(super) fn evaluate(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.faces.exchange(&self.piece, &mut self.u, ranks)?;
        self.v.copy_from_slice(&self.forcing);
        self.lines.add_change(&self.piece.block, &self.u, &mut self.v);
        Ok(())
    }

    /// One iteration: both sweeps, which move `u`, then what is left.
    pub(super) fn step(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.w.iter_mut().zip(&self.u).for_each(|(w, u)| *w = flow::per_mass(u));
        self.sweep.lower(&self.piece, &self.w, &mut self.v, ranks)?;
        self.sweep.upper(&self.piece, &self.w, (&mut self.v, &mut self.u), ranks)?;
        self.evaluate(ranks)
    }

    /// The root mean square of L(u) + forcing.
    pub(super) fn residual(&self, ranks: &mut Ranks<'_>) -> Result<[f64; 5], LayerError> {
        self.root_mean_square(|at| self.v[at].map(|change| change / self.time_step), ranks)
    }

    /// The root mean square of the difference from the exact solution.
    pub(super) fn error(&self, ranks: &mut Ranks<'_>) -> Result<[f64; 5], LayerError> {
        let block = self.piece.block;
        let exact = block.field(|point| flow::exact(block.mesh.place(point)));
        self.root_mean_square(|at| from_fn(|m| self.u[at][m] - exact[at][m]), ranks)
    }

    fn root_mean_square(
        &self,
        value: impl Fn(usize) -> [f64; 5],
        ranks: &mut Ranks<'_>,
    ) -> Result<[f64; 5], LayerError> {
        let mut squares = [0.0; 5];
        for at in self.piece.block.inner_rows().flatten() {
            squares.iter_mut().zip(value(at)).for_each(|(sum, value)| *sum += value * value);
        }
        self.piece.block.mesh.root_mean_square(squares, ranks)
    }
}
