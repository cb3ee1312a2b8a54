//! The matrix as all ranks together multiply with it.

use super::Problem;
use super::division::Division;
use super::matrix::Matrix;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// One rank's block of the matrix, and room for its products.
#[derive(Debug)]
pub(super) struct Operator {
    division: Division,
    matrix: Matrix,
    product: Vec<f64>,
    space: Vec<f64>,
}

impl Operator {
    pub(super) fn new(problem: &Problem, ranks: &Ranks<'_>) -> Self {
        let division = Division::new(problem.order, ranks.size(), ranks.rank());
        let matrix = Matrix::random(problem, division.rows(), division.columns());
        let product = vec![0.0; division.rows().len()];
        Self { division, matrix, space: product.clone(), product }
    }

    pub(super) fn division(&self) -> &Division {
        &self.division
    }

    /// The length of this rank's part of a vector.
    pub(super) fn length(&self) -> usize {
        self.division.columns().len()
    }

    /// Multiplies a vector, of which every rank has its part; so it is with the product.
    pub(super) fn apply(
        &mut self,
        ranks: &mut Ranks<'_>,
        vector: &[f64],
        into: &mut [f64],
    ) -> Result<(), LayerError> {
        self.matrix.multiply(vector, &mut self.product);
        self.division.add_up(ranks, &mut self.product, &mut self.space)?;
        self.division.transpose(ranks, &self.product, into)
    }
}
