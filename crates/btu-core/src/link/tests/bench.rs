//! A backend in virtual time: buffers, arrivals and departures, with an account of its own.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::super::*;
use crate::units::Bytes;
use crate::units::Nanos;

/// One chain and what went in and out.
pub(super) struct Bench {
    pub(super) chain: Chain,
    pub(super) pushed: u64,
    /// Wire packets in `out`.
    left: u64,
    arrivals: BTreeMap<Slot, Nanos>,
    pub(super) out: Vec<Packet>,
    pub(super) released: Vec<Slot>,
}

/// What became of a wire packet that got through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fate {
    pub(super) slot: Slot,
    pub(super) segment: u32,
    pub(super) arrival: Nanos,
    pub(super) left: Nanos,
    pub(super) flip: Option<u32>,
}

/// Headers of the super-packets here: IPv4 and TCP with timestamps.
const HEADER: u64 = 52;

/// A packet of 1500 bytes.
pub(super) fn full(slot: u32, arrival: Nanos) -> Packet {
    segments(slot, 1, arrival)
}

/// A super-packet of `count` full segments.
pub(super) fn segments(slot: u32, count: u32, arrival: Nanos) -> Packet {
    let payload = Bytes::new(1448 * u64::from(count));
    Packet::segmented(Slot(slot), Bytes::new(HEADER), Bytes::new(1448), payload, arrival)
}

/// The files that elements here may name.
pub(super) fn file(name: &str) -> Result<String, String> {
    match name {
        "list" => Ok("# lost\n2\n3 # twice\n\n50\n".to_owned()),
        "empty" => Ok("# nothing yet\n\n".to_owned()),
        "up" => Ok("0\n1\n1\n2\n5\n9\n10\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

pub(super) fn spec(texts: &[&str]) -> ChainSpec {
    let reader = Reader { dialect: Dialect::Plan, files: &file };
    ChainSpec::as_given(texts, &reader).expect("legal elements")
}

pub(super) fn chain(spec: &ChainSpec, seed: u64, lines: &mut Lines) -> Chain {
    let limits = Limits { slots: 1 << 15, handles: 1 << 15, positions: 1000 };
    let place = Place { seed, link: "test", direction: "up", wire: Wire::Ethernet, limits };
    Chain::new(spec, &place, lines).expect("a chain")
}

impl Bench {
    pub(super) fn new(texts: &[&str]) -> Self {
        Self::seeded(texts, 1)
    }

    pub(super) fn seeded(texts: &[&str], seed: u64) -> Self {
        Self::of(chain(&spec(texts), seed, &mut Lines::default()))
    }

    pub(super) fn of(chain: Chain) -> Self {
        let (arrivals, out, released) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { chain, pushed: 0, left: 0, arrivals, out, released }
    }

    pub(super) fn push(&mut self, packet: Packet) {
        self.pushed += u64::from(packet.count());
        self.arrivals.insert(packet.slot(), packet.at());
        self.chain.push(packet);
        self.take_released();
    }

    /// When the buffer of a packet came.
    pub(super) fn arrival(&self, packet: &Packet) -> Nanos {
        self.arrivals[&packet.slot()]
    }

    /// How long a packet that left was on its way.
    pub(super) fn delay(&self, packet: &Packet) -> Nanos {
        packet.at().since(self.arrival(packet))
    }

    /// Pops one run, sends it and takes back the buffers.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<Packet> {
        let packet = self.chain.pop(now);
        if let Some(packet) = packet {
            assert!(packet.at() <= now, "left at {now}, due {}", packet.at());
            self.left += u64::from(packet.count());
            self.out.push(packet);
            self.chain.done(&packet);
        }
        self.take_released();
        packet
    }

    fn take_released(&mut self) {
        while let Some(slot) = self.chain.take_released() {
            self.released.push(slot);
        }
    }

    /// Wakes up whenever the chain wants to, and not otherwise.
    pub(super) fn run_until(&mut self, end: Nanos) {
        while let Some(now) = self.chain.next_wakeup().filter(|now| *now <= end) {
            let before = self.chain.next_wakeup();
            while self.pop(now).is_some() {}
            assert_ne!(before, self.chain.next_wakeup(), "the chain wakes up for nothing");
        }
        self.check();
    }

    /// Each wire packet is accounted for, by the chain's own books and by ours.
    pub(super) fn check(&self) {
        assert!(self.chain.conserves(), "{:?}", self.chain);
        let sample = self.chain.sample();
        assert_eq!(
            self.pushed + sample.duplicated,
            self.left + sample.dropped + sample.queue_dropped + sample.overflow + sample.held
        );
    }

    /// The buffers that are free again, each of which must have been released once.
    pub(super) fn released_once(&self) -> BTreeSet<Slot> {
        let slots: BTreeSet<Slot> = self.released.iter().copied().collect();
        assert_eq!(slots.len(), self.released.len(), "released twice: {:?}", self.released);
        slots
    }

    /// The wire packets that left, one by one, in order of departure.
    pub(super) fn fates(&self) -> Vec<Fate> {
        let each = |packet: &Packet| {
            let packet = *packet;
            (0..packet.count()).map(move |index| Fate {
                slot: packet.slot(),
                segment: packet.first() + index,
                arrival: self.arrival(&packet),
                left: packet.at(),
                flip: packet.flip(),
            })
        };
        self.out.iter().flat_map(each).collect()
    }
}
