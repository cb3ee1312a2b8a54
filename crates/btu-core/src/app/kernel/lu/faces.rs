//! The points that neighbours share: each rank sends the two layers at its faces to the rank behind them.

use std::ops::Range;

use super::FACE;
use super::piece::Piece;
use super::piece::Side;
use crate::app::endpoint::LayerError;
use crate::app::kernel::flow::HALO;
use crate::app::ranks::Ranks;

/// Room for the layers of one face.
#[derive(Debug, Default)]
pub(super) struct Faces {
    layers: Vec<[f64; 5]>,
}

impl Faces {
    /// Fills the halo of `u` along x and y.
    pub(super) fn exchange(
        &mut self,
        piece: &Piece,
        u: &mut [[f64; 5]],
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        for axis in [0, 1] {
            let there = Side::ALL.map(|side| (side, piece.neighbour(axis, side)));
            for (side, rank) in there {
                let Some(rank) = rank else { continue };
                self.layers.clear();
                let rows = piece.block.layers(axis, own_layers(piece, axis, side));
                rows.for_each(|row| self.layers.extend_from_slice(&u[row]));
                ranks.send(rank, FACE, &self.layers)?;
            }
            for (side, rank) in there {
                let Some(rank) = rank else { continue };
                // Both sides of a face have the same points: what was sent has the length of what comes.
                ranks.receive(rank, FACE, &mut self.layers)?;
                let mut left = self.layers.as_slice();
                for row in piece.block.layers(axis, their_layers(piece, axis, side)) {
                    let (these, others) = left.split_at(row.len());
                    u[row].copy_from_slice(these);
                    left = others;
                }
            }
        }
        Ok(())
    }
}

/// The outermost own points on a side.
fn own_layers(piece: &Piece, axis: usize, side: Side) -> Range<usize> {
    let own = piece.block.own(axis);
    match side {
        Side::Before => own.start..own.start + HALO,
        Side::Behind => own.end - HALO..own.end,
    }
}

/// The points of the neighbour that are kept on a side.
fn their_layers(piece: &Piece, axis: usize, side: Side) -> Range<usize> {
    let own = piece.block.own(axis);
    match side {
        Side::Before => 0..own.start,
        Side::Behind => own.end..own.end + HALO,
    }
}
