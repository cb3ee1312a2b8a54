//! A first-in first-out queue of handles that never allocates after construction.

use crate::units::Nanos;

use super::packet::Packet;
use super::port::Port;
use super::ring::Ring;

/// Handles in order of departure; what does not fit is lost as `overflow` of the emulator.
#[derive(Debug)]
pub(super) struct Queue {
    packets: Ring<Packet>,
    wire_packets: u64,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self { packets: Ring::new(capacity), wire_packets: 0 }
    }

    /// Appends `packet`, to leave no earlier than the packets before it.
    pub(super) fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        if !self.try_push(packet) {
            port.overflow(&packet);
        }
    }

    /// The same for who reports the loss elsewhere: false where there is no room.
    pub(super) fn try_push(&mut self, packet: Packet) -> bool {
        let previous = self.packets.last_mut();
        let packet = match &previous {
            Some(previous) if previous.at() > packet.at() => packet.leaving(previous.at()),
            _ => packet,
        };
        let joins = previous.is_some_and(|previous| previous.join(&packet));
        if !joins && !self.packets.push(packet) {
            return false;
        }
        self.wire_packets += u64::from(packet.count());
        true
    }

    /// The first packet, if it leaves at or before `now`.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<Packet> {
        if self.next_departure()? > now {
            return None;
        }
        let packet = self.packets.pop()?;
        self.wire_packets -= u64::from(packet.count());
        Some(packet)
    }

    /// When the first packet leaves.
    pub(super) fn next_departure(&self) -> Option<Nanos> {
        self.packets.first().map(Packet::at)
    }

    pub(super) fn wire_packets(&self) -> u64 {
        self.wire_packets
    }
}
