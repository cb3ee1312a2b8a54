//! The elements of one direction of one link, in order of traversal.

mod spec;

use crate::capture::Remark;
use crate::sample::DirectionSample;
use crate::units::Bytes;
use crate::units::Nanos;

use super::LinkError;
use super::chance::StreamSeed;
use super::continued::Counting;
use super::element;
use super::element::Element;
use super::element::Site;
use super::line::Lines;
use super::packet::Packet;
use super::packet::Slot;
use super::packet::Wire;
use super::port::Counters;
use super::port::Port;
use super::port::Positions;
use super::port::Refused;
use super::slots::Slots;

pub use spec::ChainSpec;

/// For whom a chain is made.
#[derive(Clone, Copy, Debug)]
pub struct Place<'n> {
    /// Seed of the plan; equal seeds, links and directions give equal fates.
    pub seed: u64,
    /// The link's name.
    pub link: &'n str,
    /// `up` or `down`.
    pub direction: &'n str,
    /// Sizes on the line.
    pub wire: Wire,
    /// How much memory to reserve.
    pub limits: Limits,
}

/// Everything that a chain reserves at construction; later it allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Buffers of the backend: legal slots are below this number.
    pub slots: u32,
    /// Handles that one element's queue can hold; what comes beyond is lost as `overflow`.
    pub handles: usize,
    /// Positions of drops to keep.
    pub positions: usize,
}

/// One direction of a link: wire packets in, wire packets out, each at its time.
///
/// The backend's loop, with buffers of its own numbered by slot:
/// 1. read a packet into a free buffer and [`push`](Self::push) its handle;
/// 2. [`pop`](Self::pop) until `None`; write each run that comes out, at best at [`Packet::at`],
///    then say [`done`](Self::done);
/// 3. [`take_released`](Self::take_released) until `None`: these buffers are free again;
/// 4. wait until a packet comes or [`next_wakeup`](Self::next_wakeup), whichever is first.
///
/// A slot is released once no wire packet of it is left, whether dropped inside or done: runs are
/// cut, joined and copied, so the chain counts wire packets per slot.
#[derive(Debug)]
pub struct Chain {
    link: String,
    direction: String,
    spec: ChainSpec,
    stages: Vec<Stage>,
    slots: Slots,
    positions: Positions,
    refused: Refused,
    entered: Entered,
    /// The last element has got all that reaches it at or before this time.
    settled: Option<Nanos>,
}

#[derive(Debug)]
struct Stage {
    element: Box<dyn Element>,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Entered {
    packets: u64,
    bytes: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self { slots: 8192, handles: 1 << 17, positions: 10_000 }
    }
}

impl Chain {
    /// Makes the elements of `spec` for one direction.
    pub fn new(spec: &ChainSpec, place: &Place<'_>, lines: &mut Lines) -> Result<Self, LinkError> {
        let Place { wire, limits, .. } = *place;
        let seed = StreamSeed::new(place.seed, place.link, place.direction);
        let mut stages = Vec::new();
        if spec.is_empty() {
            stages.push(Stage::new(element::wire(limits.handles)));
        }
        for (index, element) in spec.elements().iter().enumerate() {
            let site = Site { wire, stream: seed.stream(index), handles: limits.handles, lines };
            stages.push(Stage::new(element.build(site)?));
        }
        Ok(Self {
            link: place.link.to_owned(),
            direction: place.direction.to_owned(),
            spec: spec.clone(),
            stages,
            slots: Slots::new(limits.slots),
            positions: Positions::new(limits.positions),
            refused: Refused::default(),
            entered: Entered::default(),
            settled: None,
        })
    }

    /// Takes a packet whose bytes are in the backend's buffer `packet.slot()`.
    ///
    /// # Panics
    /// Where the slot is not below [`Limits::slots`].
    pub fn push(&mut self, packet: Packet) {
        self.slots.enter(&packet, self.entered.packets + 1);
        self.entered.packets += u64::from(packet.count());
        self.entered.bytes += packet.l3();
        self.settled = None;
        self.push_to(0, packet);
    }

    /// The next run that leaves the link at or before `now`. It is due at [`Packet::at`].
    pub fn pop(&mut self, now: Nanos) -> Option<Packet> {
        let last = self.stages.len() - 1;
        if self.settled != Some(now) {
            for index in 0..last {
                while let Some(packet) = self.pop_from(index, now) {
                    self.push_to(index + 1, packet);
                }
            }
            self.settled = Some(now);
        }
        self.pop_from(last, now)
    }

