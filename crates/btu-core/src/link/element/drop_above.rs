//! `drop above`: loses wire packets that are too large, as a path does whose routers say nothing of it.

use std::fmt;
use std::sync::Arc;

use crate::units::Bytes;
use crate::units::Nanos;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use crate::link::queue::Queue;

pub(super) static KIND: ElementKind = ElementKind {
    name: "drop above",
    forms: "drop above SIZE (1400B)",
    help: "loses wire packets of more bytes, counted from the IP header on, without a word",
    parse: |words| {
        let largest = words.value_if("size", "68B or more", |size: Bytes| size >= LEAST)?;
        Ok(Arc::new(DropAboveSpec { largest }))
    },
};

#[derive(Debug)]
struct DropAboveSpec {
    /// The largest wire packet that passes.
    largest: Bytes,
}

#[derive(Debug)]
struct DropAbove {
    largest: Bytes,
    seen: u64,
    passed: Queue,
}

impl ElementSpec for DropAboveSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let (largest, passed) = (self.largest, Queue::new(site.handles));
        Ok(Box::new(DropAbove { largest, seen: 0, passed }))
    }
}

impl fmt::Display for DropAboveSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "drop above {}", self.largest)
    }
}

impl Element for DropAbove {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        // All of a run are alike but the last one, which may be smaller.
        for alike in packet.uniform().into_iter().flatten() {
            if alike.first_l3() <= self.largest {
                self.passed.push(alike, port);
            } else {
                port.dropped(&alike, self.seen + 1);
            }
            self.seen += u64::from(alike.count());
        }
    }

    fn pop(&mut self, now: Nanos, _port: &mut Port<'_>) -> Option<Packet> {
        self.passed.pop(now)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.passed.next_departure()
    }

    fn held(&self) -> u64 {
        self.passed.wire_packets()
    }

    fn restart(&mut self) {
        self.seen = 0;
    }
}

/// What every path of IPv4 carries (RFC 791).
const LEAST: Bytes = Bytes::new(68);
