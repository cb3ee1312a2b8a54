//! How ranks share a square matrix: each has a block of it, on a grid of ranks with as many rows as columns, or half as
//! many.

use std::array;
use std::ops::Range;

use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// One rank's place on the grid.
///
/// A vector to multiply lies in pieces along a row of ranks, the same pieces in each row. The product lies along the
/// columns, in the longer pieces of the rows: whence the swap.
#[derive(Clone, Debug)]
pub(super) struct Division {
    order: usize,
    rank: usize,
    grid_rows: usize,
    grid_columns: usize,
}

impl Division {
    /// The place of a rank, where there is a power of two of them.
    pub(super) fn new(order: usize, ranks: usize, rank: usize) -> Self {
        let grid_rows = 1 << (ranks.ilog2() / 2);
        Self { order, rank, grid_rows, grid_columns: ranks / grid_rows }
    }

    /// The rows of the matrix that this rank has.
    pub(super) fn rows(&self) -> Range<usize> {
        part(self.order, self.grid_rows, self.row())
    }

    /// Its columns.
    pub(super) fn columns(&self) -> Range<usize> {
        part(self.order, self.grid_columns, self.column())
    }

    /// Sums of the numbers that the ranks of this row have, by recursive doubling: the same bits to each.
    pub(super) fn sum<const N: usize>(
        &self,
        ranks: &mut Ranks<'_>,
        mut sums: [f64; N],
    ) -> Result<[f64; N], LayerError> {
        let mut theirs = [0.0; N];
        for partner in self.partners() {
            ranks.exchange((partner, &sums), (partner, &mut theirs), SUM)?;
            sums = array::from_fn(|place| sums[place] + theirs[place]);
        }
        Ok(sums)
    }

    /// Adds up what the ranks of this row have of a product: afterwards, [`Division::mine`] of it is the sum.
    ///
    /// On the oblong grid, neighbours first give each other the half that they do not go on with.
    pub(super) fn add_up(
        &self,
        ranks: &mut Ranks<'_>,
        product: &mut [f64],
        space: &mut [f64],
    ) -> Result<(), LayerError> {
        let mine = self.mine();
        let mut given = self.neighbours();
        for partner in self.partners() {
            let space = &mut space[mine.clone()];
            ranks.exchange((partner, &product[given]), (partner, space), PRODUCT)?;
            let sums = product[mine.clone()].iter_mut();
            sums.zip(&*space).for_each(|(sum, theirs)| *sum += theirs);
            given = mine.clone();
        }
        Ok(())
    }

    /// Swaps products across the diagonal, and so makes a vector that can be multiplied. A rank on the diagonal has its
    /// own, but sends it, too, as the benchmark does; one that is alone does not.
    pub(super) fn transpose(
        &self,
        ranks: &mut Ranks<'_>,
        product: &[f64],
        into: &mut [f64],
    ) -> Result<(), LayerError> {
        let mine = &product[self.mine()];
        if self.grid_columns == 1 {
            into.copy_from_slice(mine);
            return Ok(());
        }
        let partner = self.opposite();
        ranks.exchange((partner, mine), (partner, into), TRANSPOSE)
    }

    fn row(&self) -> usize {
        self.rank / self.grid_columns
    }

    fn column(&self) -> usize {
        self.rank % self.grid_columns
    }

    /// How many columns of the grid there are for each of its rows: 1 or 2.
    fn oblong(&self) -> usize {
        self.grid_columns / self.grid_rows
    }

    /// The rank across the diagonal; on the oblong grid, columns count by twos.
    fn opposite(&self) -> usize {
        let (ratio, column) = (self.oblong(), self.column());
        column / ratio * self.grid_columns + self.row() * ratio + column % ratio
    }

    /// The rows, as places of the product, that this rank sends across the diagonal.
    fn mine(&self) -> Range<usize> {
        self.piece(self.column() % self.oblong())
    }

    /// Those that the next rank of the row does.
    fn neighbours(&self) -> Range<usize> {
        let ratio = self.oblong();
        self.piece((self.column() + 1) % ratio)
    }

    /// A piece of this rank's rows that is as long as a column of the grid is wide.
    fn piece(&self, number: usize) -> Range<usize> {
        let first = self.rows().start;
        let piece = part(self.order, self.grid_columns, self.row() * self.oblong() + number);
        piece.start - first..piece.end - first
    }

    /// The ranks of this row with which to exchange, one after the other, so that each learns of all.
    fn partners(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank;
        (0..self.grid_columns.ilog2()).map(move |bit| rank ^ (1 << bit))
    }
}

/// One of nearly equal parts.
fn part(whole: usize, parts: usize, number: usize) -> Range<usize> {
    whole * number / parts..whole * (number + 1) / parts
}

const PRODUCT: u32 = 1;
const SUM: u32 = 2;
const TRANSPOSE: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// All ranks that share a matrix which nothing but its own order divides.
    fn all(ranks: usize) -> impl Iterator<Item = Division> {
        (0..ranks).map(move |rank| Division::new(1_409, ranks, rank))
    }

    #[test]
    fn who_is_across_the_diagonal_needs_what_this_rank_has() {
        for place in (0..10).flat_map(|log| all(1 << log)) {
            let opposite = Division { rank: place.opposite(), ..place };
            let (first, mine) = (place.rows().start, place.mine());
            assert_eq!(opposite.columns(), first + mine.start..first + mine.end, "{place:?}");
            assert_eq!(opposite.opposite(), place.rank);
        }
    }

    #[test]
    fn neighbours_on_the_oblong_grid_share_their_rows() {
        for place in [2, 8, 32, 128].into_iter().flat_map(all) {
            let neighbour = Division { rank: place.rank ^ 1, ..place };
            assert_eq!(place.mine(), neighbour.neighbours());
            assert_eq!(place.mine().len() + place.neighbours().len(), place.rows().len());
        }
    }
}
