//! CG: an eigenvalue of a sparse random matrix, found by solving equations with conjugate gradients.
//!
//! Source: NASA report NAS-95-020, section 2.2.3: the inverse power method, each step of which solves A z = x. The
//! matrix is divided both ways; a product adds up long vectors along the rows of ranks, then swaps them across the
//! diagonal. Between these stand sums of single numbers: latency counts as much as throughput.

mod division;
mod matrix;
mod operator;
mod solver;
#[cfg(test)]
mod tests;
mod vector;

use super::Check;
use super::Kernel;
use super::Outcome;
use super::is_power_of_two;
use crate::app::class::ProblemClass;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;
use crate::units::Bytes;

use operator::Operator;
use solver::Solver;

/// The kernel CG.
#[derive(Debug)]
pub(super) struct Cg;

impl Kernel for Cg {
    fn name(&self) -> &'static str {
        "cg"
    }

    fn about(&self) -> &'static str {
        "conjugate gradients on a sparse matrix: long vectors, and sums of single numbers"
    }

    fn takes(&self, ranks: usize) -> bool {
        is_power_of_two(ranks)
    }

    fn legal(&self) -> &'static str {
        "a power of two"
    }

    /// The matrix once, and on every rank the vectors that it is made of.
    fn memory(&self, class: ProblemClass, ranks: usize) -> Bytes {
        let Problem { order, nonzeros, .. } = Problem::of(class);
        let entries = order * (nonzeros + 1);
        let matrix = entries * (nonzeros + 1) * size_of::<(f64, u32)>();
        Bytes::new((matrix + ranks * entries * size_of::<[f64; 3]>()) as u64)
    }

    fn run(&self, class: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        let problem = Problem::of(class);
        let mut method = InversePower::new(&problem, ranks);
        method.step(ranks)?;
        method.restart();
        ranks.start()?;
        for _ in 1..ITERATIONS {
            method.step(ranks)?;
        }
        let zeta = method.step(ranks)?;
        ranks.stop();
        Ok(Outcome { checks: vec![Check::new("zeta", zeta, problem.zeta, TOLERANCE)] })
    }
}

/// The parameters of a class, and its result.
#[derive(Debug)]
struct Problem {
    order: usize,
    /// How many entries are drawn for each of the vectors that the matrix is made of.
    nonzeros: usize,
    shift: f64,
    zeta: f64,
}

impl Problem {
    fn of(class: ProblemClass) -> Self {
        let (order, nonzeros, shift, zeta) = class.of([
            (1_400, 7, 10.0, 8.597_177_507_864_8),
            (7_000, 8, 12.0, 10.362_595_087_124),
            (14_000, 11, 20.0, 17.130_235_054_029),
        ]);
        Self { order, nonzeros, shift, zeta }
    }
}

/// The inverse power method: this rank's part of the vector x, and what solves A z = x.
#[derive(Debug)]
struct InversePower {
    solver: Solver,
    shift: f64,
    x: Vec<f64>,
    z: Vec<f64>,
}

impl InversePower {
    fn new(problem: &Problem, ranks: &Ranks<'_>) -> Self {
        let operator = Operator::new(problem, ranks);
        let length = operator.length();
        let (x, z) = (vec![1.0; length], vec![0.0; length]);
        Self { solver: Solver::new(operator), shift: problem.shift, x, z }
    }

    fn restart(&mut self) {
        self.x.fill(1.0);
    }

    /// One step: solves, estimates the eigenvalue as shift + 1 / x.z, and goes on with z of length 1.
    fn step(&mut self, ranks: &mut Ranks<'_>) -> Result<f64, LayerError> {
        self.solver.solve(ranks, &self.x, &mut self.z)?;
        let parts = [vector::dot(&self.x, &self.z), vector::dot(&self.z, &self.z)];
        let [along, square] = self.solver.division().sum(ranks, parts)?;
        let scale = 1.0 / square.sqrt();
        self.x.iter_mut().zip(&self.z).for_each(|(x, z)| *x = scale * z);
        Ok(self.shift + 1.0 / along)
    }
}

const ITERATIONS: usize = 15;
const TOLERANCE: f64 = 1e-10;
