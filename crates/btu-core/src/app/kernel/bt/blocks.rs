//! Block tridiagonal systems along lines: Gauss-Jordan elimination of 5x5 blocks without pivots.

use crate::app::endpoint::LayerError;
use crate::app::kernel::flow::Block;
use crate::app::kernel::flow::Elimination;
use crate::app::kernel::flow::Flow;
use crate::app::kernel::flow::Given;
use crate::app::kernel::flow::Solver;
use crate::app::kernel::flow::Sweep;
use crate::app::ranks::Ranks;

/// The solver of BT.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    sweep: Sweep,
    systems: Systems,
}

#[derive(Clone, Debug)]
struct Systems {
    /// Of each eliminated row of each cell: the block above the diagonal and, as a sixth column, the right-hand side. They
    /// lie line after line of the axis that is solved, since they take more space than all else.
    rows: Vec<Vec<[[f64; 6]; 5]>>,
    /// The blocks that the points of a line give.
    given: Vec<Given<[[f64; 5]; 5]>>,
}

impl Solver for Blocks {
    fn new(flow: &Flow) -> Self {
        let rows = flow.partition.cells.iter().map(|cell| vec![[[0.0; 6]; 5]; cell.inner_points()]);
        let rows = rows.collect();
        Self { sweep: Sweep::default(), systems: Systems { rows, given: Vec::new() } }
    }

    fn solve(&mut self, flow: &mut Flow, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.sweep.solve::<0, _>(&mut self.systems, flow, ranks)?;
        self.sweep.solve::<1, _>(&mut self.systems, flow, ranks)?;
        self.sweep.solve::<2, _>(&mut self.systems, flow, ranks)
    }
}

impl Elimination for Systems {
    const ELIMINATED: usize = 30;
    const SUBSTITUTED: usize = 5;

    /// NPB sends the whole of its buffers, which have room for one point more along each axis than an equal share.
    fn lines(block: &Block, _axis: usize, slices: usize) -> usize {
        (block.mesh.points() / slices + 1).pow(2)
    }

    fn eliminate<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]) {
        let block = &flow.partition.cells[cell];
        let (u, change, rows) = (&flow.u[cell], &flow.change[cell], &mut self.rows[cell]);
        let (stride, inner) = (block.stride(AXIS), block.inner(AXIS));
        let (carried, _) = carried.as_chunks_mut::<6>();
        let (carried, _) = carried.as_chunks_mut::<5>();
        self.given.resize(inner.len() + 2, Given::default());
        let lines = block.lines(AXIS).zip(rows.chunks_exact_mut(inner.len()));
        for ((start, rows), previous) in lines.zip(carried) {
            for (at, given) in (inner.start - 1..).zip(&mut self.given) {
                *given = flow.scheme.given_jacobian::<AXIS>(&u[start + at * stride]);
            }
            for (place, row) in rows.iter_mut().enumerate() {
                let (given, at) = (&self.given[place..place + 3], inner.start + place);
                *row = eliminated(previous, given, &change[start + at * stride]);
                *previous = *row;
            }
        }
    }

    fn substitute<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]) {
        let block = &flow.partition.cells[cell];
        let (rows, change) = (&self.rows[cell], &mut flow.change[cell]);
        let (carried, _) = carried.as_chunks_mut::<5>();
        let (stride, inner) = (block.stride(AXIS), block.inner(AXIS));
        let lines = block.lines(AXIS).zip(rows.chunks_exact(inner.len()));
        for ((start, rows), next) in lines.zip(carried) {
            for (at, row) in inner.clone().zip(rows).rev() {
                *next = substituted(row, next);
                change[start + at * stride] = *next;
            }
        }
    }
}

/// The row of a point, solved for its own unknowns: what is left are those of the next point.
///
/// `given` is that of the point before, of this one and of the next. What the point before gives is eliminated with that
/// point's row, `previous`.
#[inline]
fn eliminated(
    previous: &[[f64; 6]; 5],
    given: &[Given<[[f64; 5]; 5]>],
    change: &[f64; 5],
) -> [[f64; 6]; 5] {
    let (before, here, after) = (&given[0], &given[1], &given[2]);
    let (mut diagonal, mut row) = ([[0.0; 5]; 5], [[0.0; 6]; 5]);
    for m in 0..5 {
        let known = product(&before.next[m], previous);
        for by in 0..5 {
            diagonal[m][by] = here.next[m][by] + here.previous[m][by] + known[by];
            row[m][by] = -after.previous[m][by];
        }
        diagonal[m][m] += 1.0;
        row[m][5] = change[m] + known[5];
    }
    solve(&mut diagonal, &mut row);
    row
}

/// A row of a block times a matrix.
#[inline]
fn product(factors: &[f64; 5], row: &[[f64; 6]; 5]) -> [f64; 6] {
    let mut product = [0.0; 6];
    for of in 0..5 {
        for by in 0..6 {
            product[by] += factors[of] * row[of][by];
        }
    }
    product
}

/// Turns `right` into what `matrix` times gives it.
#[inline]
fn solve(matrix: &mut [[f64; 5]; 5], right: &mut [[f64; 6]; 5]) {
    for pivot in 0..5 {
        let inverse = 1.0 / matrix[pivot][pivot];
        for value in &mut matrix[pivot] {
            *value *= inverse;
        }
        for value in &mut right[pivot] {
            *value *= inverse;
        }
        let rows = (matrix[pivot], right[pivot]);
        for other in 0..5 {
            if other != pivot {
                let factor = matrix[other][pivot];
                subtract(&mut matrix[other], &rows.0, factor);
                subtract(&mut right[other], &rows.1, factor);
            }
        }
    }
}

/// Subtracts a multiple of another row.
#[inline]
fn subtract<const N: usize>(row: &mut [f64; N], other: &[f64; N], factor: f64) {
    for by in 0..N {
        row[by] -= factor * other[by];
    }
}

/// The unknowns of a row, where those of the next point are known.
#[inline]
fn substituted(row: &[[f64; 6]; 5], next: &[f64; 5]) -> [f64; 5] {
    let mut solved = [0.0; 5];
    for m in 0..5 {
        let [a, b, c, d, e, right] = row[m];
        solved[m] = right - (a * next[0] + b * next[1] + c * next[2] + d * next[3] + e * next[4]);
    }
    solved
}

/// State, forcing and change, and a row.
pub(super) const BYTES_PER_POINT: usize = (3 * 5 + 30) * size_of::<f64>();
