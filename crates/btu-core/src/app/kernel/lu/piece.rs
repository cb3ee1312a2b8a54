//! Which points of the cube a rank owns: all in z, a part in x and y.

use std::ops::Range;

use crate::app::kernel::flow::Block;
use crate::app::kernel::flow::HALO;
use crate::app::kernel::flow::Mesh;

/// The points of one rank, and the ranks beside it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) block: Block,
    /// The ranks before and behind, along x and y.
    neighbours: [[Option<usize>; 2]; 2],
}

/// The two ends of a piece along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Where coordinates are lower.
    Before,
    /// Where they are higher.
    Behind,
}

impl Side {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::Before, Self::Behind];
}

impl Piece {
    /// What a rank owns of a mesh. Ranks stand in a grid, x running fastest; there are as many in x as in y, or twice
    /// as many.
    pub(super) fn new(mesh: Mesh, rank: usize, ranks: usize) -> Self {
        let bits = ranks.ilog2();
        let grid = [1 << bits.div_ceil(2), 1 << (bits / 2), 1];
        let place = [rank % grid[0], rank / grid[0], 0];
        let starts = |axis: usize, place: usize| part_start(mesh.points(), grid[axis], place);
        let first = [0, 1, 2].map(|axis| starts(axis, place[axis]));
        let size = [0, 1, 2].map(|axis| starts(axis, place[axis] + 1) - first[axis]);
        let neighbours = [0, 1].map(|axis| {
            let away = [1, grid[0]][axis];
            let before = (place[axis] > 0).then(|| rank - away);
            let behind = (place[axis] + 1 < grid[axis]).then(|| rank + away);
            [before, behind]
        });
        Self { block: Block::new(mesh, first, size), neighbours }
    }

    /// The rank beside this one along x or y.
    pub(super) const fn neighbour(&self, axis: usize, side: Side) -> Option<usize> {
        self.neighbours[axis][side as usize]
    }

    /// The coordinates along an axis of the own points among some of the cube's.
    pub(super) fn part_of(&self, axis: usize, cube: Range<usize>) -> Range<usize> {
        let (first, own) = (self.block.first(axis), self.block.own(axis));
        let here = |index: usize| (index + HALO).saturating_sub(first).clamp(own.start, own.end);
        here(cube.start)..here(cube.end)
    }

    /// Where a point lies in arrays over the block.
    pub(super) fn at(&self, [x, y, z]: [usize; 3]) -> usize {
        x + y * self.block.stride(1) + z * self.block.stride(2)
    }

    /// Where those points of plane `z` begin that are the last of this rank on a side, of those inside the cube.
    pub(super) fn last(&self, axis: usize, side: Side, z: usize) -> usize {
        let mut point = [self.block.inner(0).start, self.block.inner(1).start, z];
        let own = self.block.own(axis);
        point[axis] = match side {
            Side::Before => own.start,
            Side::Behind => own.end - 1,
        };
        self.at(point)
    }

    /// Where those points of the neighbour begin that are beside them.
    pub(super) fn beside(&self, axis: usize, side: Side, z: usize) -> usize {
        let (last, stride) = (self.last(axis, side, z), self.block.stride(axis));
        match side {
            Side::Before => last - stride,
            Side::Behind => last + stride,
        }
    }
}

/// Where a part of a line of points begins: the first parts are one longer than the others.
const fn part_start(points: usize, parts: usize, part: usize) -> usize {
    let longer = points % parts;
    part * (points / parts) + if part < longer { part } else { longer }
}
