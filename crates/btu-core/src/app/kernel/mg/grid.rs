//! Numbers on the points of a box, with a border all around.

use std::array;
use std::cmp::Ordering;
use std::ops::Range;

/// A box of numbers, x the fastest.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    extent: [usize; 3],
    values: Vec<f64>,
}

/// A part of a box: the points from and to along x, y and z.
#[derive(Clone, Debug)]
pub(super) struct Slab([Range<usize>; 3]);

impl Grid {
    /// A box of this size, the border included.
    pub(super) fn new(extent: [usize; 3]) -> Self {
        Self { extent, values: vec![0.0; extent.iter().product()] }
    }

    /// Its size, the border included.
    pub(super) fn extent(&self) -> [usize; 3] {
        self.extent
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// All points at one y and z.
    pub(super) fn row(&self, [y, z]: [usize; 2]) -> &[f64] {
        let from = self.start(y, z);
        &self.values[from..from + self.extent[0]]
    }

    pub(super) fn row_mut(&mut self, [y, z]: [usize; 2]) -> &mut [f64] {
        let from = self.start(y, z);
        &mut self.values[from..from + self.extent[0]]
    }

    /// The points of a row that are not of the border.
    pub(super) fn inner_row(&self, at: [usize; 2]) -> &[f64] {
        &self.row(at)[1..self.extent[0] - 1]
    }

    pub(super) fn inner_row_mut(&mut self, at: [usize; 2]) -> &mut [f64] {
        let length = self.extent[0];
        &mut self.row_mut(at)[1..length - 1]
    }

    /// Where all rows are.
    pub(super) fn rows(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        Slab(self.extent.map(|length| 0..length)).rows()
    }

    /// Where the rows are that are not of the border.
    pub(super) fn inner_rows(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        Slab(self.extent.map(|length| 1..length - 1)).rows()
    }

    /// Copies a part out; returns how many numbers that are.
    pub(super) fn pack(&self, slab: &Slab, into: &mut [f64]) -> usize {
        let [x, ..] = &slab.0;
        for (at, space) in slab.rows().zip(into.chunks_exact_mut(x.len())) {
            space.copy_from_slice(&self.row(at)[x.clone()]);
        }
        slab.volume()
    }

    /// Copies a part in.
    pub(super) fn unpack(&mut self, slab: &Slab, from: &[f64]) {
        let [x, ..] = &slab.0;
        for (at, values) in slab.rows().zip(from.chunks_exact(x.len())) {
            self.row_mut(at)[x.clone()].copy_from_slice(values);
        }
    }

    fn start(&self, y: usize, z: usize) -> usize {
        (z * self.extent[1] + y) * self.extent[0]
    }
}

impl Slab {
    /// Planes across an axis: with the border along the axes before it, without along those after it.
    pub(super) fn across(extent: [usize; 3], axis: usize, planes: Range<usize>) -> Self {
        Self(array::from_fn(|of| match of.cmp(&axis) {
            Ordering::Less => 0..extent[of],
            Ordering::Equal => planes.clone(),
            Ordering::Greater => 1..extent[of] - 1,
        }))
    }

    /// Planes across an axis, with all of their border.
    pub(super) fn whole(extent: [usize; 3], axis: usize, planes: Range<usize>) -> Self {
        Self(array::from_fn(|of| if of == axis { planes.clone() } else { 0..extent[of] }))
    }

    /// How many points it has.
    pub(super) fn volume(&self) -> usize {
        self.0.iter().map(Range::len).product()
    }

    /// Where its rows are.
    fn rows(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let [_, y, z] = self.0.clone();
        z.flat_map(move |z| y.clone().map(move |y| [y, z]))
    }
}
