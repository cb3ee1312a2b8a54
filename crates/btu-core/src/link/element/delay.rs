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
use crate::link::in_order::InOrder;
use crate::link::in_order::Treatment;
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
pub(super) fn line(delay: Nanos, handles: usize) -> Box<dyn Element> {
    Box::new(InOrder::new(Delay { delay }, handles))
}

#[derive(Debug)]
struct Delay {
    delay: Nanos,
}

impl ElementSpec for DelaySpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        Ok(line(self.delay, site.handles))
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

impl Treatment for Delay {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        let due = packet.at().saturating_add(self.delay);
        passed.push(packet.leaving(due), port);
    }
}
