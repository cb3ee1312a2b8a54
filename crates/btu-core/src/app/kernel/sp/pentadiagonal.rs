//! Scalar pentadiagonal systems along lines: five per line, of which three have the same matrix.

use super::eigen::Medium;
use super::eigen::x_to_y;
use super::eigen::y_to_z;
use crate::app::endpoint::LayerError;
use crate::app::kernel::flow::Block;
use crate::app::kernel::flow::CONDUCTION;
use crate::app::kernel::flow::DIFFUSION;
use crate::app::kernel::flow::Elimination;
use crate::app::kernel::flow::Flow;
use crate::app::kernel::flow::Scheme;
use crate::app::kernel::flow::Solver;
use crate::app::kernel::flow::Sweep;
use crate::app::kernel::flow::VISCOSITY;
use crate::app::ranks::Ranks;

/// The solver of SP.
#[derive(Clone, Debug)]
pub(super) struct Pentadiagonal {
    sweep: Sweep,
    systems: Systems,
}

#[derive(Clone, Debug)]
struct Systems {
    /// The states at the beginning of the step: all coefficients are of these.
    media: Vec<Vec<Medium>>,
    /// The eliminated rows of each cell, line after line of the axis that is solved.
    rows: Vec<Vec<Row>>,
    /// The coefficients of the points of a line.
    line: Vec<Coefficients>,
    /// The weights of the fourth difference at its inner points.
    damping: Vec<[f64; 5]>,
}

/// A row after elimination: 1 on the diagonal, nothing before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Row {
    /// The factor of the next unknown in each of the three matrices.
    next: [f64; 3],
    /// That of the one behind it.
    second: [f64; 3],
    right: [f64; 5],
}

/// What a point is to the rows of itself and its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Coefficients {
    /// To the row of the next point, in each of the three matrices.
    to_next: [f64; 3],
    /// To the row of the point before.
    to_previous: [f64; 3],
    /// To its own.
    own: f64,
}

impl Solver for Pentadiagonal {
    fn new(flow: &Flow) -> Self {
        let media = flow.u.iter().map(|u| vec![Medium::default(); u.len()]).collect();
        let rows =
            flow.partition.cells.iter().map(|cell| vec![Row::default(); cell.inner_points()]);
        let rows = rows.collect();
        let systems = Systems { media, rows, line: Vec::new(), damping: Vec::new() };
        Self { sweep: Sweep::default(), systems }
    }

    fn solve(&mut self, flow: &mut Flow, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.systems.begin(flow);
        self.sweep.solve::<0, _>(&mut self.systems, flow, ranks)?;
        self.sweep.solve::<1, _>(&mut self.systems, flow, ranks)?;
        self.sweep.solve::<2, _>(&mut self.systems, flow, ranks)
    }
}

impl Systems {
    /// Keeps the state, and changes to the unknowns of the first axis.
    fn begin(&mut self, flow: &mut Flow) {
        let cells = flow.partition.cells.iter().zip(&flow.u).zip(&mut flow.change);
        for (((block, u), change), media) in cells.zip(&mut self.media) {
            for (medium, u) in media.iter_mut().zip(u) {
                *medium = Medium::of(u);
            }
            for at in block.inner_rows().flatten() {
                change[at] = media[at].state_to_x(&change[at]);
            }
        }
    }
}

impl Elimination for Systems {
    /// Two rows of eleven numbers.
    const ELIMINATED: usize = 22;
    /// The unknowns of two rows.
    const SUBSTITUTED: usize = 10;

    fn lines(block: &Block, axis: usize, _slices: usize) -> usize {
        block.inner_points() / block.inner(axis).len()
    }

