//! The handle of a run of wire packets that share one buffer.

use std::num::NonZeroU32;

use crate::units::Bytes;
use crate::units::Nanos;

/// The backend's number of a buffer. The chain never looks into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// A hash of addresses and ports: packets of one flow have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow(pub u32);

/// How long a wire packet keeps the line busy, by the kind of line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wire {
    /// ATM with AAL5: the trailer of 8 bytes and LLC/SNAP of 8 bytes, padded to cells of 53 bytes.
    Atm,
    /// Ethernet: header, FCS and padding to 64 bytes, then preamble and gap of 20 bytes.
    #[default]
    Ethernet,
    /// The IP packet alone.
    Ip,
}

/// `count` >= 1 wire packets of one buffer, from segment `first` on.
///
/// All have the same headers in front; each carries `segment` bytes of payload, the last one of
/// the run perhaps fewer. Elements split and join handles, never bytes: the backend writes each
/// run that leaves the chain as one smaller super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    slot: Slot,
    first: u32,
    count: u32,
    header: u32,
    segment: u32,
    last: u32,
    flow: Flow,
    /// The number of the bit, from 1, so that the handle stays small.
    flip: Option<NonZeroU32>,
    at: Nanos,
}

impl Packet {
    /// One wire packet of `l3` bytes from the IP header on, stamped `arrival` by the kernel.
    pub fn single(slot: Slot, l3: Bytes, arrival: Nanos) -> Self {
        Self::segmented(slot, Bytes::ZERO, l3, l3, arrival)
    }

    /// A super-packet: `payload` in pieces of `segment`, each behind `header` (IP and transport).
    /// Without payload or without a size of pieces it is one wire packet.
    pub fn segmented(
        slot: Slot,
        header: Bytes,
        segment: Bytes,
        payload: Bytes,
        arrival: Nanos,
    ) -> Self {
        let (segment, payload) = (small(segment), small(payload));
        let count = if segment == 0 { 1 } else { payload.div_ceil(segment).max(1) };
        let last = payload - (count - 1) * segment;
        Self {
            slot,
            first: 0,
            count,
            header: small(header),
            segment: if count == 1 { last } else { segment },
            last,
            flow: Flow::default(),
            flip: None,
            at: arrival,
        }
    }

    /// The same packet as part of `flow`, for elements that count `per flow`.
    #[must_use]
    pub const fn with_flow(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    /// The buffer.
    pub const fn slot(&self) -> Slot {
        self.slot
    }

    /// Number of the first segment within the buffer, from 0.
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// How many wire packets.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The flow.
    pub const fn flow(&self) -> Flow {
        self.flow
    }

    /// The bit to flip, counted from the first bit of the IP header (most significant bit of a
    /// byte first); only a run of one wire packet has one.
    pub const fn flip(&self) -> Option<u32> {
        match self.flip {
            Some(number) => Some(number.get() - 1),
            None => None,
        }
    }

    /// When it came to the link, by the kernel's stamp, or left the previous element; at the chain's exit, when it is due.
    pub const fn at(&self) -> Nanos {
        self.at
    }

    /// IP and transport headers of each wire packet; zero where the packet is one piece.
    pub fn header(&self) -> Bytes {
        Bytes::new(self.header.into())
    }

    /// Payload of all wire packets but the last.
    pub fn segment(&self) -> Bytes {
        Bytes::new(self.segment.into())
    }

    /// Payload of the run's last wire packet.
    pub fn last(&self) -> Bytes {
        Bytes::new(self.last.into())
    }

    /// Bytes of all wire packets, each from its IP header on.
    pub fn l3(&self) -> Bytes {
        self.sum(|l3| l3)
    }

    /// Bytes that all wire packets occupy on a line of this kind.
    pub fn wire(&self, wire: Wire) -> Bytes {
        self.sum(|l3| wire.size(l3))
    }

    /// Bytes of the first wire packet, from the IP header on.
    pub fn first_l3(&self) -> Bytes {
        if self.count == 1 { self.header() + self.last() } else { self.header() + self.segment() }
    }

    /// The same packet, leaving an element at `at`.
    #[must_use]
    pub(super) const fn leaving(mut self, at: Nanos) -> Self {
        self.at = at;
        self
    }

    /// The same wire packet with a bit to flip. A bit that was chosen before stays.
    #[must_use]
    pub(super) const fn flipped(mut self, bit: u32) -> Self {
        if self.flip.is_none() {
            self.flip = NonZeroU32::new(bit.saturating_add(1));
        }
        self
    }

    /// Cuts the first `count` wire packets off; `None` where nothing would be left or cut.
    pub fn split_front(&mut self, count: u32) -> Option<Self> {
        if count == 0 || count >= self.count {
            return None;
        }
        let front = Self { count, last: self.segment, ..*self };
        self.first += count;
        self.count -= count;
        if self.count == 1 {
            self.segment = self.last;
        }
        Some(front)
    }

    /// Cuts up to `count` wire packets off the front of `rest`, leaving `None` when all are taken.
    pub(super) fn take_front(rest: &mut Option<Self>, count: u32) -> Option<Self> {
        if count == 0 {
            return None;
        }
        match rest.as_mut()?.split_front(count) {
            Some(front) => Some(front),
            None => rest.take(),
        }
    }

    /// The run's equally large wire packets, and the smaller last one.
    pub(super) fn uniform(self) -> [Option<Self>; 2] {
        let mut rest = Some(self);
        if self.last == self.segment {
            return [rest, None];
        }
        [Self::take_front(&mut rest, self.count - 1), rest]
    }

    /// Appends `next` if it is the direct continuation, alike in time and marks.
    pub(super) fn join(&mut self, next: &Self) -> bool {
        let continues = self.slot == next.slot
            && self.first + self.count == next.first
            && self.header == next.header
            && self.at == next.at
            && self.flip.is_none()
            && next.flip.is_none()
            && self.last == self.segment
            && (next.segment == self.segment || next.count == 1 && next.last <= self.segment);
        if continues {
            self.count += next.count;
            self.last = next.last;
        }
        continues
    }

    fn sum(&self, size: impl Fn(Bytes) -> Bytes) -> Bytes {
        let last = size(self.header() + self.last());
        if self.count == 1 {
            return last;
        }
        size(self.header() + self.segment()) * u64::from(self.count - 1) + last
    }
}

impl Wire {
    /// Bytes on the line for an IP packet of `l3` bytes.
    pub const fn size(self, l3: Bytes) -> Bytes {
        let l3 = l3.count();
        Bytes::new(match self {
            Self::Atm => 53 * (l3 + 16).div_ceil(48),
            Self::Ethernet if l3 + 18 < 64 => 64 + 20,
            Self::Ethernet => l3 + 18 + 20,
            Self::Ip => l3,
        })
    }

