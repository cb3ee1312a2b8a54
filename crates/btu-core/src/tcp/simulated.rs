//! A small TCP sender and receiver over one link, in virtual time: captures whose cause is known.
//!
//! Enough of TCP to show what the analyser must recognise: slow start, fast retransmission by SACK,
//! timeouts with backoff, tail loss probes, Nagle, delayed acknowledgements, windows, buffers.

mod frame;
mod receiver;
mod sender;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::BinaryHeap;

use crate::capture::Capture;
use crate::capture::Interface;
use crate::capture::LinkType;
use crate::capture::Packet;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;
use receiver::Receiver;
use sender::Sender;

/// What is simulated: the defaults are a healthy transfer of 4 MB over 2 ms each way.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// Each way.
    pub(crate) delay: Nanos,
    /// Of the way from the sender.
    pub(crate) rate: BitRate,
    /// In front of the rate; a packet that does not fit is dropped.
    pub(crate) queue: Bytes,
    /// Packets with data that are lost, by their number from 0.
    pub(crate) lost: BTreeSet<u64>,
    /// Packets with data that arrive later by this much.
    pub(crate) late: BTreeSet<u64>,
    pub(crate) lateness: Nanos,
    /// When the application writes how much.
    pub(crate) writes: Vec<(Nanos, u64)>,
    pub(crate) nagle: bool,
    pub(crate) send_buffer: u64,
    pub(crate) receive_buffer: u64,
    /// How fast the receiving application reads; `None` for at once.
    pub(crate) reading: Option<BitRate>,
    pub(crate) delayed_ack: Nanos,
    /// The receiver tells of every byte that becomes free.
    pub(crate) silly: bool,
    /// The sender forgets its window when idle.
    pub(crate) forgets: bool,
    /// Most bytes in flight, however large the window.
    pub(crate) most_flight: u64,
    /// Where packets are captured.
    pub(crate) place: Place,
    /// First sequence number.
    pub(crate) first: u32,
}

/// Where packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Receiver,
    Sender,
}

/// A capture with its own bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    packets: Vec<(Nanos, u32, Vec<u8>)>,
}

/// What is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Acknowledged(Reply),
    Arrives(Segment),
    DelayedAck(u64),
    Probe(u64),
    Reads,
    Timeout(u64),
    Writes(u64),
}

/// A segment with data on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    start: u64,
    end: u64,
    stamp: u32,
    number: u16,
}

/// An acknowledgement on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reply {
    acknowledged: u64,
    window: u64,
    echo: u32,
    sacks: [(u64, u64); 3],
    count: usize,
}

/// The world: what will happen, and what was captured.
struct World {
    model: Model,
    now: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    order: u64,
    line_free: Nanos,
    sent: u64,
    recorded: Recorded,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            delay: Nanos::from_millis(2),
            rate: BitRate::new(1_000_000_000),
            queue: Bytes::new(4_000_000),
            lost: BTreeSet::new(),
            late: BTreeSet::new(),
            lateness: Nanos::from_millis(1),
            writes: vec![(Nanos::ZERO, 4_000_000)],
            nagle: false,
            send_buffer: 4_000_000,
            receive_buffer: 6_000_000,
            reading: None,
            delayed_ack: Nanos::from_millis(40),
            silly: false,
            forgets: false,
            most_flight: 3_000_000,
            place: Place::Sender,
            first: 1000,
        }
    }
}

impl Model {
    /// Runs the transfer to its end.
    pub(crate) fn run(self) -> Recorded {
        let (mut sender, mut receiver) = (Sender::new(&self), Receiver::new(&self));
        let mut world = World::new(self);
        world.shake_hands(receiver.window());
        for (at, bytes) in world.model.writes.clone() {
            world.later(world.now + at, Event::Writes(bytes));
        }
        if world.model.reading.is_some() {
            world.later(world.now, Event::Reads);
        }
        let mut steps = 0;
        while let Some(Reverse((at, _, event))) = world.events.pop() {
            steps += 1;
            if steps > MOST_STEPS || (sender.is_done() && receiver.is_done()) {
                break;
            }
            world.now = at;
            match event {
                Event::Acknowledged(reply) => sender.acknowledged(&mut world, &reply),
                Event::Arrives(segment) => receiver.arrives(&mut world, &segment),
                Event::DelayedAck(number) => receiver.timer(&mut world, number),
                Event::Probe(number) => sender.probe(&mut world, number),
                Event::Reads => receiver.reads(&mut world),
                Event::Timeout(number) => sender.timeout(&mut world, number),
                Event::Writes(bytes) => sender.writes(&mut world, bytes),
            }
        }
        world.recorded.packets.sort_by_key(|packet| packet.0);
        world.recorded
    }
}

