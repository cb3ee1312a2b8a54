//! Conjugate gradients.
//!
//! Source: M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, Journal of Research
//! of the National Bureau of Standards 49 (1952), in the form of NAS-95-020, section 2.2.3.

use super::division::Division;
use super::operator::Operator;
use super::vector::dot;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// Solves A z = x; the vectors have the names of the report.
#[derive(Debug)]
pub(super) struct Solver {
    operator: Operator,
    /// The direction in which is searched.
    p: Vec<f64>,
    /// A p.
    q: Vec<f64>,
    /// The residual, x - A z.
    r: Vec<f64>,
}

impl Solver {
    pub(super) fn new(operator: Operator) -> Self {
        let zeros = vec![0.0; operator.length()];
        Self { operator, p: zeros.clone(), q: zeros.clone(), r: zeros }
    }

    pub(super) fn division(&self) -> &Division {
        self.operator.division()
    }

    /// Takes a fixed number of steps from z = 0. Returns |x - A z| anew from z, as the benchmark does, which reports it.
    pub(super) fn solve(
        &mut self,
        ranks: &mut Ranks<'_>,
        x: &[f64],
        z: &mut [f64],
    ) -> Result<f64, LayerError> {
        z.fill(0.0);
        self.r.copy_from_slice(x);
        self.p.copy_from_slice(x);
        let mut rho = self.sum(ranks, dot(&self.r, &self.r))?;
        for _ in 0..STEPS {
            rho = self.step(ranks, rho, z)?;
        }
        self.operator.apply(ranks, z, &mut self.r)?;
        self.r.iter_mut().zip(x).for_each(|(r, x)| *r = x - *r);
        Ok(self.sum(ranks, dot(&self.r, &self.r))?.sqrt())
    }

    /// Goes along p to where the residual is smallest, then turns; from r.r to the next r.r.
    fn step(&mut self, ranks: &mut Ranks<'_>, rho: f64, z: &mut [f64]) -> Result<f64, LayerError> {
        self.operator.apply(ranks, &self.p, &mut self.q)?;
        let alpha = rho / self.sum(ranks, dot(&self.p, &self.q))?;
        z.iter_mut().zip(&self.p).for_each(|(z, p)| *z += alpha * p);
        self.r.iter_mut().zip(&self.q).for_each(|(r, q)| *r -= alpha * q);
        let next = self.sum(ranks, dot(&self.r, &self.r))?;
        let beta = next / rho;
        self.p.iter_mut().zip(&self.r).for_each(|(p, r)| *p = r + beta * *p);
        Ok(next)
    }

    /// The sum of a number over the parts of a vector.
    fn sum(&self, ranks: &mut Ranks<'_>, part: f64) -> Result<f64, LayerError> {
        let [sum] = self.division().sum(ranks, [part])?;
        Ok(sum)
    }
}

const STEPS: usize = 25;

#[cfg(test)]
mod tests {
    use super::super::Problem;
    use super::*;
    use crate::app::class::ProblemClass;
    use crate::app::testing;

    #[test]
    fn little_of_the_equation_remains() {
        let mut endpoints = testing::ranks(1, |_| ());
        let ranks = &mut Ranks::new(&mut endpoints[0]);
        let mut solver = Solver::new(Operator::new(&Problem::of(ProblemClass::S), ranks));
        let x = vec![1.0; 1_400];
        let remains = solver.solve(ranks, &x, &mut vec![0.0; 1_400]).unwrap();
        assert!(remains < 1e-12, "{remains}");
    }
}