    /// When to pop next, if nothing is pushed before; `None` where nothing is inside.
    pub fn next_wakeup(&self) -> Option<Nanos> {
        self.stages.iter().filter_map(|stage| stage.element.next_wakeup()).min()
    }

    /// The backend has sent (or failed to send) a run that was popped.
    pub fn done(&mut self, packet: &Packet) {
        self.slots.give_back(packet);
    }

    /// A slot of which no wire packet is left; each is reported once.
    pub fn take_released(&mut self) -> Option<Slot> {
        self.slots.take_released()
    }

    /// Keeps what queues drop from now on, up to `most` runs, until [`take_refused`](Self::take_refused) has them.
    pub fn watch_queues(&mut self, most: usize) {
        self.refused.watch(most);
    }

    /// A run that a queue dropped, and why. Its slot may be released: take these first.
    pub fn take_refused(&mut self) -> Option<(Packet, Remark)> {
        self.refused.take()
    }

    /// The buffers of packets that are inside, for a backend that gives the chain up.
    pub fn held_slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.held()
    }

    /// Wire packets inside.
    pub fn held(&self) -> u64 {
        self.stages.iter().map(|stage| stage.element.held()).sum()
    }

    /// Where the counters of continuous patterns stand, per element.
    pub(super) fn counting(&self) -> Vec<Option<Counting>> {
        self.stages.iter().map(|stage| stage.element.counting()).collect()
    }

    /// Goes on from there, before the run's first packet.
    pub(super) fn go_on(&mut self, standing: &[Option<Counting>]) {
        for (stage, from) in self.stages.iter_mut().zip(standing) {
            if let Some(from) = from {
                stage.element.go_on(from);
            }
        }
    }

    /// Each element's canonical text with what it did in this run.
    pub fn counters(&self) -> impl Iterator<Item = (String, Counters)> {
        let texts = self.spec.elements().iter().map(ToString::to_string);
        texts.zip(self.stages.iter().map(|stage| stage.counters))
    }

    /// True where each element accounts for every wire packet.
    pub fn conserves(&self) -> bool {
        self.stages.iter().all(|stage| stage.counters.conserve(stage.element.held()))
    }

    /// The chain's part of the record of a run; what only the backend knows is left at its default.
    pub fn sample(&self) -> DirectionSample {
        let sum =
            |field: fn(&Counters) -> u64| self.stages.iter().map(|s| field(&s.counters)).sum();
        DirectionSample {
            link: self.link.clone(),
            direction: self.direction.clone(),
            chain: self.spec.texts(),
            packets: self.entered.packets,
            bytes: self.entered.bytes.count(),
            dropped: sum(|counters| counters.dropped),
            dropped_by: self.dropped_by(),
            drop_positions: self.positions.sorted(),
            pattern_drops: self.pattern_drops(),
            queue_dropped: sum(|counters| counters.queue_dropped),
            duplicated: sum(|counters| counters.duplicated),
            corrupted: sum(|counters| counters.corrupted),
            held_back: sum(|counters| counters.held_back),
            held: self.held(),
            overflow: sum(|counters| counters.overflow),
            delay_asked_us: self.spec.constant_delay().map(Nanos::micros),
            ..DirectionSample::default()
        }
    }

    /// The direction as text.
    pub const fn spec(&self) -> &ChainSpec {
        &self.spec
    }

    fn pop_from(&mut self, index: usize, now: Nanos) -> Option<Packet> {
        let (element, mut port) = self.stage(index);
        let packet = element.pop(now, &mut port)?;
        port.counters.left += u64::from(packet.count());
        Some(packet)
    }

    fn push_to(&mut self, index: usize, packet: Packet) {
        let (element, mut port) = self.stage(index);
        port.counters.entered += u64::from(packet.count());
        element.push(packet, &mut port);
    }

    fn stage(&mut self, index: usize) -> (&mut dyn Element, Port<'_>) {
        let Self { stages, slots, positions, refused, .. } = self;
        let Stage { element, counters } = &mut stages[index];
        (element.as_mut(), Port { counters, slots, positions, refused })
    }

    fn dropped_by(&self) -> Vec<(String, u64)> {
        self.counters()
            .map(|(text, counters)| (text, counters.dropped + counters.queue_dropped))
            .filter(|(_, dropped)| *dropped > 0)
            .collect()
    }

    fn pattern_drops(&self) -> Option<u64> {
        let expected = self.stages.iter().filter_map(|stage| stage.element.expected_drops());
        expected.reduce(|sum, drops| sum + drops)
    }
}

impl Stage {
    fn new(element: Box<dyn Element>) -> Self {
        Self { element, counters: Counters::default() }
    }
}