impl Recorded {
    /// As it would be read from a file.
    pub(crate) fn capture(&self) -> Capture<'_> {
        let packets = self.packets.iter().map(|(at, original_bytes, data)| Packet {
            at: *at,
            interface: 0,
            heading: None,
            original_bytes: *original_bytes,
            data,
            comment: None,
        });
        Capture {
            interfaces: vec![Interface::new("simulated", LinkType::Raw)],
            packets: packets.collect(),
            ..Capture::default()
        }
    }
}

impl World {
    fn new(model: Model) -> Self {
        Self {
            model,
            now: Nanos::from_secs(1),
            events: BinaryHeap::new(),
            order: 0,
            line_free: Nanos::ZERO,
            sent: 0,
            recorded: Recorded::default(),
        }
    }

    fn later(&mut self, at: Nanos, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    /// SYN, SYN with ACK, ACK.
    fn shake_hands(&mut self, window: u64) {
        let (delay, first) = (self.model.delay, self.model.first);
        let there = self.at_place(self.now, self.now + delay);
        self.record(there, frame::syn(first, None, 65_535));
        self.now += delay;
        let back = self.at_place(self.now + delay, self.now);
        self.record(back, frame::syn(PEER_FIRST, Some(first.wrapping_add(1)), window));
        self.now += delay;
        let there = self.at_place(self.now, self.now + delay);
        let ack = Segment { start: 0, end: 0, stamp: self.stamp(), number: 0 };
        self.record(there, frame::data(first, &ack));
    }

    /// The time at the place of capture of what is at the sender at one and at the receiver at
    /// another time.
    fn at_place(&self, sender: Nanos, receiver: Nanos) -> Nanos {
        if self.model.place == Place::Sender { sender } else { receiver }
    }

    fn record(&mut self, at: Nanos, (length, data): (u32, Vec<u8>)) {
        self.recorded.packets.push((at, length, data));
    }

    /// The clock of time stamps: milliseconds.
    fn stamp(&self) -> u32 {
        u32::try_from(self.now.count() / 1_000_000).unwrap()
    }

    /// A segment leaves: through the line, unless it is lost.
    fn transmit(&mut self, start: u64, end: u64) {
        let position = self.sent;
        self.sent += 1;
        let number = u16::try_from(position % 65_000).unwrap() + 1;
        let segment = Segment { start, end, stamp: self.stamp(), number };
        let queued = self.model.rate.amount_in(self.line_free.since(self.now));
        let fits = queued.count() + (end - start) <= self.model.queue.count();
        let is_lost = self.model.lost.contains(&position) || !fits;
        let mut arrival = self.line_free;
        if fits {
            let time = self.model.rate.time_for(Bytes::new(end - start + HEADERS));
            self.line_free = self.line_free.max(self.now) + time;
            arrival = self.line_free + self.model.delay;
        }
        if self.model.late.contains(&position) {
            arrival += self.model.lateness;
        }
        if self.model.place == Place::Sender || !is_lost {
            let at = self.at_place(self.now, arrival);
            self.record(at, frame::data(self.model.first, &segment));
        }
        if !is_lost {
            self.later(arrival, Event::Arrives(segment));
        }
    }

    /// An acknowledgement leaves; none is lost.
    fn reply(&mut self, reply: Reply) {
        let arrival = self.now + self.model.delay;
        let at = self.at_place(arrival, self.now);
        self.record(at, frame::reply(self.model.first, &reply));
        self.later(arrival, Event::Acknowledged(reply));
    }
}

const MSS: u64 = 1448;
const HEADERS: u64 = 90;
const PEER_FIRST: u32 = 77_000;
/// Shift of all windows.
const SCALE: u8 = 7;
const MOST_STEPS: u64 = 400_000;
