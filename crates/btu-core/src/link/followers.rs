//! Packets that wait for others to follow: the common part of `hold ... Npkt` and `reorder`.

use crate::units::Nanos;

use super::continued::Counting;
use super::element::Element;
use super::packet::Packet;
use super::port::Port;
use super::queue::Queue;
use super::ring::Ring;
use super::select::Part;
use super::select::Select;
use super::select::sort_out;

/// How a chosen packet waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// It leaves once so many packets came after it.
    pub(super) followers: u64,
    /// What the packets behind it do.
    pub(super) behind: Behind,
    /// When it gives up waiting.
    pub(super) patience: Patience,
}

/// What packets do that come behind one that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    Overtake,
    Wait,
}

/// When waiting ends though too few packets followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Each packet waits so long at most.
    Age(Nanos),
    /// All go when nothing came for so long; else a connection with nothing more to send would
    /// wait for ever.
    Silence(Nanos),
}

/// Holds chosen wire packets until others followed.
#[derive(Debug)]
pub(super) struct HoldForFollowers {
    select: Box<dyn Select>,
    bay: Bay,
}

/// What waits and what was released.
#[derive(Debug)]
struct Bay {
    rule: Rule,
    /// In order of arrival; behind `Overtake` only chosen packets.
    waiting: Ring<Waiting>,
    waiting_packets: u64,
    released: Queue,
    seen: u64,
    last_arrival: Nanos,
}

/// A packet, and for a chosen one the position of the packet that sets it free.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    until: Option<u64>,
}

impl HoldForFollowers {
    pub(super) fn new(select: Box<dyn Select>, rule: Rule, handles: usize) -> Self {
        let bay = Bay {
            rule,
            waiting: Ring::new(handles),
            waiting_packets: 0,
            released: Queue::new(handles),
            seen: 0,
            last_arrival: Nanos::ZERO,
        };
        Self { select, bay }
    }
}

impl Bay {
    fn chosen(&mut self, packet: Packet, port: &mut Port<'_>) {
        self.seen += 1;
        port.held_back(&packet);
        let until = Some(self.seen + self.rule.followers);
        self.wait(packet, until, port);
        self.release(packet.at(), port);
    }

    fn passed(&mut self, run: Packet, port: &mut Port<'_>) {
        if self.rule.behind == Behind::Overtake {
            return self.overtake(run, port);
        }
        self.seen += u64::from(run.count());
        self.wait(run, None, port);
        self.release(run.at(), port);
    }

    /// Lets a run pass; packets that wait join it behind their last follower.
    fn overtake(&mut self, run: Packet, port: &mut Port<'_>) {
        let mut rest = Some(run);
        while let Some(left) = rest {
            let first = self.waiting.first().and_then(|waiting| waiting.until);
            let until = first.map_or(u64::MAX, |until| until - self.seen);
            let followers = u32::try_from(until).unwrap_or(u32::MAX).min(left.count());
            if let Some(front) = Packet::take_front(&mut rest, followers) {
                self.seen += u64::from(front.count());
                self.released.push(front, port);
            }
            self.release(run.at(), port);
        }
    }

    fn wait(&mut self, packet: Packet, until: Option<u64>, port: &mut Port<'_>) {
        if !self.waiting.push(Waiting { packet, until }) {
            return port.overflow(&packet);
        }
        self.waiting_packets += u64::from(packet.count());
    }

    /// Releases at `now` what waits for nothing any more.
    fn release(&mut self, now: Nanos, port: &mut Port<'_>) {
        while let Some(first) = self.waiting.first() {
            if first.until.is_some_and(|until| until > self.seen) {
                return;
            }
            self.release_first(now, port);
        }
    }

    fn release_first(&mut self, now: Nanos, port: &mut Port<'_>) {
        if let Some(Waiting { packet, .. }) = self.waiting.pop() {
            self.waiting_packets -= u64::from(packet.count());
            self.released.push(packet.leaving(now), port);
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        let first = self.waiting.first()?;
        Some(match self.rule.patience {
            Patience::Age(age) => first.packet.at().saturating_add(age),
            Patience::Silence(silence) => self.last_arrival.saturating_add(silence),
        })
    }

    /// Releases what lost its patience by `now`.
    fn expire(&mut self, now: Nanos, port: &mut Port<'_>) {
        while let Some(deadline) = self.deadline().filter(|deadline| *deadline <= now) {
            self.release_first(deadline, port);
            self.release(deadline, port);
        }
    }
}

impl Element for HoldForFollowers {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        self.bay.expire(packet.at(), port);
        self.bay.last_arrival = self.bay.last_arrival.max(packet.at());
        let Self { select, bay } = self;
        sort_out(select.as_mut(), packet, |part| match part {
            Part::Hit(chosen) => bay.chosen(chosen, port),
            Part::Passed(run) => bay.passed(run, port),
        });
    }

    fn pop(&mut self, now: Nanos, port: &mut Port<'_>) -> Option<Packet> {
        self.bay.expire(now, port);
        self.bay.released.pop(now)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.bay.released.next_departure().into_iter().chain(self.bay.deadline()).min()
    }

    fn held(&self) -> u64 {
        self.bay.waiting_packets + self.bay.released.wire_packets()
    }

    fn counting(&self) -> Option<Counting> {
        self.select.counting()
    }

    fn go_on(&mut self, from: &Counting) {
        self.select.go_on(from);
    }
}