    fn eliminate<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]) {
        let block = &flow.partition.cells[cell];
        let (media, rows, change) = (&self.media[cell], &mut self.rows[cell], &flow.change[cell]);
        let (stride, inner) = (block.stride(AXIS), block.inner(AXIS));
        let (carried, _) = carried.as_chunks_mut::<11>();
        let (carried, _) = carried.as_chunks_mut::<2>();
        self.damping.clear();
        self.damping.extend(inner.clone().map(|at| flow.scheme.damping(block, AXIS, at)));
        self.line.resize(inner.len() + 2, Coefficients::default());
        let lines = block.lines(AXIS).zip(rows.chunks_exact_mut(inner.len()));
        for ((start, rows), carried) in lines.zip(carried) {
            for (at, point) in (inner.start - 1..).zip(&mut self.line) {
                *point = Coefficients::of::<AXIS>(&media[start + at * stride], &flow.scheme);
            }
            let mut before = carried.each_ref().map(Row::from_numbers);
            for (place, row) in rows.iter_mut().enumerate() {
                let (around, damping) = (&self.line[place..place + 3], &self.damping[place]);
                let change = &change[start + (inner.start + place) * stride];
                *row = Row::eliminated(&before, around, damping, change);
                before = [before[1], *row];
            }
            *carried = before.each_ref().map(Row::numbers);
        }
    }

    fn substitute<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]) {
        let block = &flow.partition.cells[cell];
        let (media, rows, change) = (&self.media[cell], &self.rows[cell], &mut flow.change[cell]);
        let (carried, _) = carried.as_chunks_mut::<5>();
        let (carried, _) = carried.as_chunks_mut::<2>();
        let (stride, inner) = (block.stride(AXIS), block.inner(AXIS));
        let lines = block.lines(AXIS).zip(rows.chunks_exact(inner.len()));
        for ((start, rows), [next, second]) in lines.zip(carried) {
            for (at, row) in inner.clone().zip(rows).rev() {
                let at = start + at * stride;
                let solved = row.solved(next, second);
                (*next, *second) = (solved, *next);
                change[at] = match AXIS {
                    0 => x_to_y(&solved),
                    1 => y_to_z(&solved),
                    _ => media[at].z_to_state(&solved),
                };
            }
        }
    }
}

impl Coefficients {
    #[inline]
    fn of<const AXIS: usize>(medium: &Medium, scheme: &Scheme) -> Self {
        let spread = scheme.second * spread::<AXIS>(medium.volume);
        let (carried, sound) = (scheme.first * medium.velocity[AXIS], scheme.first * medium.sound);
        let speeds = [carried, carried + sound, carried - sound];
        let (mut to_next, mut to_previous) = ([0.0; 3], [0.0; 3]);
        for matrix in 0..3 {
            to_next[matrix] = -speeds[matrix] - spread;
            to_previous[matrix] = speeds[matrix] - spread;
        }
        Self { to_next, to_previous, own: 1.0 + 2.0 * spread }
    }
}

/// The largest of the factors of second differences along an axis.
#[inline]
fn spread<const AXIS: usize>(volume: f64) -> f64 {
    const LARGEST: f64 = CONDUCTION.max(4.0 / 3.0);
    // Density is positive, so the others of the four are never the largest.
    DIFFUSION[AXIS] + LARGEST * VISCOSITY * volume
}

impl Row {
    /// The row of a point, solved for its own unknowns: what is left are those of the two points behind it.
    ///
    /// The rows of the two points before it come with the nearer one last; `around` is the point before, this one and the
    /// next.
    #[inline]
    fn eliminated(
        [second, first]: &[Self; 2],
        around: &[Coefficients],
        [two_before, before, here, behind, two_behind]: &[f64; 5],
        right: &[f64; 5],
    ) -> Self {
        let (previous, own, next) = (&around[0], &around[1], &around[2]);
        let (mut next_factor, mut second_factor, mut right) = ([0.0; 3], [0.0; 3], *right);
        let (mut first_factor, mut inverse) = ([0.0; 3], [0.0; 3]);
        for of in 0..3 {
            first_factor[of] = previous.to_next[of] + before - two_before * second.next[of];
            let diagonal =
                own.own + here - two_before * second.second[of] - first_factor[of] * first.next[of];
            inverse[of] = 1.0 / diagonal;
            let above = next.to_previous[of] + behind - first_factor[of] * first.second[of];
            next_factor[of] = above * inverse[of];
            second_factor[of] = two_behind * inverse[of];
        }
        for m in 0..5 {
            let of = MATRIX[m];
            let known = two_before * second.right[m] + first_factor[of] * first.right[m];
            right[m] = (right[m] - known) * inverse[of];
        }
        Self { next: next_factor, second: second_factor, right }
    }

    /// The unknowns of this row, where those of the two points behind it are known.
    #[inline]
    fn solved(&self, next: &[f64; 5], second: &[f64; 5]) -> [f64; 5] {
        let mut solved = self.right;
        for m in 0..5 {
            let of = MATRIX[m];
            solved[m] -= self.next[of] * next[m] + self.second[of] * second[m];
        }
        solved
    }

    fn from_numbers(numbers: &[f64; 11]) -> Self {
        let [a, b, c, d, e, f, right @ ..] = *numbers;
        Self { next: [a, b, c], second: [d, e, f], right }
    }

    fn numbers(&self) -> [f64; 11] {
        let ([a, b, c], [d, e, f]) = (self.next, self.second);
        let [g, h, i, j, k] = self.right;
        [a, b, c, d, e, f, g, h, i, j, k]
    }
}

/// The matrix of each unknown.
const MATRIX: [usize; 5] = [0, 0, 0, 1, 2];

/// State, change, forcing, medium and row.
pub(super) const BYTES_PER_POINT: usize = 3 * 40 + size_of::<Medium>() + size_of::<Row>();
