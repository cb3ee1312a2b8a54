//! Elements that treat a packet when it comes, and let out what passes in order.

use std::fmt;

use crate::units::Nanos;

use super::continued::Counting;
use super::element::Element;
use super::packet::Packet;
use super::port::Port;
use super::queue::Queue;

/// What becomes of a packet that comes.
pub(super) trait Treatment: fmt::Debug + Send {
    /// Gives what passes of `packet` to `passed`, and reports the rest to the port, as [`Element::push`] says.
    fn treat(&mut self, packet: Packet, passed: &mut Queue, port: &mut Port<'_>);

    /// As [`Element::counting`].
    fn counting(&self) -> Option<Counting> {
        None
    }

    /// As [`Element::go_on`].
    fn go_on(&mut self, _from: &Counting) {}

    /// As [`Element::expected_drops`].
    fn expected_drops(&self) -> Option<u64> {
        None
    }
}

/// An element that has a single queue, of what passed.
#[derive(Debug)]
pub(super) struct InOrder<T> {
    treatment: T,
    passed: Queue,
}

impl<T> InOrder<T> {
    pub(super) fn new(treatment: T, handles: usize) -> Self {
        Self { treatment, passed: Queue::new(handles) }
    }
}

impl<T: Treatment> Element for InOrder<T> {
    fn push(&mut self, packet: Packet, port: &mut Port<'_>) {
        self.treatment.treat(packet, &mut self.passed, port);
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

    fn counting(&self) -> Option<Counting> {
        self.treatment.counting()
    }

    fn go_on(&mut self, from: &Counting) {
        self.treatment.go_on(from);
    }

    fn expected_drops(&self) -> Option<u64> {
        self.treatment.expected_drops()
    }
}
