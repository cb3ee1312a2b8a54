//! The four operators of multigrid, each with the 27 points around one.
//!
//! A weight belongs to a class of points: the centre, 6 faces, 12 edges, 8 corners. Along a row, the sums of the four
//! rows beside it and of the four across serve three points each.

use super::grid::Grid;

/// Room for those sums.
#[derive(Debug)]
pub(super) struct Stencil {
    /// Sums of the rows beside: faces of the point at the same x, edges of those next to it.
    beside: Vec<f64>,
    /// Sums of the rows across: edges of the point at the same x, corners of those next to it.
    across: Vec<f64>,
}

impl Stencil {
    /// For rows up to this length.
    pub(super) fn new(length: usize) -> Self {
        Self { beside: vec![0.0; length], across: vec![0.0; length] }
    }

    /// r = r - A u: the Laplacian, with weights -8/3, 0, 1/6, 1/12.
    pub(super) fn subtract_laplacian(&mut self, u: &Grid, r: &mut Grid) {
        for at in r.inner_rows() {
            self.subtract_laplacian_of_row(u, at, r.inner_row_mut(at));
        }
    }

    /// r = v - A u.
    pub(super) fn residual(&mut self, v: &Grid, u: &Grid, r: &mut Grid) {
        for at in r.inner_rows() {
            let row = r.inner_row_mut(at);
            row.copy_from_slice(v.inner_row(at));
            self.subtract_laplacian_of_row(u, at, row);
        }
    }

    /// u = u + S r: the smoother, with weights -3/8, 1/32, -1/64, 0.
    pub(super) fn smooth(&mut self, r: &Grid, u: &mut Grid) {
        for at in u.inner_rows() {
            let [beside, across] = self.sums(r, at);
            let row = u.inner_row_mut(at).iter_mut().zip(r.row(at).array_windows());
            let sums = beside.array_windows().zip(&across[1..]);
            for ((u, [left, centre, right]), ([beside_left, beside, beside_right], across)) in
                row.zip(sums)
            {
                let faces = left + right + beside;
                let edges = across + beside_left + beside_right;
                *u += -3.0 / 8.0 * centre + 1.0 / 32.0 * faces - 1.0 / 64.0 * edges;
            }
        }
    }

    /// The coarse points from the fine ones around them, with weights 1/2, 1/4, 1/8, 1/16.
    pub(super) fn restrict(&mut self, fine: &Grid, coarse: &mut Grid) {
        let [shift, shift_y, shift_z] = shifts(fine);
        for [y, z] in coarse.inner_rows() {
            let at = [2 * y - shift_y, 2 * z - shift_z];
            let [beside, across] = self.sums(fine, at);
            let around = |row| every_second(row, 1 - shift);
            let sums = around(beside).zip(around(across));
            let points = coarse.inner_row_mut([y, z]).iter_mut().zip(around(fine.row(at)));
            for ((coarse, row), (beside, across)) in points.zip(sums) {
                let faces = row[0] + row[2] + beside[1];
                let edges = beside[0] + beside[2] + across[1];
                let corners = across[0] + across[2];
                *coarse = 0.5 * row[1] + 0.25 * faces + 0.125 * edges + 0.0625 * corners;
            }
        }
    }

    /// Adds to the fine points, those of the border too, what lies between the coarse ones, linearly along each axis.
    pub(super) fn interpolate(&mut self, coarse: &Grid, fine: &mut Grid) {
        let [shift, shift_y, shift_z] = shifts(fine);
        let [length, ..] = coarse.extent();
        for at in fine.rows() {
            let [[y, next_y], [z, next_z]] = [between(at[0] + shift_y), between(at[1] + shift_z)];
            let rows = [[y, z], [next_y, z], [y, next_z], [next_y, next_z]];
            let sums = &mut self.beside[..length];
            add_rows(rows.map(|at| coarse.row(at)), sums);
            interpolate_row(sums, shift, fine.row_mut(at));
        }
    }

    fn subtract_laplacian_of_row(&mut self, u: &Grid, at: [usize; 2], r: &mut [f64]) {
        let [beside, across] = self.sums(u, at);
        let sums = beside.array_windows().zip(across.array_windows());
        let row = r.iter_mut().zip(&u.row(at)[1..]);
        for ((r, centre), ([left, _, right], [across_left, across, across_right])) in row.zip(sums)
        {
            let edges = across + left + right;
            let corners = across_left + across_right;
            *r -= -8.0 / 3.0 * centre + 1.0 / 6.0 * edges + 1.0 / 12.0 * corners;
        }
    }

    /// The sums of the rows beside and across.
    fn sums(&mut self, grid: &Grid, [y, z]: [usize; 2]) -> [&[f64]; 2] {
        let [length, ..] = grid.extent();
        let (beside, across) = (&mut self.beside[..length], &mut self.across[..length]);
        let rows = |places: [[usize; 2]; 4]| places.map(|at| grid.row(at));
        add_rows(rows([[y - 1, z], [y + 1, z], [y, z - 1], [y, z + 1]]), beside);
        let corners = [[y - 1, z - 1], [y + 1, z - 1], [y - 1, z + 1], [y + 1, z + 1]];
        add_rows(rows(corners), across);
        [beside, across]
    }
}

/// Where coarse points lie among the fine ones, along each axis: coarse point c is fine point 2 c, the border being 0; or
/// 2 c - 1, where there is only one fine point.
fn shifts(fine: &Grid) -> [usize; 3] {
    fine.extent().map(|extent| usize::from(extent == 3))
}

/// The coarse points on both sides of a fine one: the same twice, where it lies on one.
fn between(fine: usize) -> [usize; 2] {
    [fine / 2, fine.div_ceil(2)]
}

/// Adds to a row of fine points the mean of two or the value of one coarse point, each of these the sum of four.
fn interpolate_row(coarse: &[f64], shift: usize, fine: &mut [f64]) {
    let (border, pairs) = fine.split_at_mut(shift);
    if let [border] = border {
        *border += 0.125 * (coarse[0] + coarse[1]);
    }
    let (pairs, _) = pairs.as_chunks_mut();
    for ([on, after], [coarse, next]) in pairs.iter_mut().zip(coarse[shift..].array_windows()) {
        *on += 0.25 * coarse;
        *after += 0.125 * (coarse + next);
    }
}

fn add_rows(rows: [&[f64]; 4], sums: &mut [f64]) {
    let [first, second, third, fourth] = rows.map(|row| &row[..sums.len()]);
    for (at, sum) in sums.iter_mut().enumerate() {
        *sum = first[at] + second[at] + third[at] + fourth[at];
    }
}

/// Three points of a row around each second one.
fn every_second(row: &[f64], from: usize) -> impl Iterator<Item = &[f64; 3]> {
    row[from..].array_windows().step_by(2)
}
