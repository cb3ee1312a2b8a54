//! The grid of FT, and the part of it that a rank has.
//!
//! In space a rank has planes of equal z: `[z][y][x]`, x fastest. In the spectrum it has rows of equal y, through all
//! planes: `[z][y][x]` again, but with all z and few y. Between the two, every rank sends a parcel to each other:
//! `[rank][z][y][x]`, with the planes of the one and the rows of the other. Those parcels behind each other are the
//! spectrum as it lies in memory: it is sent and received as it is, and only the planes are packed and unpacked.

use std::ops::Range;

use crate::app::class::ProblemClass;

/// The sizes of the grid, and the share of one rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) nx: usize,
    pub(super) ny: usize,
    pub(super) nz: usize,
    rank: usize,
    ranks: usize,
}

impl Grid {
    /// The grid of a class, as one of several ranks has it.
    pub(super) fn of(class: ProblemClass, rank: usize, ranks: usize) -> Self {
        let [nx, ny, nz] = class.of(SIZES);
        Self { nx, ny, nz, rank, ranks }
    }

    /// The points of all ranks.
    pub(super) fn points(&self) -> usize {
        self.nx * self.ny * self.nz
    }

    /// The points of this rank, in space or in the spectrum.
    pub(super) fn share(&self) -> usize {
        self.points() / self.ranks
    }

    /// The points of a plane in space.
    pub(super) fn plane(&self) -> usize {
        self.nx * self.ny
    }

    /// The points of a plane in the spectrum.
    pub(super) fn plane_of_rows(&self) -> usize {
        self.plane() / self.ranks
    }

    /// The planes of this rank in space.
    pub(super) fn planes(&self) -> Range<usize> {
        let planes = self.nz / self.ranks;
        self.rank * planes..(self.rank + 1) * planes
    }

    /// The rows of this rank in the spectrum.
    pub(super) fn rows(&self) -> Range<usize> {
        let rows = self.ny / self.ranks;
        self.rank * rows..(self.rank + 1) * rows
    }

    /// Where a row of a plane of this rank begins among parcels.
    pub(super) fn in_parcels(&self, plane: usize, row: usize) -> usize {
        let rows = self.ny / self.ranks;
        let parcel = self.share() / self.ranks;
        row / rows * parcel + plane * self.plane_of_rows() + row % rows * self.nx
    }

    /// Where a point of the whole grid is in the planes of this rank; `None` where another has it.
    pub(super) fn in_space(&self, [x, y, z]: [usize; 3]) -> Option<usize> {
        let planes = self.planes();
        let plane = planes.contains(&z).then(|| z - planes.start)?;
        Some((plane * self.ny + y) * self.nx + x)
    }
}

/// x, y, z of the classes.
const SIZES: [[usize; 3]; 3] = [[64, 64, 64], [128, 128, 32], [256, 256, 128]];
