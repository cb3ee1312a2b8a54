//! The lower and the upper sweep: waves that cross the cube from corner to corner, from rank to rank.
//!
//! A rank begins a plane in z once it has the values beside it from the ranks before it, and passes its own on to those
//! behind it.

use std::array::from_fn;

use super::pencils::Pencils;
use super::piece::Piece;
use super::piece::Side;
use crate::app::endpoint::LayerError;
use crate::app::kernel::flow;
use crate::app::kernel::flow::Scheme;
use crate::app::ranks::Ranks;

/// The factors of the blocks, and room for what is passed.
#[derive(Debug)]
pub(super) struct Sweep {
    blocks: Blocks,
    pencils: Pencils,
}

/// The blocks of I - dt (Jx + Jy + Jz), without the fourth difference.
#[derive(Debug)]
struct Blocks {
    scheme: Scheme,
}

/// Over-relaxation.
const OMEGA: f64 = 1.2;

impl Sweep {
    /// The sweeps over a piece with the factors of its mesh.
    pub(super) fn new(piece: &Piece, scheme: Scheme) -> Self {
        Self { blocks: Blocks { scheme }, pencils: Pencils::new(piece) }
    }

    /// Solves with the blocks on and below the diagonal:
    /// `v = D^-1 (v - omega (A_k v(k-1) + A_j v(j-1) + A_i v(i-1)))`.
    pub(super) fn lower(
        &mut self,
        piece: &Piece,
        w: &[[f64; 5]],
        v: &mut [[f64; 5]],
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        let [x, y, z] = [0, 1, 2].map(|axis| piece.block.inner(axis));
        for k in z {
            self.pencils.receive((piece, k, Side::Before), v, ranks)?;
            for j in y.clone() {
                let start = piece.at([x.start, j, k]);
                self.blocks.lower_row(Row { start, count: x.len(), piece }, w, v);
            }
            self.pencils.send((piece, k, Side::Behind), v, ranks)?;
        }
        Ok(())
    }

    /// Solves with the blocks above the diagonal, and moves the state:
    /// `v -= D^-1 omega (C_k v(k+1) + C_j v(j+1) + C_i v(i+1)); u += v / (omega (2 - omega))`.
    pub(super) fn upper(
        &mut self,
        piece: &Piece,
        w: &[[f64; 5]],
        (v, u): (&mut [[f64; 5]], &mut [[f64; 5]]),
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        let [x, y, z] = [0, 1, 2].map(|axis| piece.block.inner(axis));
        for k in z.rev() {
            self.pencils.receive((piece, k, Side::Behind), v, ranks)?;
            for j in y.clone().rev() {
                let start = piece.at([x.start, j, k]);
                self.blocks.upper_row(Row { start, count: x.len(), piece }, w, v);
                move_row(&v[start..start + x.len()], &mut u[start..start + x.len()]);
            }
            self.pencils.send((piece, k, Side::Before), v, ranks)?;
        }
        Ok(())
    }
}

/// A row of points in x: where it lies in the arrays, and how long it is.
#[derive(Clone, Copy, Debug)]
struct Row<'p> {
    start: usize,
    count: usize,
    piece: &'p Piece,
}

impl Blocks {
    fn lower_row(&self, Row { start, count, piece }: Row<'_>, w: &[[f64; 5]], v: &mut [[f64; 5]]) {
        let (behind, here) = v.split_at_mut(start);
        let [before_j, before_k] = [1, 2].map(|axis| start - piece.block.stride(axis));
        let (below, front) = (&behind[before_k..][..count], &behind[before_j..][..count]);
        let (w_below, w_front) = (&w[before_k..][..count], &w[before_j..][..count]);
        let (w_left, w_here) = (&w[start - 1..][..count], &w[start..][..count]);
        let (here, mut left) = (&mut here[..count], behind[start - 1]);
        for i in 0..count {
            let along_z = self.off_diagonal::<2>(-self.scheme.first, &w_below[i], &below[i]);
            let along_y = self.off_diagonal::<1>(-self.scheme.first, &w_front[i], &front[i]);
            let along_x = self.off_diagonal::<0>(-self.scheme.first, &w_left[i], &left);
            let right_side =
                from_fn(|m| here[i][m] - OMEGA * (along_z[m] + along_y[m] + along_x[m]));
            left = self.solve_diagonal(&w_here[i], &right_side);
            here[i] = left;
        }
    }

