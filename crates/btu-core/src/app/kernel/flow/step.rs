//! Steps towards the steady state, by whatever solver.

use std::array::from_fn;

use super::Block;
use super::Mesh;
use super::Multipartition;
use super::Scheme;
use super::exact::exact;
use super::exact::start;
use super::halo::Borders;
use super::lines::Lines;
use crate::app::endpoint::LayerError;
use crate::app::kernel::Check;
use crate::app::kernel::Outcome;
use crate::app::ranks::Ranks;
use crate::units::Bytes;

/// A class of SP or BT, with its reference values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    /// Points of the grid along each axis.
    pub(crate) points: usize,
    /// How many steps.
    pub(crate) steps: usize,
    /// dt.
    pub(crate) time_step: f64,
    /// The root mean square of L(u) + forcing behind the last step.
    pub(crate) residual: [f64; 5],
    /// That of the difference to the steady state.
    pub(crate) error: [f64; 5],
}

/// What makes a step out of the change of the state, and so what sets SP and BT apart.
pub(crate) trait Solver {
    /// A solver with all the space that it needs.
    fn new(flow: &Flow) -> Self;

    /// Turns `flow.change`, which is dt (L(u) + forcing), into the change of the state.
    fn solve(&mut self, flow: &mut Flow, ranks: &mut Ranks<'_>) -> Result<(), LayerError>;
}

/// A rank's part of the flow: arrays for each of its cells.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) partition: Multipartition,
    pub(crate) scheme: Scheme,
    /// The state.
    pub(crate) u: Vec<Vec<[f64; 5]>>,
    /// Its change in this step, or what the solver has made of it so far.
    pub(crate) change: Vec<Vec<[f64; 5]>>,
    mesh: Mesh,
    /// dt times the forcing.
    forcing: Vec<Vec<[f64; 5]>>,
    lines: Lines,
    borders: Borders,
}

/// Warms up with a step, makes those of the problem, and verifies.
pub(crate) fn run<S: Solver>(
    problem: &Problem,
    ranks: &mut Ranks<'_>,
) -> Result<Outcome, LayerError> {
    let mut flow = Flow::new(problem, ranks);
    let mut solver = S::new(&flow);
    flow.step(&mut solver, ranks)?;
    flow.reset();
    ranks.start()?;
    for _ in 0..problem.steps {
        flow.step(&mut solver, ranks)?;
    }
    ranks.stop();
    flow.verify(problem, ranks)
}

impl Flow {
    fn new(problem: &Problem, ranks: &Ranks<'_>) -> Self {
        let mesh = Mesh::new(problem.points);
        let scheme = Scheme::new(mesh, problem.time_step);
        let partition = Multipartition::new(mesh, ranks.rank(), ranks.size());
        let change: Vec<_> =
            partition.cells.iter().map(|cell| vec![[0.0; 5]; cell.volume()]).collect();
        let mut flow = Self {
            u: change.clone(),
            forcing: change.clone(),
            lines: Lines::new(scheme),
            borders: Borders::default(),
            partition,
            scheme,
            change,
            mesh,
        };
        flow.force();
        flow.reset();
        flow
    }

    /// The forcing that makes the exact solution the steady state: what undoes its change.
    fn force(&mut self) {
        for (cell, forcing) in self.partition.cells.iter().zip(&mut self.forcing) {
            let steady = cell.field(|at| exact(self.mesh.place(at)));
            self.lines.add_change(cell, &steady, forcing);
            forcing.iter_mut().flatten().for_each(|value| *value = -*value);
        }
    }

    /// The state to begin with.
    fn reset(&mut self) {
        let mesh = self.mesh;
        for (cell, u) in self.partition.cells.iter().zip(&mut self.u) {
            *u = cell.field(|at| {
                let place = mesh.place(at);
                if mesh.is_boundary(at) { exact(place) } else { start(place) }
            });
        }
    }

    fn step(&mut self, solver: &mut impl Solver, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.evaluate(ranks)?;
        solver.solve(self, ranks)?;
        for ((cell, u), change) in self.partition.cells.iter().zip(&mut self.u).zip(&self.change) {
            for at in cell.inner_rows().flatten() {
                for m in 0..5 {
                    u[at][m] += change[at][m];
                }
            }
        }
        Ok(())
    }

    /// The change is dt (L(u) + forcing).
    fn evaluate(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.borders.exchange(&self.partition, &mut self.u, ranks)?;
        for (index, cell) in self.partition.cells.iter().enumerate() {
            let change = &mut self.change[index];
            change.copy_from_slice(&self.forcing[index]);
            self.lines.add_change(cell, &self.u[index], change);
        }
        Ok(())
    }

    fn verify(&mut self, problem: &Problem, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let error = self.mesh.root_mean_square(self.squares_of_error(), ranks)?;
        self.evaluate(ranks)?;
        let change = self.mesh.root_mean_square(self.squares_of_change(), ranks)?;
        let residual = change.map(|change| change / problem.time_step);
        let mut checks = beside("residual", residual, problem.residual);
        checks.extend(beside("error", error, problem.error));
        Ok(Outcome { checks })
    }

    fn squares_of_change(&self) -> [f64; 5] {
        let mut squares = [0.0; 5];
        for (cell, change) in self.partition.cells.iter().zip(&self.change) {
            cell.inner_rows().flatten().for_each(|at| add_square(&mut squares, change[at]));
        }
        squares
    }

    fn squares_of_error(&self) -> [f64; 5] {
        let mut squares = [0.0; 5];
        for (cell, u) in self.partition.cells.iter().zip(&self.u) {
            let steady = cell.field(|at| exact(self.mesh.place(at)));
            for at in cell.inner_rows().flatten() {
                add_square(&mut squares, from_fn(|m| u[at][m] - steady[at][m]));
            }
        }
        squares
    }
}

/// What all cells with their halos keep, with so many bytes for each point.
pub(crate) fn memory(points: usize, ranks: usize, per_point: usize) -> Bytes {
    let of_rank = |rank| {
        let cells = Multipartition::new(Mesh::new(points), rank, ranks).cells;
        cells.iter().map(Block::volume).sum::<usize>()
    };
    let volume: usize = (0..ranks).map(of_rank).sum();
    Bytes::new((volume * per_point) as u64)
}

fn add_square(squares: &mut [f64; 5], values: [f64; 5]) {
    squares.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * value);
}

fn beside(what: &str, found: [f64; 5], reference: [f64; 5]) -> Vec<Check> {
    let check =
        |m: usize| Check::new(format!("{what} {}", m + 1), found[m], reference[m], TOLERANCE);
    (0..5).map(check).collect()
}

const TOLERANCE: f64 = 1e-8;
