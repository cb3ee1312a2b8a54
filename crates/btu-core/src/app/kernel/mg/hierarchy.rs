//! All grids of one rank, and the V-cycle over them.

use super::borders::Borders;
use super::charges;
use super::grid::Grid;
use super::layout;
use super::layout::Place;
use super::stencil::Stencil;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// The equation A u = v on the finest grid, and those of its corrections on the coarser ones.
#[derive(Debug)]
pub(super) struct Hierarchy {
    /// The coarsest first.
    coarser: Vec<Level>,
    finest: Level,
    v: Grid,
    stencil: Stencil,
    borders: Borders,
}

/// One grid.
#[derive(Debug)]
struct Level {
    place: Place,
    /// The solution, or a correction of it.
    u: Grid,
    /// The residual.
    r: Grid,
}

impl Hierarchy {
    /// As many grids, each with twice as many points along each axis as the one before.
    pub(super) fn new(levels: u32, ranks: &Ranks<'_>) -> Self {
        let places = layout::places(levels, ranks.size(), ranks.rank());
        let mut coarser: Vec<_> = places.into_iter().map(Level::new).collect();
        let finest = coarser.remove(coarser.len() - 1);
        let extent = finest.place.extent();
        let (v, stencil) = (Grid::new(extent), Stencil::new(extent[0]));
        Self { coarser, finest, v, stencil, borders: Borders::new(extent) }
    }

    /// Begins anew: u = 0, and charges as v.
    pub(super) fn charge(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let Level { place, u, .. } = &mut self.finest;
        u.clear();
        charges::place(ranks, 2 << self.coarser.len(), place, &mut self.v)?;
        self.borders.renew(ranks, place, &mut self.v)
    }

    /// r = v - A u.
    pub(super) fn renew_residual(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let Level { place, u, r } = &mut self.finest;
        self.stencil.residual(&self.v, u, r);
        self.borders.renew(ranks, place, r)
    }

    /// Improves u by a V-cycle from r: down to the coarsest grid, and up again.
    pub(super) fn cycle(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        self.descend(ranks)?;
        self.ascend(ranks)?;
        if let Some(coarse) = self.coarser.last() {
            self.finest.correct(ranks, coarse, &mut self.stencil, &mut self.borders)?;
        }
        self.renew_residual(ranks)?;
        self.finest.smooth(ranks, &mut self.stencil, &mut self.borders)
    }

    /// The root mean square and the largest of v.
    pub(super) fn charges_norms(&self, ranks: &mut Ranks<'_>) -> Result<(f64, f64), LayerError> {
        norms(ranks, &self.v, self.points())
    }

    /// The root mean square and the largest of r.
    pub(super) fn residual_norms(&self, ranks: &mut Ranks<'_>) -> Result<(f64, f64), LayerError> {
        norms(ranks, &self.finest.r, self.points())
    }

    /// Brings the residual to all grids.
    fn descend(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let mut fine = &self.finest;
        for coarse in self.coarser.iter_mut().rev() {
            self.stencil.restrict(&fine.r, &mut coarse.r);
            self.borders.renew(ranks, &coarse.place, &mut coarse.r)?;
            fine = coarse;
        }
        Ok(())
    }

    /// Corrections of the coarser grids: each begins as that of the next coarser one, the coarsest as 0.
    fn ascend(&mut self, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let (stencil, borders) = (&mut self.stencil, &mut self.borders);
        let mut coarser: Option<&Level> = None;
        for level in &mut self.coarser {
            level.u.clear();
            if let Some(coarse) = coarser {
                level.correct(ranks, coarse, stencil, borders)?;
                stencil.subtract_laplacian(&level.u, &mut level.r);
                borders.renew(ranks, &level.place, &mut level.r)?;
            }
            level.smooth(ranks, stencil, borders)?;
            coarser = Some(level);
        }
        Ok(())
    }

    /// How many points all ranks together have on the finest grid.
    fn points(&self) -> f64 {
        (8_u64 << (3 * self.coarser.len())) as f64
    }
}

impl Level {
    fn new(place: Place) -> Self {
        let zero = Grid::new(place.extent());
        Self { place, u: zero.clone(), r: zero }
    }

    /// Adds the correction of the next coarser grid to u.
    fn correct(
        &mut self,
        ranks: &mut Ranks<'_>,
        coarse: &Self,
        stencil: &mut Stencil,
        borders: &mut Borders,
    ) -> Result<(), LayerError> {
        if !coarse.place.is_idle() {
            stencil.interpolate(&coarse.u, &mut self.u);
        }
        borders.wake(ranks, &self.place, &mut self.u)
    }

    /// Moves u towards the solution.
    fn smooth(
        &mut self,
        ranks: &mut Ranks<'_>,
        stencil: &mut Stencil,
        borders: &mut Borders,
    ) -> Result<(), LayerError> {
        stencil.smooth(&self.r, &mut self.u);
        borders.renew(ranks, &self.place, &mut self.u)
    }
}

/// The benchmark reports both, and verifies the first.
fn norms(ranks: &mut Ranks<'_>, grid: &Grid, points: f64) -> Result<(f64, f64), LayerError> {
    let (mut sum, mut largest) = ([0.0], [0.0_f64]);
    for value in grid.inner_rows().flat_map(|at| grid.inner_row(at)) {
        sum[0] += value * value;
        largest[0] = largest[0].max(value.abs());
    }
    ranks.all_reduce(&mut sum)?;
    ranks.all_reduce_max(&mut largest)?;
    Ok(((sum[0] / points).sqrt(), largest[0]))
}
