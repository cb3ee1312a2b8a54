//! Multipartition: every rank owns as many cells of the grid as there are along an axis, on a diagonal.
//!
//! The grid is cut into q^3 cells among q^2 ranks. In each of the q slices across any axis a rank has one cell, and its
//! neighbours along that axis belong to the same rank for all of its cells: a sweep keeps all ranks busy.
//!
//! Source: NASA report NAS-95-020; Bruno and Cappello, 1988.

use super::Mesh;
use super::block::Block;
use crate::app::kernel::square_root;

/// The cells of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Multipartition {
    /// q, the number of slices.
    side: usize,
    /// Where the diagonal meets the first slice across z, in x and y.
    foot: [usize; 2],
    /// The cells in the order of their slices across z.
    pub(crate) cells: Vec<Block>,
}

/// Towards which end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To higher coordinates.
    Next,
    /// To lower ones.
    Previous,
}

impl Way {
    /// The other.
    pub(crate) const fn back(self) -> Self {
        match self {
            Self::Next => Self::Previous,
            Self::Previous => Self::Next,
        }
    }
}

impl Multipartition {
    /// The part of a rank.
    pub(crate) fn new(mesh: Mesh, rank: usize, ranks: usize) -> Self {
        let side = square_root(ranks).unwrap_or(1);
        let foot = [rank % side, rank / side];
        let cell = |z| {
            let [x, y] = foot.map(|at| extent(mesh.points(), side, (at + z) % side));
            let z = extent(mesh.points(), side, z);
            Block::new(mesh, [x.0, y.0, z.0], [x.1, y.1, z.1])
        };
        Self { side, foot, cells: (0..side).map(cell).collect() }
    }

    /// q, the slices across each axis.
    pub(crate) const fn slices(&self) -> usize {
        self.side
    }

    /// Which cell lies in a slice across an axis.
    pub(crate) fn cell(&self, axis: usize, slice: usize) -> usize {
        let foot = self.foot.get(axis).copied().unwrap_or(0);
        (slice + self.side - foot) % self.side
    }

    /// Whose the neighbours of this rank's cells are.
    pub(crate) fn neighbour(&self, axis: usize, way: Way) -> usize {
        let step = if way == Way::Next { 1 } else { self.side - 1 };
        let [x, y] = match axis {
            0 => [step, 0],
            1 => [0, step],
            // One slice on in z, and not in x and y: the diagonal through that cell begins one lower in both.
            _ => [self.side - step, self.side - step],
        };
        (self.foot[0] + x) % self.side + (self.foot[1] + y) % self.side * self.side
    }
}

/// The first of the points of a slice, and their number: the first slices get one more where points remain.
fn extent(points: usize, side: usize, slice: usize) -> (usize, usize) {
    let (each, more) = (points / side, points % side);
    (slice * each + slice.min(more), each + usize::from(slice < more))
}

/// True for the squares whose cells have three points along each axis where there are least: in class S.
pub(crate) fn takes(ranks: usize) -> bool {
    square_root(ranks).is_some_and(|side| side <= 4)
}

/// [`takes`] in words.
pub(crate) const LEGAL: &str = "a square number, at most 16";

#[cfg(test)]
mod tests {
    use super::*;

    const MESH: Mesh = Mesh::new(14);

    fn all(ranks: usize) -> Vec<Multipartition> {
        (0..ranks).map(|rank| Multipartition::new(MESH, rank, ranks)).collect()
    }

    #[test]
    fn every_point_of_the_grid_is_in_one_cell() {
        let count = |ranks: usize| {
            let mut owners = vec![0; MESH.points().pow(3)];
            for cell in all(ranks).iter().flat_map(|part| &part.cells) {
                let own =
                    [0, 1, 2].map(|axis| cell.first(axis)..cell.first(axis) + cell.size(axis));
                for (x, y) in own[0].clone().flat_map(|x| own[1].clone().map(move |y| (x, y))) {
                    own[2].clone().for_each(|z| owners[(z * 14 + y) * 14 + x] += 1);
                }
            }
            owners
        };
        assert!([1, 4, 9, 16].into_iter().flat_map(count).all(|owners| owners == 1));
    }

    #[test]
    fn a_neighbour_has_the_cell_beside_each() {
        for (ranks, axis) in [1, 4, 9, 16].into_iter().flat_map(|p| [0, 1, 2].map(|axis| (p, axis)))
        {
            let parts = all(ranks);
            for part in &parts {
                let next = &parts[part.neighbour(axis, Way::Next)];
                let back = &parts[next.neighbour(axis, Way::Previous)];
                assert_eq!(back, part);
                for slice in 0..part.slices() - 1 {
                    let (cell, beside) = (part.cell(axis, slice), next.cell(axis, slice + 1));
                    assert_are_beside(&part.cells[cell], &next.cells[beside], axis);
                }
            }
        }
    }

    fn assert_are_beside(cell: &Block, next: &Block, axis: usize) {
        for other in 0..3 {
            let step = if other == axis { cell.size(axis) } else { 0 };
            assert_eq!(cell.first(other) + step, next.first(other), "{cell:?}, {next:?}");
        }
    }
}
