//! When a buffer is free again: the count of its wire packets that are still on their way.

use super::packet::Packet;
use super::packet::Slot;

/// Live wire packets per buffer, and the buffers that have none left.
///
/// Counting wire packets, not handles, makes splitting and joining free. A slot is reported once,
/// when its count falls to zero: the last wire packet was dropped in the chain, or handed over by
/// [`super::Chain::pop`] and then given back with [`super::Chain::done`].
#[derive(Debug)]
pub(super) struct Slots {
    live: Vec<u32>,
    released: Vec<Slot>,
}

impl Slots {
    pub(super) fn new(count: u32) -> Self {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Self { live: vec![0; count], released: Vec::with_capacity(count) }
    }

    /// The wire packets of `packet` now live, once more.
    pub(super) fn keep(&mut self, packet: &Packet) {
        *self.live_of(packet.slot()) += packet.count();
    }

    /// The wire packets of `packet` are gone.
    pub(super) fn give_back(&mut self, packet: &Packet) {
        let live = self.live_of(packet.slot());
        *live -= packet.count();
        if *live == 0 {
            self.released.push(packet.slot());
        }
    }

    pub(super) fn take_released(&mut self) -> Option<Slot> {
        self.released.pop()
    }

    /// A slot number beyond the promised range is an error of the backend and ends the program.
    fn live_of(&mut self, slot: Slot) -> &mut u32 {
        &mut self.live[usize::try_from(slot.0).unwrap_or(usize::MAX)]
    }
}
