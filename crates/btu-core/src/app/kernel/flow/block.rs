//! A box of grid points, and where they lie in memory.

use std::ops::Range;

use super::Mesh;

/// How many points of its neighbours a block keeps on each side: the reach of the fourth difference.
pub(crate) const HALO: usize = 2;

/// A box of the grid with its halo. Coordinates along an axis begin at the halo: the first own point is at [`HALO`].
///
/// Arrays over a block have an element for each point, the halo included, x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The grid.
    pub(crate) mesh: Mesh,
    /// The grid coordinates of the first own point.
    first: [usize; 3],
    /// Own points along each axis.
    size: [usize; 3],
}

impl Block {
    /// The box of `size` points from `first`.
    pub(crate) const fn new(mesh: Mesh, first: [usize; 3], size: [usize; 3]) -> Self {
        Self { mesh, first, size }
    }

    /// The grid coordinate of the first own point on an axis.
    pub(crate) const fn first(&self, axis: usize) -> usize {
        self.first[axis]
    }

    /// Own points along an axis.
    pub(crate) const fn size(&self, axis: usize) -> usize {
        self.size[axis]
    }

    /// Elements of an array over the block.
    pub(crate) fn volume(&self) -> usize {
        self.size.iter().map(|size| size + 2 * HALO).product()
    }

    /// How far apart in memory neighbours along an axis are.
    pub(crate) fn stride(&self, axis: usize) -> usize {
        self.size[..axis].iter().map(|size| size + 2 * HALO).product()
    }

    /// Coordinates of the own points on an axis.
    pub(crate) const fn own(&self, axis: usize) -> Range<usize> {
        HALO..HALO + self.size[axis]
    }

    /// Coordinates of the own points on an axis that are not on the boundary of the grid.
    pub(crate) fn inner(&self, axis: usize) -> Range<usize> {
        let own = self.own(axis);
        let (first, end) = (self.first[axis], self.first[axis] + self.size[axis]);
        own.start + usize::from(first == 0)..own.end - usize::from(end == self.mesh.points())
    }

    /// How many inner points there are.
    pub(crate) fn inner_points(&self) -> usize {
        (0..3).map(|axis| self.inner(axis).len()).product()
    }

    /// The inner points, as runs along x.
    pub(crate) fn inner_rows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        self.rows([0, 1, 2].map(|axis| self.inner(axis)))
    }

    /// Where each line of inner points along an axis would begin, at coordinate 0.
    pub(crate) fn lines(&self, axis: usize) -> impl Iterator<Item = usize> + use<> {
        let mut of = [0, 1, 2].map(|axis| self.inner(axis));
        of[axis] = 0..1;
        self.rows(of).flatten()
    }

    /// The own points with these coordinates on an axis, as runs along x.
    pub(crate) fn layers(
        &self,
        axis: usize,
        at: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        let mut of = [0, 1, 2].map(|axis| self.own(axis));
        of[axis] = at;
        self.rows(of)
    }

    /// An array over the block, made from the grid coordinates of each point; those of the halo that lie outside the
    /// grid get the value of the nearest that does not.
    pub(crate) fn field<T>(&self, value: impl Fn([usize; 3]) -> T) -> Vec<T> {
        let last = self.mesh.points() - 1;
        let along = |axis: usize| {
            let first = self.first[axis];
            let inside = move |at: usize| (first + at).saturating_sub(HALO).min(last);
            (0..self.size[axis] + 2 * HALO).map(inside)
        };
        let places =
            along(2).flat_map(|z| along(1).flat_map(move |y| along(0).map(move |x| [x, y, z])));
        places.map(value).collect()
    }

    /// The points with coordinates in these ranges, as runs along x.
    fn rows(&self, [x, y, z]: [Range<usize>; 3]) -> impl Iterator<Item = Range<usize>> + use<> {
        let (row, plane) = (self.stride(1), self.stride(2));
        z.flat_map(move |k| y.clone().map(move |j| k * plane + j * row))
            .map(move |start| start + x.start..start + x.end)
    }
}
