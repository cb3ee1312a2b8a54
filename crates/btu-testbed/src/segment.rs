//! Super-packets and their wire packets: what a frame with a `virtio_net_hdr` will be on a wire.
//!
//! An offloading kernel hands one frame of up to 64 KiB that stands for many packets. Elements
//! count and drop wire packets, so each frame is read once into a [`Shape`], and any run of its
//! wire packets can be written again as one smaller super-packet ([`Shape::run`]).

mod checksum;
mod corrupt;
mod run;
mod vnet;

use std::net::IpAddr;
use std::net::SocketAddr;

pub use corrupt::corrupted;
pub use run::Run;
pub use vnet::VNET_LEN;
pub use vnet::Vnet;

/// What a frame is to the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// IP unicast: wire packets to count.
    Counted(Shape),
    /// A super-packet that is not understood; it passes whole and is counted as opaque.
    Opaque {
        /// Its size from the IP header on.
        l3: u32,
    },
    /// ARP, neighbour discovery, multicast and whatever is not IP: it passes uncounted.
    Uncounted,
}

/// How a frame divides into wire packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many wire packets it is; at least one.
    pub count: u32,
    /// Size of each from the IP header on, all but the last.
    pub l3_full: u32,
    /// Size of the last from the IP header on.
    pub l3_last: u32,
    layout: Layout,
}

/// What a TCP header says of the first wire packet of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFields {
    /// Number of the first byte.
    pub sequence: u32,
    /// Number of the byte that is expected from the other end.
    pub acknowledged: u32,
    /// FIN is the lowest bit.
    pub flags: u8,
    /// Window, not scaled.
    pub window: u16,
}

/// Where the headers of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    family: Family,
    transport: Transport,
    /// Offset of the IP header.
    l3: usize,
    /// Offset of the transport header.
    l4: usize,
    /// Offset of the payload after the transport header.
    payload: usize,
    /// One past the last byte of the IP packet.
    end: usize,
    /// Payload bytes of each wire packet but the last.
    segment: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

/// The part of a packet behind the IP header, as far as splitting needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    /// A fragment, or a protocol that is never split.
    Other(u8),
    Tcp,
    Udp,
}

/// Reads a frame that starts with its Ethernet header.
pub fn read(vnet: Vnet, frame: &[u8]) -> Frame {
    read_head(vnet, frame, frame.len())
}

/// Reads the beginning of a frame of `whole` bytes that starts with its Ethernet header.
pub fn read_head(vnet: Vnet, frame: &[u8], whole: usize) -> Frame {
    let Some((ethertype, l3)) = ethertype(frame) else { return Frame::Uncounted };
    let is_group_frame = frame[0] & 1 == 1;
    let layout = match ethertype {
        _ if is_group_frame => return Frame::Uncounted,
        ETHERTYPE_IPV4 => ipv4(frame, l3, whole),
        ETHERTYPE_IPV6 => ipv6(frame, l3, whole),
        _ => return Frame::Uncounted,
    };
    match layout {
        Packet::Group => Frame::Uncounted,
        Packet::Unknown => shape(vnet, Layout::without_headers(ethertype, l3, whole)),
        Packet::Unicast(layout) => shape(vnet, layout),
    }
}

impl Shape {
    /// Size of the headers that every wire packet has, from the IP header on; zero where the frame
    /// is one packet in one piece.
    pub fn headers(&self) -> u32 {
        if self.layout.segment == 0 { 0 } else { narrow(self.layout.payload - self.layout.l3) }
    }

    /// Payload of every wire packet but the last.
    pub fn segment(&self) -> u32 {
        if self.layout.segment == 0 { self.l3_full } else { narrow(self.layout.segment) }
    }

    /// Payload of all wire packets together.
    pub fn payload(&self) -> u32 {
        if self.layout.segment == 0 {
            self.l3_full
        } else {
            narrow(self.layout.end - self.layout.payload)
        }
    }

    /// The same number for all packets of one flow: a hash (FNV-1a) of addresses and ports.
    pub fn flow(&self, frame: &[u8]) -> u32 {
        let ports = match self.layout.transport {
            Transport::Other(_) => self.layout.l4..self.layout.l4,
            Transport::Tcp | Transport::Udp => self.layout.l4..self.layout.l4 + 4,
        };
        let key = [self.layout.addresses(), ports].map(|range| frame.get(range));
        let bytes = key.into_iter().flatten().flatten();
        bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }

    /// Size of what is before the IP header: Ethernet, and tags of VLANs.
    pub fn link_layer(&self) -> u32 {
        narrow(self.layout.l3)
    }

    /// One past what a capture keeps, from the Ethernet header on: all headers, and of protocols
    /// without known ones the first bytes behind the IP header.
    pub fn header_end(&self) -> usize {
        match self.layout.transport {
            Transport::Other(_) => (self.layout.l4 + OTHER_HEADER).min(self.layout.end),
            Transport::Tcp | Transport::Udp => self.layout.payload,
        }
    }

    /// Payload of wire packet `index`, behind the transport header.
    pub fn payload_of(&self, index: u32) -> u32 {
        self.l3_of(index) - narrow(self.layout.payload - self.layout.l3)
    }

    /// Payload of the wire packets before the last of a super-packet; zero for a single packet.
    pub fn segment_of_many(&self) -> u32 {
        narrow(self.layout.segment)
    }

    /// Source and destination of a TCP segment; `None` for other protocols.
    pub fn ends(&self, frame: &[u8]) -> Option<[SocketAddr; 2]> {
        if self.layout.transport != Transport::Tcp {
            return None;
        }
        let addresses = frame.get(self.layout.addresses())?;
        let (from, to) = addresses.split_at(addresses.len() / 2);
        let port = |at: usize| be16(frame, self.layout.l4 + at);
        Some([SocketAddr::new(ip(from)?, port(0)?), SocketAddr::new(ip(to)?, port(2)?)])
    }

    /// The TCP header's fields; `None` for other protocols.
    pub fn tcp(&self, frame: &[u8]) -> Option<TcpFields> {
        if self.layout.transport != Transport::Tcp {
            return None;
        }
        let header: &[u8; 20] = frame.get(self.layout.l4..)?.first_chunk()?;
        let word = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        Some(TcpFields {
            sequence: word(4),
            acknowledged: word(8),
            flags: header[13],
            window: u16::from_be_bytes([header[14], header[15]]),
        })
    }

    /// Size from the IP header on of wire packet `index`.
    pub fn l3_of(&self, index: u32) -> u32 {
        if index + 1 == self.count { self.l3_last } else { self.l3_full }
    }
}

impl Layout {
    /// A packet whose headers make no sense: it is counted, and never split.
    fn without_headers(ethertype: u16, l3: usize, end: usize) -> Self {
        let family = if ethertype == ETHERTYPE_IPV4 { Family::V4 } else { Family::V6 };
        let transport = Transport::Other(PROTOCOL_NONE);
        Self { family, transport, l3, l4: l3, payload: l3, end, segment: 0 }
    }
}

/// What the IP header says.
enum Packet {
    Group,
    Unicast(Layout),
    Unknown,
}

/// Divides an IP packet by its GSO type (`linux/virtio_net.h`).
fn shape(vnet: Vnet, layout: Layout) -> Frame {
    let l3 = narrow(layout.end - layout.l3);
    if vnet.gso_type == vnet::GSO_NONE {
        return Frame::Counted(Shape { count: 1, l3_full: l3, l3_last: l3, layout });
    }
    let segment = usize::from(vnet.gso_size);
    let fits = matches!(
        (vnet.gso_type & !vnet::GSO_ECN, layout.family, layout.transport),
        (vnet::GSO_TCPV4, Family::V4, Transport::Tcp)
            | (vnet::GSO_TCPV6, Family::V6, Transport::Tcp)
            | (vnet::GSO_UDP_L4, _, Transport::Udp)
    );
    let payload = layout.end - layout.payload;
    if !fits || segment == 0 || layout.payload > run::MAX_HEADERS {
        return Frame::Opaque { l3 };
    }
    let count = payload.div_ceil(segment).max(1);
    let headers = layout.payload - layout.l3;
    Frame::Counted(Shape {
        count: narrow(count),
        l3_full: narrow(headers + segment.min(payload)),
        l3_last: narrow(headers + payload - (count - 1) * segment),
        layout: Layout { segment, ..layout },
    })
}

/// The `EtherType` behind at most two VLAN tags, and where its packet starts.
fn ethertype(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = ETHERNET_ADDRESSES;
    for _ in 0..=MAX_TAGS {
        let found = be16(frame, at)?;
        at += 2;
        if found != ETHERTYPE_VLAN && found != ETHERTYPE_QINQ {
            return Some((found, at));
        }
        at += 2;
    }
    None
}

