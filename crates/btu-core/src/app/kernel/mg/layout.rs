//! Which part of each grid a rank has, and beside whom.

use std::array;

/// A rank's part of one grid.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Along x, y and z.
    pub(super) axes: [Side; 3],
}

/// What is so along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The first point of this rank.
    pub(super) first: usize,
    /// How many it has.
    pub(super) points: usize,
    /// The ranks that have the next points on either side; the grid is periodic.
    pub(super) below: usize,
    pub(super) above: usize,
    pub(super) role: Role,
}

/// What a rank does when the points of a grid got values from the next coarser one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Its one point lies on the coarser grid: it gives that and what is between to both neighbours.
    Gives,
    /// It has points of the coarser grid as all others do, or none of this one.
    Keeps,
    /// Its one point lies between those of the coarser grid, where it falls idle.
    Takes,
}

/// The parts of one rank: of the coarsest grid, with 2 points along each axis, first.
pub(super) fn places(levels: u32, ranks: usize, rank: usize) -> Vec<Place> {
    let division = division(ranks);
    let strides = [1, division[0], division[0] * division[1]];
    let side = |points, axis: usize| {
        let (parts, stride) = (division[axis], strides[axis]);
        let own = rank / stride % parts;
        let side = Side::new(points, parts, own);
        let rank_of = |part| rank - own * stride + part * stride;
        Side { below: rank_of(side.below), above: rank_of(side.above), ..side }
    };
    (1..=levels)
        .map(|level| Place { axes: array::from_fn(|axis| side(1 << level, axis)) })
        .collect()
}

impl Place {
    /// True where this rank has no point of the grid.
    pub(super) fn is_idle(&self) -> bool {
        self.axes.iter().any(|side| side.points == 0)
    }

    /// The size of this part with a border all around.
    pub(super) fn extent(&self) -> [usize; 3] {
        self.axes.map(|side| side.points + 2)
    }
}

impl Side {
    /// One of equal parts of an axis, with the numbers of the parts beside it.
    ///
    /// Where there are fewer points than parts, the last part of each group has one: its point of the next finer grid is
    /// the one that the coarser grid keeps.
    fn new(points: usize, parts: usize, own: usize) -> Self {
        let begin = |part| part * points / parts;
        let distance = (parts / points).max(1);
        let (below, above) = ((own + parts - distance) % parts, (own + distance) % parts);
        let (first, points_here) = (begin(own), begin(own + 1) - begin(own));
        let role = match (points <= parts, (own + 1) % (2 * distance)) {
            (true, 0) => Role::Gives,
            (true, rest) if rest == distance => Role::Takes,
            _ => Role::Keeps,
        };
        Self { first, points: points_here, below, above, role }
    }
}

/// How many ranks stand along each axis: as near to a cube as may be, the most along z.
fn division(ranks: usize) -> [usize; 3] {
    let log = ranks.ilog2();
    let x = log / 3;
    let y = (log - x) / 2;
    [1 << x, 1 << y, 1 << (log - x - y)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_side_of_the_division_is_along_z() {
        let of = [1, 2, 4, 8, 16, 32, 64].map(division);
        assert_eq!(of[..4], [[1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]]);
        assert_eq!(of[4..], [[2, 2, 4], [2, 4, 4], [4, 4, 4]]);
    }

    #[test]
    fn every_second_of_the_ranks_with_one_point_falls_idle() {
        let roles = |points| [0, 1, 2, 3].map(|own| Side::new(points, 4, own).role);
        assert_eq!(roles(8), [Role::Keeps; 4]);
        assert_eq!(roles(4), [Role::Takes, Role::Gives, Role::Takes, Role::Gives]);
        let coarse = [0, 1, 2, 3].map(|own| Side::new(2, 4, own));
        assert_eq!(coarse.map(|side| side.points), [0, 1, 0, 1]);
        assert_eq!((coarse[1].below, coarse[1].above, coarse[3].above), (3, 3, 1));
    }
}
