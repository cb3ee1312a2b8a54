//! Messages that came while their rank wanted others, by the rank that sent them.

use std::collections::VecDeque;

use btu_core::app::endpoint::LayerError;
use btu_core::units::Nanos;

use super::super::incoming::Head;
use super::super::incoming::Keep;
use super::super::incoming::Wanted;

/// What is kept.
#[derive(Debug)]
pub(super) struct Kept {
    of: Vec<VecDeque<(Head, Vec<u8>)>>,
    keep: Keep,
}

impl Kept {
    /// Nothing yet, of so many ranks.
    pub(super) fn new(rank: usize, ranks: usize, limit_bytes: u64) -> Self {
        let of = (0..ranks).map(|_| VecDeque::new()).collect();
        Self { of, keep: Keep::new(rank, limit_bytes) }
    }

    /// Memory for a message.
    pub(super) fn room(&mut self, length: usize) -> Result<Vec<u8>, LayerError> {
        self.keep.take(length)
    }

    /// Keeps it.
    pub(super) fn put(&mut self, from: usize, head: Head, payload: Vec<u8>) {
        if let Some(kept) = self.of.get_mut(from) {
            kept.push_back((head, payload));
        }
    }

    /// The oldest message of the wanted tag goes to its space: when it was sent.
    pub(super) fn take(
        &mut self,
        from: usize,
        wanted: &mut Wanted<'_>,
    ) -> Result<Option<Nanos>, LayerError> {
        let Some(kept) = self.of.get_mut(from) else { return Ok(None) };
        let Some(place) = kept.iter().position(|(head, _)| head.tag() == wanted.tag) else {
            return Ok(None);
        };
        kept[place].0.fits(from, wanted.space)?;
        let Some((head, payload)) = kept.remove(place) else { return Ok(None) };
        wanted.space.copy_from_slice(&payload);
        self.keep.give_back(payload);
        Ok(Some(head.sent_at()))
    }
}
