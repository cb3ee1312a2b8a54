//! From a captured packet to a TCP segment: link layer, VLAN tags, IPv4 or IPv6, TCP, options.
//!
//! Lengths come from the headers, not from what was kept: a capture of headers alone is enough. A
//! super-packet (GSO, GRO) is one segment as long as it was seen.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use super::segment::Endpoint;
use super::segment::Flags;
use super::segment::Options;
use super::segment::Segment;
use crate::capture::LinkType;
use crate::capture::Packet;

/// What a packet is that is no segment to an analyser of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// Too short or contradictory where its TCP header should be.
    Damaged,
    /// A part of an IP packet that does not begin with a TCP header.
    Fragment,
    /// Something else: ARP, UDP ...
    Other,
}

/// What follows the headers of a packet up to TCP; `None` where they are cut off or contradictory.
type Read = Option<Result<Segment, Unusable>>;

/// Reads the headers of a packet.
#[inline]
pub(super) fn segment(link_type: LinkType, packet: &Packet<'_>) -> Result<Segment, Unusable> {
    let Some((protocol, start)) = internet(link_type, packet.data) else {
        // Of a link layer that is not known nothing may have been kept.
        let is_cut = packet.data.is_empty() && !matches!(link_type, LinkType::Other(_));
        return Err(if is_cut { Unusable::Damaged } else { Unusable::Other });
    };
    let kept = packet.data.get(start..).unwrap_or_default();
    let before = u32::try_from(start).unwrap_or(u32::MAX);
    let original = packet.original_bytes.saturating_sub(before);
    let read = match protocol {
        IPV4 => ipv4(kept, original),
        IPV6 => ipv6(kept, original),
        _ => Some(Err(Unusable::Other)),
    };
    read.unwrap_or(Err(Unusable::Damaged)).map(|found| Segment { at: packet.at, ..found })
}

/// A packet of UDP (RFC 768) as if it were a segment: its ends and its payload, all else as nobody set it. The first
/// fragment of one stands for all.
pub(super) fn datagram(link_type: LinkType, packet: &Packet<'_>) -> Option<Segment> {
    let (protocol, start) = internet(link_type, packet.data)?;
    let data = packet.data.get(start..)?;
    let (carried, addresses) = match protocol {
        IPV4 => (carried_by_ipv4(data)?, addresses_v4(data)?),
        IPV6 => (carried_by_ipv6(data)?, addresses_v6(data)?),
        _ => return None,
    };
    let own = data.get(carried.start..).filter(|_| carried.protocol == UDP && carried.is_first)?;
    let [from, to] = addresses;
    Some(Segment {
        at: packet.at,
        from: Endpoint { address: from, port: word(own, 0)? },
        to: Endpoint { address: to, port: word(own, 2)? },
        payload: u32::from(word(own, 4)?.checked_sub(8)?),
        ..Segment::default()
    })
}

/// How many bytes of a packet are headers: of its link, of IP, and of what IP carries. Payload begins there.
///
/// Where a header is not understood the packet ends for us: what follows may be payload.
pub fn headers_end(link_type: LinkType, data: &[u8]) -> usize {
    let Some((protocol, start)) = internet(link_type, data) else {
        // A header that is cut off has nothing behind it.
        let known = match link_type {
            LinkType::Ethernet | LinkType::LinuxCooked | LinkType::LinuxCooked2 => data.len(),
            LinkType::Loopback => 4,
            LinkType::Other(_) | LinkType::Raw => 0,
        };
        return known.min(data.len());
    };
    let packet = data.get(start..).unwrap_or_default();
    let carried = match protocol {
        IPV4 => carried_by_ipv4(packet),
        IPV6 => carried_by_ipv6(packet),
        _ => None,
    };
    let behind_link = carried.map_or(0, |carried| carried.start + carried.header(packet));
    (start + behind_link).min(data.len())
}

/// What an IP packet carries.
#[derive(Clone, Copy, Debug)]
struct Carried {
    protocol: u8,
    /// Where it begins in the packet.
    start: usize,
    /// Whether it begins in this packet at all: later fragments have no header of it.
    is_first: bool,
}

impl Carried {
    /// How long its own header is: 0 where there is none, or none that is understood.
    fn header(self, packet: &[u8]) -> usize {
        let own = packet.get(self.start..).unwrap_or_default();
        match self.protocol {
            _ if !self.is_first => 0,
            ICMP | ICMPV6 | UDP => 8,
            TCP => tcp_header(own).unwrap_or(0),
            _ => 0,
        }
    }
}

/// The protocol behind the link layer's header, and where it begins.
#[inline]
fn internet(link_type: LinkType, data: &[u8]) -> Option<(u16, usize)> {
    match link_type {
        LinkType::Ethernet => untagged(data, word(data, 12)?, 14),
        LinkType::LinuxCooked => untagged(data, word(data, 14)?, 16),
        LinkType::LinuxCooked2 => untagged(data, word(data, 0)?, 20),
        LinkType::Loopback => by_version(data, 4),
        LinkType::Raw => by_version(data, 0),
        LinkType::Other(_) => None,
    }
}

/// Steps over VLAN tags (IEEE 802.1Q, 802.1ad).
#[inline]
fn untagged(data: &[u8], mut protocol: u16, mut start: usize) -> Option<(u16, usize)> {
    while matches!(protocol, 0x8100 | 0x88a8 | 0x9100) {
        protocol = word(data, start + 2)?;
        start += 4;
    }
    Some((protocol, start))
}

fn by_version(data: &[u8], start: usize) -> Option<(u16, usize)> {
    match data.get(start)? >> 4 {
        4 => Some((IPV4, start)),
        6 => Some((IPV6, start)),
        _ => None,
    }
}

