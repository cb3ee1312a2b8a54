//! Sweeps along an axis through the cells of all ranks: elimination to one end, substitution back.

use super::Block;
use super::Flow;
use super::multipartition::Way;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// A solver of systems of equations along lines, cell by cell.
///
/// What it carries from cell to cell lies line after line; zeros stand for the rows beyond the grid.
pub(crate) trait Elimination {
    /// Numbers per line that elimination hands on.
    const ELIMINATED: usize;
    /// Numbers per line that substitution hands back.
    const SUBSTITUTED: usize;

    /// For how many lines of a cell a message has room.
    fn lines(block: &Block, axis: usize, slices: usize) -> usize;

    /// Eliminates what is below the diagonal, in increasing order of rows.
    fn eliminate<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]);

    /// Puts the solution into `flow.change`, in decreasing order.
    fn substitute<const AXIS: usize>(&mut self, flow: &mut Flow, cell: usize, carried: &mut [f64]);
}

/// A sweep, with the space for its messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    carried: Vec<f64>,
}

impl Sweep {
    /// Solves along an axis: to the last slice, and back.
    pub(crate) fn solve<const AXIS: usize, E: Elimination>(
        &mut self,
        elimination: &mut E,
        flow: &mut Flow,
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        let slices = flow.partition.slices();
        let previous = flow.partition.neighbour(AXIS, Way::Previous);
        let next = flow.partition.neighbour(AXIS, Way::Next);
        for slice in 0..slices {
            let cell = self.begin::<E>(flow, AXIS, slice, E::ELIMINATED);
            self.receive((slice > 0).then_some(previous), ELIMINATION, ranks)?;
            elimination.eliminate::<AXIS>(flow, cell, &mut self.carried);
            self.send((slice + 1 < slices).then_some(next), ELIMINATION, ranks)?;
        }
        for slice in (0..slices).rev() {
            let cell = self.begin::<E>(flow, AXIS, slice, E::SUBSTITUTED);
            self.receive((slice + 1 < slices).then_some(next), SUBSTITUTION, ranks)?;
            elimination.substitute::<AXIS>(flow, cell, &mut self.carried);
            self.send((slice > 0).then_some(previous), SUBSTITUTION, ranks)?;
        }
        Ok(())
    }

    /// Which cell is next; nothing is carried yet.
    fn begin<E: Elimination>(
        &mut self,
        flow: &Flow,
        axis: usize,
        slice: usize,
        numbers: usize,
    ) -> usize {
        let cell = flow.partition.cell(axis, slice);
        let lines = E::lines(&flow.partition.cells[cell], axis, flow.partition.slices());
        self.carried.clear();
        self.carried.resize(numbers * lines, 0.0);
        cell
    }

    fn receive(
        &mut self,
        from: Option<usize>,
        tag: u32,
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        from.map_or(Ok(()), |from| ranks.receive(from, tag, &mut self.carried))
    }

    fn send(&self, to: Option<usize>, tag: u32, ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        to.map_or(Ok(()), |to| ranks.send(to, tag, &self.carried))
    }
}

/// Tags of messages to the next cell, and back.
const ELIMINATION: u32 = 8;
const SUBSTITUTION: u32 = 9;
