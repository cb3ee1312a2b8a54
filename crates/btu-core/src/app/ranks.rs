//! The ranks of a parallel application, as one of them sees the others.
//!
//! Collectives are written once, upon messages between two ranks, with one fixed order: the same number of ranks gives
//! the same bits over every layer.

mod collective;
mod split;
mod tally;

use std::collections::VecDeque;

use bytemuck::Pod;

use super::endpoint::Endpoint;
use super::endpoint::LayerError;
use crate::units::Bytes;
use crate::units::Nanos;

pub use collective::Sum;
pub use split::Split;
pub use tally::Collective;
pub use tally::Count;
pub use tally::Tally;

/// One rank, with all that an application may do.
///
/// Arrays are of plain numbers (`f64`, `i32`, `u64`), and travel as they lie in memory.
#[derive(Debug)]
pub struct Ranks<'e> {
    endpoint: &'e mut dyn Endpoint,
    /// Messages of this rank to itself that were not received yet.
    own: VecDeque<(u32, Vec<u8>)>,
    /// The memory of those that were, for the next: a timed part takes none from the system again and again.
    spare: Vec<Vec<u8>>,
    tally: Tally,
    split: Split,
    started: Option<Nanos>,
    timed: Option<Timed>,
}

/// The timed part of a kernel on one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timed {
    /// From the barrier before the first iteration to the end of the last.
    pub elapsed: Nanos,
    /// Where that time went.
    pub split: Split,
}

impl<'e> Ranks<'e> {
    /// The ranks behind an endpoint.
    pub fn new(endpoint: &'e mut dyn Endpoint) -> Self {
        let (own, spare) = (VecDeque::new(), Vec::new());
        let (tally, split) = (Tally::default(), Split::default());
        Self { endpoint, own, spare, tally, split, started: None, timed: None }
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.endpoint.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.endpoint.ranks()
    }

    /// Sends an array to a rank, which may be this one.
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    pub fn send<T: Pod>(&mut self, to: usize, tag: u32, values: &[T]) -> Result<(), LayerError> {
        let payload: &[u8] = bytemuck::cast_slice(values);
        self.tally.sent(Bytes::new(payload.len() as u64), to == self.rank());
        self.pass(to, tag, payload)
    }

    /// Receives an array of a rank, which may be this one; it has exactly the length of `space`.
    ///
    /// # Errors
    /// As [`Endpoint::receive`].
    pub fn receive<T: Pod>(
        &mut self,
        from: usize,
        tag: u32,
        space: &mut [T],
    ) -> Result<(), LayerError> {
        self.take(from, tag, bytemuck::cast_slice_mut(space))
    }

    /// Sends one array and receives another, as ranks do that exchange their borders: all of them may send first, since
    /// who sends takes in what comes.
    ///
    /// # Errors
    /// As [`Endpoint::send`] and [`Endpoint::receive`].
    pub fn exchange<T: Pod>(
        &mut self,
        (to, values): (usize, &[T]),
        (from, space): (usize, &mut [T]),
        tag: u32,
    ) -> Result<(), LayerError> {
        self.send(to, tag, values)?;
        self.receive(from, tag, space)
    }

    /// Begins the timed part, once every rank is here.
    ///
    /// # Errors
    /// As [`Ranks::barrier`].
    pub fn start(&mut self) -> Result<(), LayerError> {
        self.barrier()?;
        self.split = Split::default();
        self.started = Some(self.endpoint.now());
        Ok(())
    }

    /// Ends the timed part.
    pub fn stop(&mut self) {
        let Some(started) = self.started.take() else { return };
        let elapsed = self.endpoint.now().since(started);
        self.timed = Some(Timed { elapsed, split: self.split });
    }

    /// The timed part; `None` where it did not come to its end.
    pub fn timed(&self) -> Option<Timed> {
        self.timed
    }

    /// What the application passed so far, warm-up included.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Sends without counting.
    fn pass(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        let from = self.endpoint.now();
        if to == self.rank() {
            let mut message = self.spare.pop().unwrap_or_default();
            message.extend_from_slice(payload);
            self.own.push_back((tag, message));
        } else {
            self.endpoint.send(to, tag, payload)?;
        }
        self.split.sent(self.endpoint.now().since(from));
        Ok(())
    }

    /// Receives without counting: the receiver counts nothing anyway.
    fn take(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<(), LayerError> {
        let called = self.endpoint.now();
        let sent_at = if from == self.rank() {
            self.take_own(tag, space)?;
            Some(called)
        } else {
            self.endpoint.receive(from, tag, space)?.sent_at
        };
        self.split.received(called, sent_at, self.endpoint.now());
        Ok(())
    }

    fn take_own(&mut self, tag: u32, space: &mut [u8]) -> Result<(), LayerError> {
        let me = self.rank();
        let place = self.own.iter().position(|(of, _)| *of == tag);
        let message = place.and_then(|place| self.own.remove(place));
        let Some((_, mut message)) = message else {
            return Err(LayerError::Unsent { rank: me, tag });
        };
        if message.len() != space.len() {
            let (got, wanted) = (message.len() as u64, space.len() as u64);
            return Err(LayerError::Length { from: me, tag, got_bytes: got, wanted_bytes: wanted });
        }
        space.copy_from_slice(&message);
        message.clear();
        self.spare.push(message);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