    /// `ethernet`, `ip` or `atm`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atm => "atm",
            Self::Ethernet => "ethernet",
            Self::Ip => "ip",
        }
    }
}

impl std::fmt::Display for Wire {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

impl std::str::FromStr for Wire {
    type Err = super::LinkError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Atm, Self::Ethernet, Self::Ip]
            .into_iter()
            .find(|wire| wire.name() == text)
            .ok_or_else(|| super::LinkError::UnknownWire { name: text.to_owned() })
    }
}

fn small(bytes: Bytes) -> u32 {
    u32::try_from(bytes.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn super_packet() -> Packet {
        let (header, segment, payload) = (Bytes::new(52), Bytes::new(1448), Bytes::new(14_500));
        Packet::segmented(Slot(7), header, segment, payload, Nanos::from_millis(1))
    }

    #[test]
    fn a_super_packet_has_one_wire_packet_per_segment() {
        let packet = super_packet();
        assert_eq!((packet.count(), packet.last()), (11, Bytes::new(20)));
        assert_eq!(packet.l3(), Bytes::new(14_500 + 11 * 52));
        assert_eq!(packet.wire(Wire::Ethernet), Bytes::new(10 * 1538 + 72 + 38));
    }

    #[test]
    fn sizes_on_the_line_follow_the_kind_of_line() {
        assert_eq!(Wire::Ethernet.size(Bytes::new(1500)), Bytes::new(1538));
        assert_eq!(Wire::Ethernet.size(Bytes::new(40)), Bytes::new(84));
        assert_eq!(Wire::Ethernet.size(Bytes::new(46)), Bytes::new(84));
        assert_eq!(Wire::Ethernet.size(Bytes::new(47)), Bytes::new(85));
        assert_eq!(Wire::Ip.size(Bytes::new(1500)), Bytes::new(1500));
        assert_eq!(Wire::Atm.size(Bytes::new(1500)), Bytes::new(53 * 32));
        assert_eq!(Wire::Atm.size(Bytes::new(32)), Bytes::new(53));
        assert_eq!(Wire::Atm.size(Bytes::new(33)), Bytes::new(106));
    }

    #[test]
    fn splitting_keeps_every_byte_and_joining_undoes_it() {
        let whole = super_packet();
        for cut in 1..whole.count() {
            let mut rest = whole;
            let mut front = rest.split_front(cut).expect("a cut inside");
            assert_eq!((front.count(), rest.first()), (cut, cut));
            assert_eq!(front.l3() + rest.l3(), whole.l3());
            assert!(front.join(&rest));
            assert_eq!(front, whole);
        }
        let mut packet = whole;
        assert_eq!(packet.split_front(0), None);
        assert_eq!(packet.split_front(whole.count()), None);
        assert_eq!(packet, whole);
    }

    #[test]
    fn without_payload_or_without_a_segment_size_it_is_one_wire_packet() {
        let ack =
            Packet::segmented(Slot(0), Bytes::new(52), Bytes::new(1448), Bytes::ZERO, Nanos::ZERO);
        assert_eq!((ack.count(), ack.l3()), (1, Bytes::new(52)));
        let whole =
            Packet::segmented(Slot(0), Bytes::new(52), Bytes::ZERO, Bytes::new(100), Nanos::ZERO);
        assert_eq!((whole.count(), whole.l3()), (1, Bytes::new(152)));
    }
}
