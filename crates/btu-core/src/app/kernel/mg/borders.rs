//! Exchange of borders between the ranks that share a grid.
//!
//! Axis by axis: what came along x goes on along y and z, and so the edges and corners come without messages of their
//! own. A rank that is its own neighbour sends to itself, as in the benchmark; one that is alone copies.

use super::grid::Grid;
use super::grid::Slab;
use super::layout::Place;
use super::layout::Role;
use super::layout::Side;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// Room for what is sent and what comes.
#[derive(Debug)]
pub(super) struct Borders {
    out: Vec<f64>,
    into: Vec<f64>,
}

impl Borders {
    /// Room enough for a grid of this size and all coarser ones.
    pub(super) fn new([wide, high, deep]: [usize; 3]) -> Self {
        let plane = (wide * high).max(high * deep).max(wide * deep);
        Self { out: vec![0.0; 2 * plane], into: vec![0.0; 2 * plane] }
    }

    /// Fills the border with the points of the neighbours. A border of a higher axis is not sent along a lower one, since
    /// it comes later. The grid of a rank without points is all border: zero.
    pub(super) fn renew(
        &mut self,
        ranks: &mut Ranks<'_>,
        place: &Place,
        grid: &mut Grid,
    ) -> Result<(), LayerError> {
        if place.is_idle() {
            grid.clear();
            return Ok(());
        }
        for (axis, side) in place.axes.iter().enumerate() {
            let end = grid.extent()[axis] - 1;
            let slab = |planes| Slab::across(grid.extent(), axis, planes);
            let (up, down) = ([slab(end - 1..end), slab(0..1)], [slab(1..2), slab(end..end + 1)]);
            self.shift(ranks, grid, up, [side.above, side.below], tag(axis, UP))?;
            self.shift(ranks, grid, down, [side.below, side.above], tag(axis, DOWN))?;
        }
        Ok(())
    }

    /// Brings values from a coarser grid to those ranks that had no points there.
    pub(super) fn wake(
        &mut self,
        ranks: &mut Ranks<'_>,
        place: &Place,
        grid: &mut Grid,
    ) -> Result<(), LayerError> {
        for (axis, side) in place.axes.iter().enumerate() {
            match side.role {
                Role::Gives => self.give(ranks, grid, axis, side)?,
                Role::Keeps => (),
                Role::Takes => self.take(ranks, grid, axis, side)?,
            }
        }
        Ok(())
    }

    /// Sends one plane and receives the one that comes from the other side.
    fn shift(
        &mut self,
        ranks: &mut Ranks<'_>,
        grid: &mut Grid,
        [of, into]: [Slab; 2],
        [to, from]: [usize; 2],
        tag: u32,
    ) -> Result<(), LayerError> {
        let length = grid.pack(&of, &mut self.out);
        let (out, space) = (&self.out[..length], &mut self.into[..length]);
        if ranks.size() == 1 {
            space.copy_from_slice(out);
        } else {
            ranks.exchange((to, out), (from, &mut *space), tag)?;
        }
        grid.unpack(&into, space);
        Ok(())
    }

    /// Upwards go the one point and the border above it, downwards the point: with the border below, which is the same
    /// as the one above the next giver, they are what the taker between lacks.
    fn give(
        &mut self,
        ranks: &mut Ranks<'_>,
        grid: &Grid,
        axis: usize,
        side: &Side,
    ) -> Result<(), LayerError> {
        for (to, planes, direction) in [(side.above, 1..3, UP), (side.below, 1..2, DOWN)] {
            let length = grid.pack(&Slab::whole(grid.extent(), axis, planes), &mut self.out);
            ranks.send(to, tag(axis, direction), &self.out[..length])?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        ranks: &mut Ranks<'_>,
        grid: &mut Grid,
        axis: usize,
        side: &Side,
    ) -> Result<(), LayerError> {
        for (from, planes, direction) in [(side.above, 2..3, DOWN), (side.below, 0..2, UP)] {
            let slab = Slab::whole(grid.extent(), axis, planes);
            let space = &mut self.into[..slab.volume()];
            ranks.receive(from, tag(axis, direction), space)?;
            grid.unpack(&slab, space);
        }
        Ok(())
    }
}

/// Directions have tags of their own: with two ranks along an axis, both neighbours are the same rank.
fn tag(axis: usize, direction: u32) -> u32 {
    2 * axis as u32 + direction
}

const DOWN: u32 = 0;
const UP: u32 = 1;
