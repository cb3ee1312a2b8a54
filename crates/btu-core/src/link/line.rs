//! The serial line behind `rate`: one packet after the other, each for its bits over the rate.
//!
//! There is no bucket and no first burst. The line may serve several chains (`shared NAME`): each
//! has a lane, into which its packets come out; the queue is one.

mod admission;
mod shared;

use crate::capture::Remark;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

use super::LinkError;
use super::codel::Codel;
use super::codel::CodelLimits;
use super::codel::Verdict;
use super::packet::Packet;
use super::packet::Wire;
use super::port::Port;
use super::queue::Queue;
use super::ring::Ring;

pub(super) use shared::LineAccess;
pub use shared::Lines;

/// What a line is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineLimits {
    pub(super) rate: BitRate,
    pub(super) queue: QueueLimit,
    pub(super) codel: Option<CodelLimits>,
}

/// How much may wait. The packet on the line does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueLimit {
    /// Bytes on the line.
    Bytes(Bytes),
    /// Wire packets.
    Packets(u64),
    /// Time from arrival to the packet's first bit on the line.
    Time(Nanos),
}

/// The line and what waits for it.
///
/// A packet is put on the line in pieces, each as long as [`QUANTUM`], at least one wire packet: a
/// piece leaves when its last bit is sent. With `CoDel` a piece is one wire packet, since each is
/// judged at the moment it would start.
#[derive(Debug)]
pub(super) struct Line {
    limits: LineLimits,
    wire: Wire,
    quantum: Bytes,
    codel: Option<Codel>,
    waiting: Waiting,
    busy: Busy,
    /// The latest moment the line was asked for.
    clock: Nanos,
    lanes: Vec<Lane>,
    handles: usize,
}

/// The packets of all lanes, in order of arrival.
#[derive(Debug)]
struct Waiting {
    packets: Ring<(Packet, usize)>,
    wire_packets: u64,
    bytes: Bytes,
}

/// A time without gaps on the line. Times are counted from its start in bits, so that rounding to
/// nanoseconds never adds up.
#[derive(Debug, Default)]
struct Busy {
    start: Nanos,
    /// Bits of all pieces put on the line.
    bits: u64,
    /// When the last bit is sent.
    end: Nanos,
    /// The latest piece: bits before it, its wire packets, bits of each and of all.
    piece: Piece,
}

#[derive(Debug, Default)]
struct Piece {
    before: u64,
    packets: u64,
    each: u64,
    bits: u64,
}

/// One chain's way out of the line.
#[derive(Debug)]
struct Lane {
    ready: Queue,
    /// Lost while another chain was asking; told to this one at its next call.
    lost: Vec<(Packet, Cause)>,
    waiting: u64,
}

/// Why the line lost a packet that it had queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Codel,
    Overflow,
}

/// The chain that is asking.
struct Caller<'a, 'c> {
    lane: usize,
    port: &'a mut Port<'c>,
}

impl Line {
    pub(super) fn new(limits: LineLimits, wire: Wire, handles: usize) -> Self {
        let mut line = Self {
            limits,
            wire,
            quantum: limits.rate.amount_in(QUANTUM),
            codel: limits.codel.map(Codel::new),
            waiting: Waiting::new(handles),
            busy: Busy::default(),
            clock: Nanos::ZERO,
            lanes: Vec::new(),
            handles,
        };
        line.add_lane();
        line
    }

    /// A way out for one more chain.
    fn add_lane(&mut self) -> usize {
        self.lanes.push(Lane {
            ready: Queue::new(self.handles),
            lost: Vec::with_capacity(self.handles),
            waiting: 0,
        });
        self.lanes.len() - 1
    }

    /// Takes a packet that came to the line at `packet.at()`.
    pub(super) fn push(&mut self, lane: usize, packet: Packet, port: &mut Port<'_>) {
        for part in packet.uniform().into_iter().flatten() {
            self.run_until(part.at(), &mut Caller { lane, port });
            self.admit(lane, part, port);
        }
    }

    /// The next packet of `lane` whose last bit was sent at or before `now`.
    pub(super) fn pop(&mut self, lane: usize, now: Nanos, port: &mut Port<'_>) -> Option<Packet> {
        self.run_until(now, &mut Caller { lane, port });
        let lane = &mut self.lanes[lane];
        if !lane.lost.is_empty() {
            lane.tell_losses(port);
        }
        lane.ready.pop(now)
    }

    pub(super) fn next_wakeup(&self, lane: usize) -> Option<Nanos> {
        let lane = &self.lanes[lane];
        let ready = lane.ready.next_departure();
        let next_piece = (lane.waiting > 0).then_some(self.busy.end);
        let lost = (!lane.lost.is_empty()).then_some(self.clock);
        [ready, next_piece, lost].into_iter().flatten().min()
    }

