//! The solution of the equation: there by one transform, and back after each step of time.

use std::f64::consts::PI;

use super::grid::Grid;
use super::transform::Direction;
use super::transform::LANES;
use super::transform::Transform;
use crate::app::endpoint::LayerError;
use crate::app::random::Random;
use crate::app::ranks::Ranks;

/// One rank's part of the solution.
#[derive(Debug)]
pub(super) struct Solver {
    grid: Grid,
    forward: Axes,
    inverse: Axes,
    /// What is left of a wave after one step: a product of one factor per axis.
    decay: [Vec<f64>; 3],
    spectrum: Vec<[f64; 2]>,
    /// The state in space. On the way there, first a copy of the spectrum.
    space: Vec<[f64; 2]>,
    parcels: Vec<[f64; 2]>,
}

/// The transforms along each axis.
#[derive(Debug)]
struct Axes {
    x: Transform,
    y: Transform,
    z: Transform,
}

impl Solver {
    /// Memory for the part of a rank.
    pub(super) fn new(grid: Grid) -> Self {
        let empty = vec![[0.0; 2]; grid.share()];
        Self {
            forward: Axes::new(&grid, Direction::Forward),
            inverse: Axes::new(&grid, Direction::Inverse),
            decay: [grid.nx, grid.ny, grid.nz].map(decay_along),
            spectrum: empty.clone(),
            space: empty.clone(),
            parcels: empty,
            grid,
        }
    }

    /// Draws the state at the beginning, and transforms it.
    pub(super) fn begin(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.draw();
        self.pack_planes();
        ranks.all_to_all(&self.parcels, &mut self.spectrum)?;
        self.forward.z.columns(&mut self.spectrum, self.grid.plane_of_rows());
        Ok(())
    }

    /// Lets the waves decay for one step, and transforms them back into space.
    pub(super) fn step(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.let_decay();
        self.inverse.z.columns(&mut self.space, self.grid.plane_of_rows());
        ranks.all_to_all(&self.space, &mut self.parcels)?;
        self.unpack_planes();
        Ok(())
    }

    /// This rank's share of the mean of some points.
    pub(super) fn checksum(&self) -> [f64; 2] {
        let Grid { nx, ny, nz, .. } = self.grid;
        let place = |j| self.grid.in_space([j % nx, 3 * j % ny, 5 * j % nz]);
        let points = (1..=SUMMED).filter_map(place).map(|place| self.space[place]);
        let [re, im] = points.fold([0.0; 2], |sum, point| [sum[0] + point[0], sum[1] + point[1]]);
        let all = self.grid.points() as f64;
        [re / all, im / all]
    }

    fn draw(&mut self) {
        let before = self.grid.planes().start * self.grid.plane();
        let mut random = Random::new(SEED).after(2 * before as u64);
        self.space.iter_mut().for_each(|point| *point = [random.draw(), random.draw()]);
    }

    /// Transforms planes along y and x; their rows end where all-to-all takes them from.
    fn pack_planes(&mut self) {
        let Self { grid, forward: Axes { x, y, .. }, space, parcels, .. } = self;
        for (plane, points) in space.chunks_exact_mut(grid.plane()).enumerate() {
            y.columns(points, grid.nx);
            for (group, rows) in points.chunks_exact(LANES * grid.nx).enumerate() {
                x.load_rows(rows);
                x.run();
                for lane in 0..LANES {
                    let at = grid.in_parcels(plane, group * LANES + lane);
                    x.store_row(lane, &mut parcels[at..]);
                }
            }
        }
    }

    /// Takes rows from where all-to-all left them, and transforms planes along x and y.
    fn unpack_planes(&mut self) {
        let Self { grid, inverse: Axes { x, y, .. }, space, parcels, .. } = self;
        for (plane, points) in space.chunks_exact_mut(grid.plane()).enumerate() {
            for (group, rows) in points.chunks_exact_mut(LANES * grid.nx).enumerate() {
                for lane in 0..LANES {
                    let at = grid.in_parcels(plane, group * LANES + lane);
                    x.load_row(lane, &parcels[at..]);
                }
                x.run();
                x.store_rows(rows);
            }
            y.columns(points, grid.nx);
        }
    }

    /// Multiplies each wave by what is left of it after a step. The copy is for the way back, which overwrites it.
    fn let_decay(&mut self) {
        let Self { grid, decay: [along_x, along_y, along_z], spectrum, space, .. } = self;
        let along_rows = &along_y[grid.rows()];
        let places = along_z.iter().flat_map(|z| along_rows.iter().map(move |y| z * y));
        let rows = spectrum.chunks_exact_mut(grid.nx).zip(space.chunks_exact_mut(grid.nx));
        for ((waves, copies), left) in rows.zip(places) {
            for ((wave, copy), x) in waves.iter_mut().zip(copies).zip(&*along_x) {
                *wave = wave.map(|part| part * (left * x));
                *copy = *wave;
            }
        }
    }
}

impl Axes {
    fn new(grid: &Grid, direction: Direction) -> Self {
        let [x, y, z] = [grid.nx, grid.ny, grid.nz].map(|length| Transform::new(length, direction));
        Self { x, y, z }
    }
}

/// exp(-4 alpha pi^2 k^2) for the wave numbers along one axis: 0, 1, 2 ... and then from below ... -2, -1.
fn decay_along(length: usize) -> Vec<f64> {
    let left = |index: usize| {
        let wave = index.min(length - index) as f64;
        (-4.0 * ALPHA * PI * PI * wave * wave).exp()
    };
    (0..length).map(left).collect()
}

/// Arrays of the size of the grid that a solver keeps.
pub(super) const ARRAYS: usize = 3;
const SEED: u64 = 314_159_265;
/// The diffusion of the equation, times one step of time.
const ALPHA: f64 = 1e-6;
/// Points that a checksum adds up.
const SUMMED: usize = 1024;