/// RFC 791. A total length of zero is a super-packet beyond 64 KiB.
#[inline]
fn ipv4(data: &[u8], original: u32) -> Read {
    let carried = carried_by_ipv4(data)?;
    if carried.protocol != TCP {
        return Some(Err(Unusable::Other));
    }
    if !carried.is_first {
        return Some(Err(Unusable::Fragment));
    }
    let total = match u32::from(word(data, 2)?) {
        0 => original,
        total => total,
    };
    let rest = total.checked_sub(u32::try_from(carried.start).ok()?)?;
    let mut segment = tcp(data.get(carried.start..)?, rest, addresses_v4(data)?)?;
    segment.identification = word(data, 4);
    segment.is_congestion_marked = data[1] & 3 == 3;
    Some(Ok(segment))
}

/// Who sent, and who was to get it.
#[inline]
fn addresses_v4(data: &[u8]) -> Option<[IpAddr; 2]> {
    let address = |at: usize| -> Option<IpAddr> {
        let four: [u8; 4] = data.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(four).into())
    };
    Some([address(12)?, address(16)?])
}

#[inline]
fn carried_by_ipv4(data: &[u8]) -> Option<Carried> {
    let first = *data.first()?;
    let start = usize::from(first & 15) * 4;
    if first >> 4 != 4 || start < 20 {
        return None;
    }
    let (protocol, offset) = (*data.get(9)?, word(data, 6)? & 0x1fff);
    Some(Carried { protocol, start, is_first: offset == 0 })
}

/// RFC 8200. A payload length of zero is a jumbogram, which GSO makes too.
fn ipv6(data: &[u8], original: u32) -> Read {
    let carried = carried_by_ipv6(data)?;
    if !carried.is_first {
        return Some(Err(Unusable::Fragment));
    }
    if carried.protocol != TCP {
        return Some(Err(Unusable::Other));
    }
    let total = match u32::from(word(data, 4)?) {
        0 => original,
        length => length + 40,
    };
    let rest = total.checked_sub(u32::try_from(carried.start).ok()?)?;
    let mut segment = tcp(data.get(carried.start..)?, rest, addresses_v6(data)?)?;
    segment.is_congestion_marked = word(data, 0)? >> 4 & 3 == 3;
    Some(Ok(segment))
}

/// Who sent, and who was to get it.
fn addresses_v6(data: &[u8]) -> Option<[IpAddr; 2]> {
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = data.get(at..at + 16)?.try_into().ok()?;
        Some(Ipv6Addr::from(bytes).into())
    };
    Some([address(8)?, address(24)?])
}

fn carried_by_ipv6(data: &[u8]) -> Option<Carried> {
    if data.first()? >> 4 != 6 {
        return None;
    }
    let (mut protocol, mut start) = (*data.get(6)?, 40_usize);
    // Hop-by-hop options, routing, destination options: each begins with the next and its length.
    while matches!(protocol, 0 | 43 | 60) {
        let length = 8 + usize::from(*data.get(start + 1)?) * 8;
        (protocol, start) = (*data.get(start)?, start + length);
    }
    let mut is_first = true;
    if protocol == FRAGMENT {
        is_first = word(data, start + 2)? & 0xfff8 == 0;
        (protocol, start) = (*data.get(start)?, start + 8);
    }
    Some(Carried { protocol, start, is_first })
}

/// RFC 9293, 3.1; `length` is that of the segment with its header.
#[inline]
fn tcp(data: &[u8], length: u32, [from, to]: [IpAddr; 2]) -> Option<Segment> {
    let header = tcp_header(data)?;
    let payload = length.checked_sub(u32::try_from(header).ok()?)?;
    let options = data.get(20..header.min(data.len())).unwrap_or_default();
    Some(Segment {
        from: Endpoint { address: from, port: word(data, 0)? },
        to: Endpoint { address: to, port: word(data, 2)? },
        sequence: long(data, 4)?,
        acknowledged: long(data, 8)?,
        flags: Flags(*data.get(13)?),
        window: word(data, 14)?,
        payload,
        options: self::options(options),
        ..Segment::default()
    })
}

/// How long a TCP header is, with its options.
fn tcp_header(data: &[u8]) -> Option<usize> {
    let header = usize::from(*data.get(12)? >> 4) * 4;
    (header >= 20).then_some(header)
}

/// RFC 9293, 3.2; RFC 7323; RFC 2018. What is cut off or wrong ends the list.
#[inline]
fn options(mut rest: &[u8]) -> Options {
    let mut found = Options::default();
    while let Some((&kind, after)) = rest.split_first() {
        if kind == 0 {
            break;
        }
        if kind == 1 {
            rest = after;
            continue;
        }
        let Some(&length) = after.first() else { break };
        let Some(value) = rest.get(2..usize::from(length)) else { break };
        option(&mut found, kind, value);
        rest = &rest[usize::from(length).max(2)..];
    }
    found
}

fn option(found: &mut Options, kind: u8, value: &[u8]) {
    match (kind, value) {
        (2, _) => found.mss = word(value, 0),
        (3, [scale, ..]) => found.scale = Some((*scale).min(14)),
        (4, _) => found.sack_permitted = true,
        (5, _) => {
            for (place, block) in value.chunks_exact(8).take(4).enumerate() {
                found.sacks[place] = (long(block, 0).unwrap_or(0), long(block, 4).unwrap_or(0));
                found.sack_count = u8::try_from(place + 1).unwrap_or(4);
            }
        }
        (8, _) => found.stamps = long(value, 0).zip(long(value, 4)),
        _ => {}
    }
}

fn word(data: &[u8], at: usize) -> Option<u16> {
    let two: [u8; 2] = data.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(u16::from_be_bytes(two))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    let four: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const FRAGMENT: u8 = 44;
const ICMPV6: u8 = 58;
