//! What a sender of datagrams may send at the rate of somebody's policy: the kernel paces streams alone.

use std::net::SocketAddr;

use btu_core::traffic::sending::token_bucket::TokenBucket;
use btu_core::traffic::sending::token_bucket::datagram_on_the_wire;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

/// A rate for datagrams of one socket, headers included.
#[derive(Debug)]
pub(crate) struct Ration {
    bucket: TokenBucket,
    is_v6: bool,
}

impl Ration {
    /// For datagrams with at most so much payload, sent to this address.
    pub(crate) fn new(rate: BitRate, largest: usize, to: Option<SocketAddr>) -> Self {
        // Where it is not known the longer headers are counted.
        let is_v6 = to.is_none_or(|to| to.is_ipv6());
        Self { bucket: TokenBucket::new(rate, on_the_wire(largest, is_v6)), is_v6 }
    }

    /// When a datagram of this length may be sent; `None` for now.
    pub(crate) fn wait_for(&self, now: Nanos, length: usize) -> Option<Nanos> {
        self.bucket.wait_for(now, on_the_wire(length, self.is_v6))
    }

    /// It was sent, at this time or before: who reads the clock afterwards is never ahead of the rate.
    pub(crate) fn sent(&mut self, now: Nanos, length: usize) {
        self.bucket.sent(now, on_the_wire(length, self.is_v6));
    }

    /// From now on another rate holds.
    pub(crate) fn change(&mut self, now: Nanos, rate: BitRate) {
        self.bucket.change(now, rate);
    }
}

fn on_the_wire(length: usize, is_v6: bool) -> Bytes {
    datagram_on_the_wire(Bytes::new(u64::try_from(length).unwrap_or(u64::MAX)), is_v6, MTU)
}

/// Of most paths. Where it is larger, a datagram has fewer headers than are counted.
const MTU: Bytes = Bytes::new(1500);
