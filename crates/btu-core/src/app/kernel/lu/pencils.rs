//! The lines of points that a sweep passes on: one along x and one along y for each plane in z.

use super::PENCIL;
use super::piece::Piece;
use super::piece::Side;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// Room for a pencil along y; those along x lie in one piece.
#[derive(Debug)]
pub(super) struct Pencils {
    along_y: Vec<[f64; 5]>,
}

impl Pencils {
    /// Room for the pencils of a piece.
    pub(super) fn new(piece: &Piece) -> Self {
        Self { along_y: vec![[0.0; 5]; piece.block.inner(1).len()] }
    }

    /// Takes what lies beside plane `z` on a side from the ranks there.
    pub(super) fn receive(
        &mut self,
        (piece, z, side): (&Piece, usize, Side),
        v: &mut [[f64; 5]],
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        if let Some(from) = piece.neighbour(0, side) {
            ranks.receive(from, PENCIL, &mut self.along_y)?;
            let places = v[piece.beside(0, side, z)..].iter_mut().step_by(piece.block.stride(1));
            places.zip(&self.along_y).for_each(|(place, value)| *place = *value);
        }
        if let Some(from) = piece.neighbour(1, side) {
            let row = &mut v[piece.beside(1, side, z)..][..piece.block.inner(0).len()];
            ranks.receive(from, PENCIL, row)?;
        }
        Ok(())
    }

    /// Gives the last points of plane `z` on a side to the ranks there.
    pub(super) fn send(
        &mut self,
        (piece, z, side): (&Piece, usize, Side),
        v: &[[f64; 5]],
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        if let Some(to) = piece.neighbour(0, side) {
            let places = v[piece.last(0, side, z)..].iter().step_by(piece.block.stride(1));
            self.along_y.iter_mut().zip(places).for_each(|(value, place)| *value = *place);
            ranks.send(to, PENCIL, &self.along_y)?;
        }
        if let Some(to) = piece.neighbour(1, side) {
            ranks.send(to, PENCIL, &v[piece.last(1, side, z)..][..piece.block.inner(0).len()])?;
        }
        Ok(())
    }
}
