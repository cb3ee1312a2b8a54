//! What is known of a buffer: when it is free again, and when it came.

use super::packet::Packet;
use super::packet::Slot;

/// Live wire packets per buffer, and the buffers that have none left.
///
/// Counting wire packets, not handles, makes splitting and joining free. A slot is reported once,
/// when its count falls to zero: the last wire packet was dropped in the chain, or handed over by
/// [`super::Chain::pop`] and then given back with [`super::Chain::done`].
#[derive(Debug)]
pub(super) struct Slots {
    buffers: Vec<Buffer>,
    released: Vec<Slot>,
}

/// What all handles of a buffer share, and so need not carry.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    /// Its wire packets that are still on their way.
    live: u32,
    /// That of segment 0 among all wire packets that came to the chain, from 1.
    position: u64,
}

impl Slots {
    pub(super) fn new(count: u32) -> Self {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Self { buffers: vec![Buffer::default(); count], released: Vec::with_capacity(count) }
    }

    /// The wire packets of `packet` come to the chain, the first as the `position`-th of all.
    pub(super) fn enter(&mut self, packet: &Packet, position: u64) {
        let buffer = &mut self.buffers[place(packet)];
        buffer.live += packet.count();
        buffer.position = position.saturating_sub(packet.first().into());
    }

    /// The wire packets of `packet` live once more.
    pub(super) fn keep(&mut self, packet: &Packet) {
        self.buffers[place(packet)].live += packet.count();
    }

    /// The wire packets of `packet` are gone.
    pub(super) fn give_back(&mut self, packet: &Packet) {
        let buffer = &mut self.buffers[place(packet)];
        buffer.live -= packet.count();
        if buffer.live == 0 {
            self.released.push(packet.slot());
        }
    }

    /// The buffers of which something is still on its way.
    pub(super) fn held(&self) -> impl Iterator<Item = Slot> {
        let numbered = self.buffers.iter().zip(0..);
        numbered.filter(|(buffer, _)| buffer.live > 0).map(|(_, number)| Slot(number))
    }

    pub(super) fn take_released(&mut self) -> Option<Slot> {
        self.released.pop()
    }

    /// Of the first wire packet of `packet` among all that came to the chain.
    pub(super) fn position(&self, packet: &Packet) -> u64 {
        self.buffers[place(packet)].position + u64::from(packet.first())
    }
}

/// A slot number beyond the promised range is an error of the backend and ends the program.
fn place(packet: &Packet) -> usize {
    usize::try_from(packet.slot().0).unwrap_or(usize::MAX)
}
