//! `delay 10ms`: every packet leaves the same time after it came.

use std::fmt;
use std::sync::Arc;

use crate::units::Nanos;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use crate::link::netem::NetemPart;
use crate::link::queue::Queue;

pub(super) static KIND: ElementKind = ElementKind {
    name: "delay",
    forms: "delay TIME (10ms)",
    help: "holds every packet for the same time, in order",
    parse: |words| {
        let delay = words.value_if("delay", "at most 1 hour", |delay| delay <= LONGEST)?;
        Ok(Arc::new(DelaySpec { delay }))
    },
};

/// Longer than any path; keeps sums of times far from overflow.
pub(super) const LONGEST: Nanos = Nanos::from_secs(3600);

#[derive(Debug)]
struct DelaySpec {
    delay: Nanos,
}

/// A line as long as its delay.
#[derive(Debug)]
pub(super) struct Delay {
    delay: Nanos,
    queue: Queue,
}

impl Delay {
    pub(super) fn new(delay: Nanos, handles: usize) -> Self {
        Self { delay, queue: Queue::new(handles) }
    }
}

impl ElementSpec for DelaySpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        Ok(Box::new(Delay::new(self.delay, site.handles)))
    }

    fn constant_delay(&self) -> Option<Nanos> {
        Some(self.delay)
    }

    fn timed(&self) -> bool {
        true
    }

    fn netem(&self) -> Option<NetemPart> {
        Some(NetemPart::Delay(self.delay))
    }
}

impl fmt::Display for DelaySpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "delay {}", self.delay)
    }
}

impl Element for Delay {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        let due = packet.at().saturating_add(self.delay);
        self.queue.push(packet.leaving(due), port);
    }

    fn pop(&mut self, now: Nanos, _port: &mut Port<'_>) -> Option<Packet> {
        self.queue.pop(now)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.queue.next_departure()
    }

    fn held(&self) -> u64 {
        self.queue.wire_packets()
    }
}
