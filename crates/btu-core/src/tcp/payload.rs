//! Payload in the packets of a capture: bytes of TCP that pass for the first time, and datagrams of UDP.

use std::collections::BTreeMap;

use super::headers;
use super::segment::Endpoint;
use super::segment::Flags;
use super::segment::Segment;
use crate::capture::Capture;
use crate::units::Nanos;

/// Payload that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// When.
    pub at: Nanos,
    /// Who began the connection; where that was not seen, and of datagrams, who sent first.
    pub client: Endpoint,
    /// The other end.
    pub server: Endpoint,
    /// Which connection or pair of ends, in order of their first packet, from 0.
    pub number: usize,
    /// From the client.
    pub is_from_client: bool,
    /// How much.
    pub bytes: u32,
}

/// The two ends of a connection, and how far each has sent.
#[derive(Debug)]
struct Pair {
    client: Endpoint,
    server: Endpoint,
    /// Behind the last byte of the client and of the server.
    ends: [Option<u32>; 2],
}

/// Every payload of a capture in its order; what is sent again was there before. Packets that are not understood, and
/// later fragments, have none.
pub fn payloads(capture: &Capture<'_>) -> Vec<Payload> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut places: BTreeMap<(bool, [Endpoint; 2]), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for packet in &capture.packets {
        let interface = usize::try_from(packet.interface).unwrap_or(usize::MAX);
        let Some(interface) = capture.interfaces.get(interface) else { continue };
        let (is_tcp, segment) = match headers::segment(interface.link_type, packet) {
            Ok(segment) => (true, segment),
            Err(_) => match headers::datagram(interface.link_type, packet) {
                Some(datagram) => (false, datagram),
                None => continue,
            },
        };
        let number = *places.entry((is_tcp, super::pair(&segment))).or_insert_with(|| {
            pairs.push(Pair::of(&segment));
            pairs.len() - 1
        });
        let Some(pair) = pairs.get_mut(number) else { continue };
        let bytes = if is_tcp { pair.follow(&segment) } else { segment.payload };
        if bytes > 0 {
            let is_from_client = segment.from == pair.client;
            let Pair { client, server, .. } = *pair;
            found.push(Payload { at: segment.at, client, server, number, is_from_client, bytes });
        }
    }
    found
}

impl Pair {
    /// Of the first packet that was seen.
    fn of(first: &Segment) -> Self {
        let is_answer = first.flags.has(Flags::SYN) && first.flags.has(Flags::ACK);
        let (client, server) =
            if is_answer { (first.to, first.from) } else { (first.from, first.to) };
        Self { client, server, ends: [None; 2] }
    }

    /// How many bytes of a segment were not seen before. A new connection of the same ends begins anew.
    fn follow(&mut self, segment: &Segment) -> u32 {
        let is_first = segment.flags.has(Flags::SYN);
        if is_first && !segment.flags.has(Flags::ACK) {
            self.ends = [None; 2];
        }
        let way = usize::from(segment.from != self.client);
        let start = segment.sequence.wrapping_add(u32::from(is_first));
        let end = start.wrapping_add(segment.payload);
        let ahead = self.ends[way].map_or(segment.payload, |before| end.wrapping_sub(before));
        // Half of all numbers lie ahead, half behind.
        if ahead > u32::MAX / 2 {
            return 0;
        }
        self.ends[way] = Some(end);
        ahead.min(segment.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Model;
    use super::*;

    /// A megabyte of which three packets are lost and sent again is a megabyte, and its numbers wrap within it.
    #[test]
    fn what_is_sent_again_is_no_payload_anew() {
        let lost = [20, 21, 300].into();
        let writes = vec![(Nanos::ZERO, 1_000_000)];
        let recorded = Model { writes, lost, first: u32::MAX - 400_000, ..Model::default() }.run();
        let capture = recorded.capture();
        let payloads = payloads(&capture);
        assert_eq!(payloads.iter().map(|one| u64::from(one.bytes)).sum::<u64>(), 1_000_000);
        assert!(payloads.iter().all(|one| one.is_from_client && one.number == 0));
        let sent: u64 = super::super::analyse(&capture).connections[0].up.counts.payload_bytes;
        assert!(sent > 1_000_000, "{sent}: nothing was sent again");
    }
}
