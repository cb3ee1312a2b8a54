//! How much another host may tell: memory is kept for no more than an honest one needs.

use std::fmt;
use std::marker::PhantomData;

use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Deserializer;
use serde::de::Error;
use serde::de::SeqAccess;
use serde::de::Visitor;

use super::super::job::Carrier;
use super::super::job::Flow;
use super::super::job::Offer;

/// The longest report of a host about the flows of a job. Of each that it receives, this one sent so many
/// bytes and datagrams.
pub(super) fn longest_report(
    flows: &[Flow],
    there: usize,
    sent: impl Fn(usize) -> (Bytes, u64),
) -> usize {
    let rows = |(number, flow): (usize, &Flow)| {
        let row = BLOCK_ROW + if flow.has_receipts { RECEIPT } else { 0 };
        let own = if flow.from == there { blocks(flow).saturating_mul(row) } else { 0 };
        let (bytes, datagrams) = sent(number);
        let came = if flow.to == there { arrivals(flow, bytes, datagrams) } else { 0 };
        OF_FLOW.saturating_add(own).saturating_add(came.saturating_mul(ARRIVAL_ROW))
    };
    let all = flows.iter().enumerate().map(rows).fold(OF_FLOW, u64::saturating_add);
    usize::try_from(all).unwrap_or(usize::MAX).min(LONGEST_REPORT)
}

/// The most blocks of which the sender of a flow can tell.
pub(super) fn blocks(flow: &Flow) -> u64 {
    match &flow.offer {
        Offer::Endless(_) => 1,
        Offer::Train { blocks, .. } => u64::try_from(blocks.len()).unwrap_or(u64::MAX),
    }
}

/// The most reads or datagrams of which its receiver can tell. A read returns what came, and nothing comes
/// in smaller parts than it was written, read or segmented in; some of these are cut in two.
fn arrivals(flow: &Flow, bytes: Bytes, datagrams: u64) -> u64 {
    let most = match &flow.carrier {
        // A network may double datagrams.
        Carrier::Udp => return datagrams.saturating_mul(2).saturating_add(SOME),
        // A packet of it is never smaller for want of room (RFC 9000, 14: 1200 bytes).
        Carrier::Quic(_) => None,
        Carrier::Tcp(settings) => settings.max_segment,
    };
    let segment = most.map_or(SEGMENT, |most| Bytes::new(most.into()).min(SEGMENT));
    let (write, grains) = match &flow.offer {
        // Reads of the same millisecond are told as one.
        Offer::Endless(_) => (SEGMENT, flow.duration.count() / Nanos::from_millis(1).count()),
        Offer::Train { .. } => (flow.write, blocks(flow)),
    };
    let unit = segment.min(flow.read).min(write).max(Bytes::new(1));
    let parts = bytes.count().div_ceil(unit.count()).saturating_mul(2);
    parts.saturating_add(grains).saturating_add(SOME)
}

/// A list of no more than [`MOST_FLOWS`], refused before it takes memory for more.
pub(super) fn of_flows<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(OfFlows(PhantomData))
}

struct OfFlows<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OfFlows<T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "at most {MOST_FLOWS} flows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut told: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = told.next_element()? {
            if all.len() == MOST_FLOWS {
                return Err(A::Error::invalid_length(MOST_FLOWS + 1, &self));
            }
            all.push(one);
        }
        Ok(all)
    }
}

/// Connections say their number in 16 bits.
const MOST_FLOWS: usize = 1 << 16;
/// A minute of a gigabit per second in datagrams of an Ethernet frame each.
const LONGEST_REPORT: usize = 128 << 20;
/// Options, counts and a reason.
const OF_FLOW: u64 = 1024;
/// Seven numbers: times of at most 13 days, sizes below an exabyte.
const BLOCK_ROW: u64 = 7 * 19;
/// One number more.
const RECEIPT: u64 = 19;
/// Two or three numbers.
const ARRIVAL_ROW: u64 = 3 * 19;
/// Below what every path carries in one segment (RFC 9293, 3.7.1: 536 bytes).
const SEGMENT: Bytes = Bytes::new(512);
/// Reads that came of nothing above.
const SOME: u64 = 1000;
