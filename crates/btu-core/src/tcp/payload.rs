//! Payload in the packets of a capture: bytes of TCP that pass for the first time, and datagrams of UDP.

use std::collections::BTreeMap;

use super::connection::Ends;
use super::headers;
use super::ranges::Ranges;
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

/// A connection with what passed of it, from the client and from the server.
#[derive(Debug)]
struct Pair {
    ends: Ends,
    ways: [Way; 2],
}

/// What passed one way of a connection.
#[derive(Debug, Default)]
struct Way {
    /// By its place in the stream: behind a loss and among packets that overtook each other, what comes after a later
    /// byte may be new all the same.
    seen: Ranges,
    /// Behind the last segment, as a place and as a sequence number.
    next: Option<(i64, u32)>,
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
            let Ends { client, server, .. } = pair.ends;
            let is_from_client = segment.from == client;
            found.push(Payload { at: segment.at, client, server, number, is_from_client, bytes });
        }
    }
    found
}

impl Pair {
    /// Of the first packet that was seen.
    fn of(first: &Segment) -> Self {
        Self { ends: Ends::of(first), ways: Default::default() }
    }

    /// How many bytes of a segment were not seen before. A new connection of the same ends begins anew.
    fn follow(&mut self, segment: &Segment) -> u32 {
        if self.ends.is_other(segment) {
            *self = Self::of(segment);
        }
        self.ends.follow(segment);
        // What a reset carries belongs to no stream.
        if segment.flags.has(Flags::RST) {
            return 0;
        }
        self.ways[usize::from(segment.from != self.ends.client)].follow(segment)
    }
}

impl Way {
    /// How many bytes of a segment were not seen before.
    fn follow(&mut self, segment: &Segment) -> u32 {
        let number = segment.sequence.wrapping_add(u32::from(segment.flags.has(Flags::SYN)));
        // The nearest place with this number: numbers wrap every 4 GiB.
        let start = self.next.map_or(0, |(place, before)| {
            place + i64::from(number.wrapping_sub(before).cast_signed())
        });
        let end = start + i64::from(segment.payload);
        self.next = Some((end, number.wrapping_add(segment.payload)));
        u32::try_from(self.seen.add(start, end)).unwrap_or(segment.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Model;
    use super::super::simulated::Place;
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

    /// At the receiver a packet that was lost on the way to it is seen once, behind later ones, and so is one that was
    /// overtaken.
    #[test]
    fn what_comes_behind_later_bytes_is_payload_all_the_same() {
        let (lost, late) = ([20, 21, 300].into(), [100, 500].into());
        let writes = vec![(Nanos::ZERO, 1_000_000)];
        let (first, place) = (u32::MAX - 400_000, Place::Receiver);
        let model = Model { lost, late, writes, place, first, ..Model::default() };
        let recorded = model.run();
        let payloads = payloads(&recorded.capture());
        assert_eq!(payloads.iter().map(|one| u64::from(one.bytes)).sum::<u64>(), 1_000_000);
    }

    /// The second of three segments passes last; then parts of them do once more.
    #[test]
    fn of_a_segment_counts_what_no_other_one_brought() {
        let first = Segment { sequence: u32::MAX - 1000, payload: 1448, ..Segment::default() };
        let mut pair = Pair::of(&first);
        let mut follow = |after: u32, payload| {
            let sequence = first.sequence.wrapping_add(after);
            pair.follow(&Segment { sequence, payload, ..first })
        };
        assert_eq!([follow(0, 1448), follow(2896, 1448), follow(1448, 1448)], [1448; 3]);
        assert_eq!([follow(0, 1448), follow(1000, 3000), follow(4000, 500)], [0, 0, 156]);
        assert_eq!([follow(6000, 100), follow(4400, 2000)], [100, 1500 + 300]);
    }

    /// The same SYN once more is no other connection; another one between the same ends is, whoever sends it.
    #[test]
    fn another_connection_between_the_same_ends_begins_anew() {
        let client = Endpoint { port: 1, ..Endpoint::default() };
        let server = Endpoint { port: 2, ..client };
        let data = Segment { from: client, to: server, payload: 100, ..Segment::default() };
        let syn = Segment { payload: 0, flags: Flags::SYN, ..data };
        let first = Segment { sequence: 1, ..data };
        let mut pair = Pair::of(&syn);
        let passed = [syn, first, syn, first].map(|segment| pair.follow(&segment));
        assert_eq!(passed, [0, 100, 0, 0]);
        let other = Segment { sequence: 50, from: server, to: client, ..syn };
        let data = Segment { sequence: 51, from: server, to: client, ..data };
        assert_eq!([other, data, data].map(|segment| pair.follow(&segment)), [0, 100, 0]);
        assert_eq!((pair.ends.client, pair.ends.server), (server, client));
    }
}
