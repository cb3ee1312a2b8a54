//! A run of wire packets of one super-packet, written as a smaller super-packet.
//!
//! The payload is never copied: a [`Run`] holds new headers and says which bytes of the original
//! frame follow them. The rules are those of the kernel's own segmentation, so that a split frame
//! cannot be told from what the sender's kernel would have put on a wire.

use std::ops::Range;

use super::Family;
use super::Layout;
use super::Shape;
use super::Transport;
use super::checksum::Sum;
use super::vnet;
use super::vnet::Vnet;

/// New headers for some wire packets of a frame, and where their payload is.
#[derive(Clone, Debug)]
pub struct Run {
    vnet: Vnet,
    headers: [u8; MAX_HEADERS],
    header_len: usize,
    payload: Range<usize>,
}

impl Run {
    /// The header to send before everything.
    pub fn vnet(&self) -> Vnet {
        self.vnet
    }

    /// Ethernet, IP and transport headers.
    pub fn headers(&self) -> &[u8] {
        &self.headers[..self.header_len]
    }

    /// Which bytes of the original frame follow the headers.
    pub fn payload(&self) -> Range<usize> {
        self.payload.clone()
    }

    /// The frame in one piece, without its [`Vnet`].
    pub fn to_frame(&self, original: &[u8]) -> Vec<u8> {
        [self.headers(), &original[self.payload()]].concat()
    }
}

impl Shape {
    /// Wire packets `first..end` of the frame of this shape.
    ///
    /// # Panics
    /// Where the frame is another one than this shape was read from, or the run is empty.
    pub fn run(&self, vnet: Vnet, frame: &[u8], wire: Range<u32>) -> Run {
        assert!(wire.start < wire.end && wire.end <= self.count, "no such run: {wire:?}");
        let layout = &self.layout;
        let header_len = layout.payload.min(MAX_HEADERS);
        let mut headers = [0; MAX_HEADERS];
        headers[..header_len].copy_from_slice(&frame[..header_len]);
        if self.count == 1 && vnet.gso_type == vnet::GSO_NONE {
            return Run { vnet, headers, header_len, payload: header_len..frame.len() };
        }
        let cut = Cut::of(self, &wire);
        rewrite(&mut headers[..header_len], layout, &cut);
        Run { vnet: cut.vnet(vnet, layout), headers, header_len, payload: cut.payload }
    }
}

/// Which part of a frame a run takes.
struct Cut {
    /// Index of its first wire packet.
    first: usize,
    /// How many wire packets it has.
    count: usize,
    /// True for the part with the last wire packet.
    is_tail: bool,
    /// Its bytes of the frame.
    payload: Range<usize>,
}

impl Cut {
    fn of(shape: &Shape, wire: &Range<u32>) -> Self {
        let layout = &shape.layout;
        let offset = |index: u32| {
            let bytes = usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(layout.segment);
            layout.payload.saturating_add(bytes).min(layout.end)
        };
        let is_tail = wire.end == shape.count;
        let end = if is_tail { layout.end } else { offset(wire.end) };
        Self {
            first: usize::try_from(wire.start).unwrap_or(usize::MAX),
            count: usize::try_from(wire.end - wire.start).unwrap_or(usize::MAX),
            is_tail,
            payload: offset(wire.start)..end,
        }
    }

    /// One wire packet needs no segmentation any more; a part without the first has no CWR.
    fn vnet(&self, original: Vnet, layout: &Layout) -> Vnet {
        let mut vnet = original;
        vnet.flags = vnet::NEEDS_CSUM;
        vnet.csum_start = u16::try_from(layout.l4).unwrap_or(u16::MAX);
        vnet.csum_offset = layout.transport.checksum_at();
        vnet.hdr_len = u16::try_from(layout.payload).unwrap_or(u16::MAX);
        if self.first > 0 {
            vnet.gso_type &= !vnet::GSO_ECN;
        }
        if self.count == 1 {
            (vnet.gso_type, vnet.gso_size) = (vnet::GSO_NONE, 0);
        }
        vnet
    }
}

/// Rewrites lengths, ids, sequence numbers, flags and the pseudo-header sum for a part.
fn rewrite(headers: &mut [u8], layout: &Layout, cut: &Cut) {
    let l4_len = layout.payload - layout.l4 + cut.payload.len();
    rewrite_ip(&mut headers[layout.l3..], layout, cut, layout.l4 - layout.l3 + l4_len);
    let addresses = layout.addresses();
    let pseudo = Sum::default()
        .bytes(&headers[addresses])
        .number(layout.transport.protocol())
        .number(l4_len)
        .fold();
    let transport = &mut headers[layout.l4..];
    match layout.transport {
        Transport::Tcp => rewrite_tcp(transport, layout, cut),
        Transport::Udp => put16(transport, 4, l4_len),
        Transport::Other(_) => return,
    }
    put16(transport, usize::from(layout.transport.checksum_at()), usize::from(pseudo));
}

fn rewrite_ip(header: &mut [u8], layout: &Layout, cut: &Cut, length: usize) {
    match layout.family {
        Family::V4 => {
            let id = usize::from(u16::from_be_bytes([header[4], header[5]]));
            put16(header, 2, length);
            put16(header, 4, id + cut.first);
            put16(header, 10, 0);
            let sum = Sum::default().bytes(&header[..layout.l4 - layout.l3]).fold();
            put16(header, 10, usize::from(!sum));
        }
        Family::V6 => put16(header, 4, length - 40),
    }
}

fn rewrite_tcp(header: &mut [u8], layout: &Layout, cut: &Cut) {
    let number = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    let moved = u32::try_from(cut.first * layout.segment).unwrap_or(u32::MAX);
    header[4..8].copy_from_slice(&number.wrapping_add(moved).to_be_bytes());
    if !cut.is_tail {
        header[13] &= !(TCP_FIN | TCP_PSH);
    }
    if cut.first > 0 {
        header[13] &= !TCP_CWR;
    }
}

impl Layout {
    /// Source and destination address, which are neighbours in both families.
    pub(super) fn addresses(&self) -> Range<usize> {
        match self.family {
            Family::V4 => self.l3 + 12..self.l3 + 20,
            Family::V6 => self.l3 + 8..self.l3 + 40,
        }
    }
}

impl Transport {
    fn protocol(self) -> usize {
        match self {
            Self::Other(number) => usize::from(number),
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }

    /// Offset of the checksum in the transport header.
    fn checksum_at(self) -> u16 {
        match self {
            Self::Other(_) => 0,
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }
}

/// Writes the low 16 bits of `number`, big endian.
fn put16(bytes: &mut [u8], at: usize, number: usize) {
    let low = u16::try_from(number & 0xffff).unwrap_or(u16::MAX);
    bytes[at..at + 2].copy_from_slice(&low.to_be_bytes());
}

/// Ethernet with two tags, IPv6 with some extensions, TCP with all options.
pub(super) const MAX_HEADERS: usize = 256;
const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;
