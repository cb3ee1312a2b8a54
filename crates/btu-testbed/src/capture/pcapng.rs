//! Captures as pcapng files (draft-ietf-opsawg-pcapng), for Wireshark, tcptrace and tcpdump.
//!
//! Times are wall clock, in nanoseconds. Of each packet only the headers are kept; its full length
//! is recorded beside.

use std::io;
use std::io::Write;

use super::Capture;
use super::End;
use super::Fate;
use super::Seen;

/// Writes what `end` saw of the link.
pub fn write_pcapng(out: &mut impl Write, capture: &Capture, end: End) -> io::Result<()> {
    section(out)?;
    interface(out, &capture.link)?;
    capture.seen_by(end).iter().try_for_each(|seen| packet(out, capture, seen, end))
}

/// The section header: byte order of this machine, version 1.0, length not given.
fn section(out: &mut impl Write) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(BYTE_ORDER_MAGIC.to_ne_bytes());
    body.extend(1_u16.to_ne_bytes());
    body.extend(0_u16.to_ne_bytes());
    body.extend((-1_i64).to_ne_bytes());
    block(out, SECTION_HEADER, &body)
}

/// One Ethernet interface with times in units of 10^-9 s.
fn interface(out: &mut impl Write, name: &str) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(LINKTYPE_ETHERNET.to_ne_bytes());
    body.extend(0_u16.to_ne_bytes());
    body.extend(0_u32.to_ne_bytes());
    option(&mut body, IF_NAME, name.as_bytes());
    option(&mut body, IF_TSRESOL, &[9]);
    option(&mut body, OPT_END, &[]);
    block(out, INTERFACE, &body)
}

fn packet(out: &mut impl Write, capture: &Capture, seen: &Seen<'_>, end: End) -> io::Result<()> {
    let headers = capture.headers(seen.record);
    let wall = seen.at.count().saturating_add_signed(capture.wall_offset_ns);
    let stamp = wall.to_be_bytes();
    let word = |bytes: &[u8]| bytes.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    let mut body = Vec::new();
    body.extend(0_u32.to_ne_bytes());
    body.extend(word(&stamp[..4]).to_ne_bytes());
    body.extend(word(&stamp[4..]).to_ne_bytes());
    body.extend(length(headers.len()).to_ne_bytes());
    body.extend((seen.record.l3 + ETHERNET_HEADER).to_ne_bytes());
    padded(&mut body, &headers);
    let direction: u32 = if seen.record.from == end { OUTBOUND } else { INBOUND };
    option(&mut body, EPB_FLAGS, &direction.to_ne_bytes());
    if seen.record.fate == Fate::Dropped {
        option(&mut body, OPT_COMMENT, b"dropped by the emulated link");
    }
    option(&mut body, OPT_END, &[]);
    block(out, ENHANCED_PACKET, &body)
}

/// Type, length, body, length.
fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let total = length(body.len() + 12).to_ne_bytes();
    out.write_all(&kind.to_ne_bytes())?;
    out.write_all(&total)?;
    out.write_all(body)?;
    out.write_all(&total)
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_ne_bytes());
    body.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_ne_bytes());
    padded(body, value);
}

/// Everything starts at a multiple of four bytes.
fn padded(body: &mut Vec<u8>, value: &[u8]) {
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const LINKTYPE_ETHERNET: u16 = 1;
const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
const ETHERNET_HEADER: u32 = 14;