fn ipv4(frame: &[u8], l3: usize, whole: usize) -> Packet {
    let Some(header) = frame.get(l3..l3 + 20) else { return Packet::Unknown };
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let end = (l3 + total).min(whole);
    if header[0] >> 4 != 4 || length < 20 || total < length || end < l3 + length {
        return Packet::Unknown;
    }
    if header[16] >> 4 == 14 || header[16..20] == [255; 4] {
        return Packet::Group;
    }
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    let found = IpHeader { family: Family::V4, l3, l4: l3 + length, end };
    found.with_transport(frame, if is_fragment { PROTOCOL_NONE } else { header[9] })
}

fn ipv6(frame: &[u8], l3: usize, whole: usize) -> Packet {
    let Some(header) = frame.get(l3..l3 + 40) else { return Packet::Unknown };
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    if header[0] >> 4 != 6 || length == 0 {
        return Packet::Unknown;
    }
    if header[24] == 0xff {
        return Packet::Group;
    }
    let end = (l3 + 40 + length).min(whole);
    let packet = &frame[..end.min(frame.len())];
    let Some((protocol, l4)) = last_header(packet, header[6], l3 + 40) else {
        return Packet::Unknown;
    };
    let is_group =
        protocol == PROTOCOL_ICMPV6 && packet.get(l4).copied().is_some_and(is_housekeeping);
    if is_group {
        return Packet::Group;
    }
    IpHeader { family: Family::V6, l3, l4, end }.with_transport(frame, protocol)
}

/// Multicast listener (130-132, 143) and neighbour discovery (133-137) messages of `ICMPv6`.
fn is_housekeeping(kind: u8) -> bool {
    matches!(kind, 130..=137 | 143)
}

/// Walks the extension headers of RFC 8200; a fragment ends the walk.
fn last_header(packet: &[u8], first: u8, start: usize) -> Option<(u8, usize)> {
    let (mut protocol, mut at) = (first, start);
    for _ in 0..MAX_EXTENSIONS {
        let units = match protocol {
            PROTOCOL_FRAGMENT => return Some((PROTOCOL_NONE, at)),
            PROTOCOL_HOP_BY_HOP | PROTOCOL_ROUTING | PROTOCOL_DESTINATION => 8,
            PROTOCOL_AUTHENTICATION => 4,
            _ => return Some((protocol, at)),
        };
        let [next, length] = packet.get(at..at + 2)?.try_into().ok()?;
        let fixed = if units == 4 { 2 } else { 1 };
        at += (usize::from(length) + fixed) * units;
        protocol = next;
    }
    None
}

/// An IP header whose transport header is not read yet.
struct IpHeader {
    family: Family,
    l3: usize,
    l4: usize,
    end: usize,
}

impl IpHeader {
    fn with_transport(&self, frame: &[u8], protocol: u8) -> Packet {
        let packet = &frame[..self.end.min(frame.len())];
        let (transport, payload) = match protocol {
            PROTOCOL_TCP => {
                let words = packet.get(self.l4 + 12).map_or(0, |byte| usize::from(byte >> 4));
                (Transport::Tcp, self.l4 + words.max(5) * 4)
            }
            PROTOCOL_UDP => (Transport::Udp, self.l4 + 8),
            other => (Transport::Other(other), self.l4),
        };
        let Self { family, l3, l4, end } = *self;
        if payload > end {
            return Packet::Unknown;
        }
        Packet::Unicast(Layout { family, transport, l3, l4, payload, end, segment: 0 })
    }
}

/// An address of either family.
fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

/// Frames are at most 64 KiB and a few headers.
fn narrow(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Enough for ICMP and what it quotes.
const OTHER_HEADER: usize = 36;
const ETHERNET_ADDRESSES: usize = 12;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
const MAX_TAGS: usize = 2;
const MAX_EXTENSIONS: usize = 8;
const PROTOCOL_HOP_BY_HOP: u8 = 0;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_ROUTING: u8 = 43;
const PROTOCOL_FRAGMENT: u8 = 44;
const PROTOCOL_AUTHENTICATION: u8 = 51;
const PROTOCOL_ICMPV6: u8 = 58;
/// "No next header" of RFC 8200: nothing behind it is looked at.
const PROTOCOL_NONE: u8 = 59;
const PROTOCOL_DESTINATION: u8 = 60;

#[cfg(test)]
mod tests;
