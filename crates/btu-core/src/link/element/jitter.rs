//! `jitter DIST`: holds each wire packet for a time of its own.

use std::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
use super::Words;
use crate::link::chance::Stream;
use crate::link::distribution::Distribution;
use crate::link::in_order::InOrder;
use crate::link::in_order::Treatment;
use crate::link::queue::Queue;

pub(super) static KIND: ElementKind = ElementKind {
    name: "jitter",
    forms: "jitter DISTRIBUTION [free] (const(1ms), uniform(0ms,2ms), normal(5ms,1ms), exp(1ms), \
            lognormal(5ms,2ms), pareto(1ms,3), weibull(1ms,2), laplace(5ms,1ms))",
    help: "holds each wire packet for a random time, in order or, if free, out of order",
    parse,
};

#[derive(Clone, Copy, Debug)]
struct JitterSpec {
    distribution: Distribution,
    free: bool,
}

/// Packets keep their order: none leaves before the one before it.
#[derive(Debug)]
struct OrderedJitter {
    distribution: Distribution,
    stream: Stream,
}

/// Packets leave when they are due, in whatever order.
#[derive(Debug)]
struct FreeJitter {
    distribution: Distribution,
    stream: Stream,
    heap: BinaryHeap<Reverse<Due>>,
    pushed: u64,
    wire_packets: u64,
}

/// A packet in order of departure; of those due at once the first to come.
#[derive(Debug, PartialEq, Eq)]
struct Due {
    packet: Packet,
    number: u64,
}

impl ElementSpec for JitterSpec {
    fn build(&self, site: Site<'_>) -> Result<Box<dyn Element>, LinkError> {
        let Self { distribution, free } = *self;
        let Site { stream, handles, .. } = site;
        if free {
            let heap = BinaryHeap::with_capacity(handles);
            return Ok(Box::new(FreeJitter {
                distribution,
                stream,
                heap,
                pushed: 0,
                wire_packets: 0,
            }));
        }
        Ok(Box::new(InOrder::new(OrderedJitter { distribution, stream }, handles)))
    }

    fn wait(&self) -> Nanos {
        self.distribution.at(0.99)
    }

    fn timed(&self) -> bool {
        true
    }
}

impl fmt::Display for JitterSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = if self.free { " free" } else { "" };
        write!(out, "jitter {}{free}", self.distribution)
    }
}

impl Treatment for OrderedJitter {
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>) {
        let Self { distribution, stream } = self;
        for_each_due(packet, distribution, stream, |packet| passed.push(packet, port));
    }
}

impl Element for FreeJitter {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        let Self { distribution, stream, heap, pushed, wire_packets } = self;
        for_each_due(packet, distribution, stream, |packet| {
            if heap.len() == heap.capacity() {
                port.overflow(&packet);
                return;
            }
            *pushed += 1;
            *wire_packets += u64::from(packet.count());
            heap.push(Reverse(Due { packet, number: *pushed }));
        });
    }

    fn pop(&mut self, now: Nanos, _port: &mut Port<'_>) -> Option<Packet> {
        if self.next_wakeup()? > now {
            return None;
        }
        let Reverse(Due { packet, .. }) = self.heap.pop()?;
        self.wire_packets -= u64::from(packet.count());
        Some(packet)
    }

    fn next_wakeup(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse(due)| due.packet.at())
    }

    fn held(&self) -> u64 {
        self.wire_packets
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.packet.at(), self.number).cmp(&(other.packet.at(), other.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Gives each wire packet of a run its own time of departure.
fn for_each_due(
    packet: Packet,
    distribution: &Distribution,
    stream: &mut Stream,
    mut each: impl FnMut(Packet),
) {
    let mut rest = Some(packet);
    while let Some(one) = Packet::take_front(&mut rest, 1) {
        let held = distribution.sample(stream.draw());
        each(one.leaving(one.at().saturating_add(held)));
    }
}

fn parse(words: &mut Words<'_>) -> Result<Arc<dyn ElementSpec>, LinkError> {
    let distribution = words.value("distribution")?;
    Ok(Arc::new(JitterSpec { distribution, free: words.keyword("free") }))
}