    pub(super) fn held(&self, lane: usize) -> u64 {
        let lane = &self.lanes[lane];
        let lost: u64 = lane.lost.iter().map(|(packet, _)| u64::from(packet.count())).sum();
        lane.waiting + lane.ready.wire_packets() + lost
    }

    /// Puts on the line all pieces that start at or before `now`.
    fn run_until(&mut self, now: Nanos, caller: &mut Caller<'_, '_>) {
        self.clock = self.clock.max(now);
        while let Some(arrival) = self.waiting.first_arrival() {
            let start = arrival.max(self.busy.end);
            if start > self.clock {
                return;
            }
            self.start_piece(start, caller);
        }
        if self.busy.end <= self.clock
            && let Some(codel) = &mut self.codel
        {
            codel.empty();
        }
    }

    /// Puts the next piece on the line at `start`, or drops the head.
    fn start_piece(&mut self, start: Nanos, caller: &mut Caller<'_, '_>) {
        let size = self.waiting.first_size(self.wire);
        let count = if self.codel.is_some() { 1 } else { self.packets_per_piece(size) };
        let Some((packet, lane)) = self.waiting.take(count) else { return };
        let on_wire = packet.wire(self.wire);
        self.waiting.bytes = self.waiting.bytes.saturating_sub(on_wire);
        self.lanes[lane].waiting -= u64::from(packet.count());
        if let Some(codel) = &mut self.codel {
            let sojourn = start.since(packet.at());
            if codel.head(start, sojourn, size, self.waiting.bytes) == Verdict::Drop {
                return self.lose(lane, packet, Cause::Codel, caller);
            }
        }
        let end = self.busy.add(start, size, packet.count(), on_wire, self.limits.rate);
        if !self.lanes[lane].ready.try_push(packet.leaving(end)) {
            self.lose(lane, packet, Cause::Overflow, caller);
        }
    }

    fn lose(&mut self, lane: usize, packet: Packet, cause: Cause, caller: &mut Caller<'_, '_>) {
        if lane == caller.lane {
            cause.report(&packet, caller.port);
        } else {
            self.lanes[lane].lost.push((packet, cause));
        }
    }

    fn packets_per_piece(&self, size: Bytes) -> u32 {
        let packets = self.quantum.count() / size.count().max(1);
        u32::try_from(packets).unwrap_or(u32::MAX).max(1)
    }
}

impl Lane {
    #[cold]
    fn tell_losses(&mut self, port: &mut Port<'_>) {
        for (packet, cause) in self.lost.drain(..) {
            cause.report(&packet, port);
        }
    }
}

impl Cause {
    fn report(self, packet: &Packet, port: &mut Port<'_>) {
        match self {
            Self::Codel => port.queue_dropped(packet, Remark::Managed),
            Self::Overflow => port.overflow(packet),
        }
    }
}

impl Waiting {
    fn new(handles: usize) -> Self {
        Self { packets: Ring::new(handles), wire_packets: 0, bytes: Bytes::ZERO }
    }

    fn first_arrival(&self) -> Option<Nanos> {
        self.packets.first().map(|(packet, _)| packet.at())
    }

    fn first_size(&self, wire: Wire) -> Bytes {
        self.packets.first().map_or(Bytes::ZERO, |(packet, _)| wire.size(packet.first_l3()))
    }

    /// Takes up to `count` wire packets of the first run, all of equal size but the last; their
    /// bytes are the caller's to subtract.
    fn take(&mut self, count: u32) -> Option<(Packet, usize)> {
        let (first, lane) = self.packets.first_mut()?;
        let lane = *lane;
        let taken = match first.split_front(count) {
            Some(front) => front,
            None => self.packets.pop()?.0,
        };
        self.wire_packets -= u64::from(taken.count());
        Some((taken, lane))
    }

    /// Appends a packet; false where there is no room for its handle.
    fn add(&mut self, packet: Packet, lane: usize, wire: Wire) -> bool {
        let joined = match self.packets.last_mut() {
            Some((last, of)) if *of == lane => last.join(&packet),
            _ => false,
        };
        if !joined && !self.packets.push((packet, lane)) {
            return false;
        }
        self.wire_packets += u64::from(packet.count());
        self.bytes += packet.wire(wire);
        true
    }
}

impl Busy {
    /// Puts `count` packets, `all` bytes in sum and `each` but the last, on the line at `start`;
    /// gives the time of the last bit.
    fn add(&mut self, start: Nanos, each: Bytes, count: u32, all: Bytes, rate: BitRate) -> Nanos {
        if start > self.end {
            (self.start, self.bits) = (start, 0);
        }
        let (before, bits) = (self.bits, all.bits());
        self.piece = Piece { before, packets: count.into(), each: each.bits().max(1), bits };
        self.bits += bits;
        self.end = self.start.saturating_add(rate.time_for_bits(self.bits));
        self.end
    }
}

/// Longest burst behind a line: below it, timers cannot tell packets apart.
const QUANTUM: Nanos = Nanos::from_micros(250);
