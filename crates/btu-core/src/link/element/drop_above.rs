//! `drop above`: loses wire packets that are too large, as a path does whose routers say nothing of it.

use std::fmt;
use std::sync::Arc;

use crate::units::Bytes;

use super::Element;
use super::ElementKind;
use super::ElementSpec;
use super::LinkError;
use super::Packet;
use super::Port;
use super::Site;
use crate::link::in_order::InOrder;
use crate::link::in_order::Treatment;
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
}

impl ElementSpec for DropAboveSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let drop_above = DropAbove { largest: self.largest };
        Ok(Box::new(InOrder::new(drop_above, site.handles)))
    }
}

impl fmt::Display for DropAboveSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "drop above {}", self.largest)
    }
}

impl Treatment for DropAbove {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        // All of a run are alike but the last one, which may be smaller.
        for alike in packet.uniform().into_iter().flatten() {
            if alike.first_l3() <= self.largest {
                passed.push(alike, port);
            } else {
                port.dropped(&alike);
            }
        }
    }
}

/// What every path of IPv4 carries (RFC 791).
const LEAST: Bytes = Bytes::new(68);