    fn upper_row(&self, Row { start, count, piece }: Row<'_>, w: &[[f64; 5]], v: &mut [[f64; 5]]) {
        let end = start + count;
        let (here, ahead) = v.split_at_mut(end);
        let [next_j, next_k] = [1, 2].map(|axis| start + piece.block.stride(axis));
        let (above, back) = (&ahead[next_k - end..][..count], &ahead[next_j - end..][..count]);
        let (w_above, w_back) = (&w[next_k..][..count], &w[next_j..][..count]);
        let (w_right, w_here) = (&w[start + 1..][..count], &w[start..][..count]);
        let (here, mut right) = (&mut here[start..], ahead[0]);
        for i in (0..count).rev() {
            let along_z = self.off_diagonal::<2>(self.scheme.first, &w_above[i], &above[i]);
            let along_y = self.off_diagonal::<1>(self.scheme.first, &w_back[i], &back[i]);
            let along_x = self.off_diagonal::<0>(self.scheme.first, &w_right[i], &right);
            let right_side = from_fn(|m| OMEGA * (along_z[m] + along_y[m] + along_x[m]));
            let change = self.solve_diagonal(&w_here[i], &right_side);
            here[i].iter_mut().zip(change).for_each(|(v, change)| *v -= change);
            right = here[i];
        }
    }

    /// The product of `v` at a neighbour with the block that stands for it: +-dt F'/(2h) - dt n'/h^2 - dt d/h^2.
    #[inline]
    fn off_diagonal<const AXIS: usize>(
        &self,
        carried: f64,
        w: &[f64; 5],
        v: &[f64; 5],
    ) -> [f64; 5] {
        let (flux, viscous) = flow::change::<AXIS>(w, v);
        let diffusion = flow::DIFFUSION[AXIS];
        from_fn(|m| carried * flux[m] - self.scheme.second * (viscous[m] + diffusion * v[m]))
    }

    /// Solves D v = r, D = I + 2 dt/h^2 (n' + d, summed over the axes), whose elements above the diagonal are zero.
    #[inline]
    fn solve_diagonal(&self, w: &[f64; 5], r: &[f64; 5]) -> [f64; 5] {
        let [volume, x, y, z, energy] = *w;
        let plain = 1.0 + 2.0 * self.scheme.second * flow::DIFFUSION.iter().sum::<f64>();
        let friction = 2.0 * self.scheme.second * flow::VISCOSITY * volume;
        // Each momentum is along one axis, where it counts 4/3, and across two.
        let (shear, share) = (10.0 / 3.0 * friction, 1.0 / (plain + 10.0 / 3.0 * friction));
        let mass = r[0] / plain;
        let [a, b, c] = [(x, r[1]), (y, r[2]), (z, r[3])]
            .map(|(velocity, r)| (r + shear * velocity * mass) * share);
        let work = x * (a - x * mass) + y * (b - y * mass) + z * (c - z * mass);
        let heat = (3.0 * (1.0 - flow::CONDUCTION) + 1.0 / 3.0) * work
            - 3.0 * flow::CONDUCTION * energy * mass;
        let last = (r[4] - friction * heat) / (plain + 3.0 * flow::CONDUCTION * friction);
        [mass, a, b, c, last]
    }
}

/// u += v / (omega (2 - omega)).
fn move_row(v: &[[f64; 5]], u: &mut [[f64; 5]]) {
    const FACTOR: f64 = 1.0 / (OMEGA * (2.0 - OMEGA));
    for (u, v) in u.iter_mut().zip(v) {
        u.iter_mut().zip(v).for_each(|(u, v)| *u += FACTOR * v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagonal_block_is_that_of_all_axes() {
        let blocks = Blocks { scheme: Scheme { first: 0.4, second: 0.7, fourth: 0.1 } };
        let w = flow::per_mass(&[2.0, 0.7, -1.1, 0.4, 5.0]);
        let right_side = [0.3, -0.2, 0.5, 1.1, -0.9];
        let solved = blocks.solve_diagonal(&w, &right_side);
        // Without flux, minus an off-diagonal block is half of what its axis adds to the diagonal.
        let along = [
            blocks.off_diagonal::<0>(0.0, &w, &solved),
            blocks.off_diagonal::<1>(0.0, &w, &solved),
            blocks.off_diagonal::<2>(0.0, &w, &solved),
        ];
        for m in 0..5 {
            let product = solved[m] - 2.0 * along.iter().map(|axis| axis[m]).sum::<f64>();
            assert!((product - right_side[m]).abs() < 1e-14, "{m}: {product}");
        }
    }
}
