//! The sending end of the simulation.

use super::Event;
use super::MSS;
use super::Model;
use super::Reply;
use super::World;
use crate::tcp::ranges::Ranges;
use crate::units::Nanos;

#[expect(clippy::struct_excessive_bools, reason = "independent facts of a simulated sender")]
pub(super) struct Sender {
    nagle: bool,
    buffer: u64,
    most_flight: u64,
    forgets: bool,
    to_write: u64,
    expected: u64,
    /// Accepted, sent, acknowledged.
    written: u64,
    next: u64,
    acked: u64,
    window: u64,
    congestion: u64,
    threshold: u64,
    duplicates: u32,
    sacked: Ranges,
    /// Bytes below this are repaired; those below `repaired` were sent again.
    recover: u64,
    repaired: u64,
    by_timeout: bool,
    timers: u64,
    backoff: u32,
    has_probed: bool,
    last_at: Nanos,
    smoothed: Nanos,
    timed: Option<(u64, Nanos)>,
}

impl Sender {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            nagle: model.nagle,
            buffer: model.send_buffer,
            most_flight: model.most_flight,
            forgets: model.forgets,
            to_write: 0,
            expected: model.writes.iter().map(|(_, bytes)| bytes).sum(),
            written: 0,
            next: 0,
            acked: 0,
            window: model.receive_buffer.min(65_535),
            congestion: 10 * MSS,
            threshold: u64::MAX,
            duplicates: 0,
            sacked: Ranges::default(),
            recover: 0,
            repaired: 0,
            by_timeout: false,
            timers: 0,
            backoff: 0,
            has_probed: false,
            last_at: Nanos::ZERO,
            smoothed: model.delay * 2,
            timed: None,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.acked >= self.expected
    }

    pub(super) fn writes(&mut self, world: &mut World, bytes: u64) {
        let idle = world.now.since(self.last_at);
        if self.forgets && self.next == self.acked && idle > self.timeout_after() {
            // RFC 5681, 4.1: restart window.
            self.congestion = self.congestion.min(10 * MSS);
        }
        self.to_write += bytes;
        self.send(world);
    }

    fn send(&mut self, world: &mut World) {
        loop {
            let room = (self.acked + self.buffer).saturating_sub(self.written).min(self.to_write);
            self.written += room;
            self.to_write -= room;
            let flight = self.next - self.acked;
            let congestion = self.congestion.min(self.most_flight).saturating_sub(flight);
            let receiver = (self.acked + self.window).saturating_sub(self.next);
            let waiting = self.written - self.next;
            let length = MSS.min(waiting).min(receiver);
            let is_small = length < MSS;
            if length == 0 || congestion < length || (self.nagle && is_small && flight > 0) {
                break;
            }
            // RFC 9293, 3.8.6.2.1: no segment is cut small by the window, unless half of it.
            if receiver < MSS.min(waiting) && receiver < MSS && !world.model.silly && flight > 0 {
                break;
            }
            self.transmit(world, self.next, self.next + length);
            self.next += length;
        }
    }

    fn transmit(&mut self, world: &mut World, start: u64, end: u64) {
        if self.timed.is_none() && start >= self.next {
            self.timed = Some((end, world.now));
        }
        self.last_at = world.now;
        world.transmit(start, end);
        self.arm(world);
    }

    fn timeout_after(&self) -> Nanos {
        (self.smoothed + Nanos::from_millis(200)) * (1 << self.backoff)
    }

    /// The timer for everything, and that for the tail (RFC 8985, 7.2).
    fn arm(&mut self, world: &mut World) {
        self.timers += 1;
        world.later(world.now + self.timeout_after(), Event::Timeout(self.timers));
        if !self.has_probed && self.backoff == 0 && self.next > self.acked + MSS {
            // Room for a delayed acknowledgement where it may be due.
            let is_short = self.next <= self.acked + 2 * MSS;
            let room = if is_short { world.model.delayed_ack } else { Nanos::ZERO };
            let after = (self.smoothed * 2).max(Nanos::from_millis(10)) + room;
            world.later(world.now + after, Event::Probe(self.timers));
        }
    }

    pub(super) fn probe(&mut self, world: &mut World, number: u64) {
        let in_repair = self.acked < self.recover;
        if number != self.timers || in_repair || self.next == self.acked {
            return;
        }
        self.has_probed = true;
        self.timed = None;
        let start = self.acked.max(self.next.saturating_sub(MSS));
        self.transmit(world, start, self.next);
    }

    pub(super) fn timeout(&mut self, world: &mut World, number: u64) {
        if number != self.timers || self.next == self.acked {
            return;
        }
        self.threshold = ((self.next - self.acked) / 2).max(2 * MSS);
        self.congestion = MSS;
        self.timed = None;
        self.duplicates = 0;
        self.backoff = (self.backoff + 1).min(6);
        self.recover = self.next;
        self.repaired = self.acked;
        self.by_timeout = true;
        self.repair(world, 1);
    }

    pub(super) fn acknowledged(&mut self, world: &mut World, reply: &Reply) {
        self.window = reply.window;
        for (start, end) in &reply.sacks[..reply.count] {
            if *end > reply.acknowledged {
                self.sacked.add(place(*start), place(*end));
            }
        }
        if reply.acknowledged > self.acked {
            self.advance(world, reply.acknowledged);
        } else if reply.count > 0 && self.next > self.acked {
            self.duplicates += 1;
        }
        let in_repair = self.acked < self.recover;
        if self.duplicates >= 3 && !in_repair {
            self.threshold = ((self.next - self.acked) / 2).max(2 * MSS);
            self.congestion = self.threshold;
            self.timed = None;
            self.recover = self.next;
            self.repaired = self.acked;
            self.by_timeout = false;
            self.repair(world, 1);
        } else if in_repair {
            self.repair(world, 2);
        }
        self.send(world);
    }

    fn advance(&mut self, world: &mut World, acknowledged: u64) {
        let new = acknowledged - self.acked;
        self.acked = acknowledged;
        (self.duplicates, self.backoff, self.has_probed) = (0, 0, false);
        self.sacked.remove(0, place(acknowledged));
        if let Some((_, at)) = self.timed.take_if(|(end, _)| *end <= acknowledged) {
            let time = world.now.since(at);
            self.smoothed = Nanos::new(self.smoothed.count() / 8 * 7 + time.count() / 8);
        }
        let flight = self.next - acknowledged + new;
        if self.acked >= self.recover && flight * 2 >= self.congestion {
            let slow_start = self.congestion < self.threshold;
            self.congestion += if slow_start { new } else { MSS * new / self.congestion.max(1) };
        } else if self.acked < self.recover {
            self.congestion += new.min(MSS);
        }
        self.timers += 1;
        if self.next > self.acked {
            self.arm(world);
        }
    }

    /// Sends again what was not acknowledged, each byte once in a repair.
    fn repair(&mut self, world: &mut World, most: u32) {
        let by_timeout = self.by_timeout;
        let known = self.sacked.end().map_or(self.acked, |end| u64::try_from(end).unwrap());
        let until = if by_timeout { self.recover } else { known.min(self.recover) };
        let mut left = most;
        self.repaired = self.repaired.max(self.acked);
        while left > 0 && self.repaired < until {
            let start = self.repaired;
            let end = (start + MSS).min(self.recover);
            self.repaired = end;
            if !self.sacked.holds(place(start), place(end)) {
                self.transmit(world, start, end);
                left -= 1;
            }
        }
    }
}

fn place(count: u64) -> i64 {
    i64::try_from(count).unwrap()
}
