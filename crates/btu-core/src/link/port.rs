//! Where an element tells the chain what became of its packets.

use super::packet::Packet;
use super::slots::Slots;
use crate::capture::Remark;

/// What one element did since the start of the run, in wire packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Came in.
    pub entered: u64,
    /// Left towards the next element.
    pub left: u64,
    /// Dropped because the element is there to drop.
    pub dropped: u64,
    /// Dropped by the element's full or managed queue.
    pub queue_dropped: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Marked with a bit to flip.
    pub corrupted: u64,
    /// Chosen to wait, by an element that lets others wait or overtake for them.
    pub held_back: u64,
    /// Lost for want of the emulator's own memory.
    pub overflow: u64,
}

impl Counters {
    /// True where every wire packet is accounted for, `held` being still inside.
    pub const fn conserve(&self, held: u64) -> bool {
        self.entered + self.duplicated
            == self.left + self.dropped + self.queue_dropped + self.overflow + held
    }
}

/// The account of one element during one call. Each wire packet that an element does not hand on
/// must be reported here exactly once, else its buffer is never free again.
#[derive(Debug)]
pub struct Port<'c> {
    pub(super) counters: &'c mut Counters,
    pub(super) slots: &'c mut Slots,
    pub(super) positions: &'c mut Positions,
    pub(super) refused: &'c mut Refused,
}

/// The positions of the first wire packets that were dropped, among all that came to the chain.
#[derive(Debug)]
pub(super) struct Positions {
    kept: Vec<u64>,
    limit: usize,
}

impl Port<'_> {
    /// A drop element dropped `packet`.
    pub fn dropped(&mut self, packet: &Packet) {
        self.counters.dropped += u64::from(packet.count());
        self.positions.keep(self.position(packet), packet.count());
        self.slots.give_back(packet);
    }

    /// The element's queue had no place for `packet`, or (`why`) its queue management chose it.
    pub fn queue_dropped(&mut self, packet: &Packet, why: Remark) {
        self.counters.queue_dropped += u64::from(packet.count());
        self.refused.keep(packet, why);
        self.slots.give_back(packet);
    }

    /// The element will hand `packet` on once more than it came in.
    pub fn duplicated(&mut self, packet: &Packet) {
        self.counters.duplicated += u64::from(packet.count());
        self.slots.keep(packet);
    }

    /// Of the first wire packet of `packet` among all that came to the chain in this run, from 1.
    pub fn position(&self, packet: &Packet) -> u64 {
        self.slots.position(packet)
    }

    /// The element marked a wire packet with a bit to flip.
    pub fn corrupted(&mut self, packet: &Packet) {
        self.counters.corrupted += u64::from(packet.count());
    }

    /// The element chose `packet` to wait.
    pub fn held_back(&mut self, packet: &Packet) {
        self.counters.held_back += u64::from(packet.count());
    }

    /// The element's own memory was full, which nobody asked for.
    pub fn overflow(&mut self, packet: &Packet) {
        self.counters.overflow += u64::from(packet.count());
        self.slots.give_back(packet);
    }
}

/// Runs that queues dropped, with the reason, where somebody watches: until they are taken.
#[derive(Debug, Default)]
pub(super) struct Refused {
    runs: Vec<(Packet, Remark)>,
}

impl Refused {
    /// Keeps so many from now on, and allocates no more.
    pub(super) fn watch(&mut self, most: usize) {
        self.runs.reserve_exact(most);
    }

    pub(super) fn take(&mut self) -> Option<(Packet, Remark)> {
        self.runs.pop()
    }

    fn keep(&mut self, packet: &Packet, why: Remark) {
        if self.runs.len() < self.runs.capacity() {
            self.runs.push((*packet, why));
        }
    }
}

impl Positions {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: Vec::with_capacity(limit), limit }
    }

    /// In rising order, also where several elements drop.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        sorted
    }

    fn keep(&mut self, first: u64, count: u32) {
        let room = self.limit - self.kept.len();
        self.kept.extend((first..first + u64::from(count)).take(room));
    }
}
