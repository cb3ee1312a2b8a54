//! The classic format: a header of 24 bytes, then 16 bytes before each packet
//! (draft-ietf-opsawg-pcap).

use super::Capture;
use super::CaptureError;
use super::Interface;
use super::LinkType;
use super::Packet;
use super::words::Order;
use super::words::place;
use crate::units::Nanos;

/// What the first header says.
struct Header {
    order: Order,
    /// Nanoseconds per unit of the fraction of a second.
    fraction: u64,
}

pub(super) fn read(file: &[u8]) -> Result<Capture<'_>, CaptureError> {
    let header = header(file)?;
    let Some(records) = file.get(HEADER..) else {
        return Err(CaptureError::Short { bytes: file.len() });
    };
    let mut capture = Capture { interfaces: vec![interface(file, &header)], ..Capture::default() };
    let mut rest = records;
    while !rest.is_empty() {
        let Some((packet, length)) = packet(rest, &header) else {
            capture.missing.unread_bytes = rest.len() as u64;
            let number = capture.packets.len() + 1;
            capture.missing.note(format!(
                "the file ends, or is damaged, inside packet {number}: {} bytes not read",
                rest.len()
            ));
            break;
        };
        capture.packets.push(packet);
        rest = &rest[length..];
    }
    Ok(capture)
}

/// The magic number tells the byte order and the unit of time.
fn header(file: &[u8]) -> Result<Header, CaptureError> {
    if file.is_empty() {
        return Err(CaptureError::Empty);
    }
    let found = [Order::Little, Order::Big].into_iter().find_map(|order| {
        let fraction = match order.long(file, 0)? {
            0xa1b2_c3d4 => 1000,
            0xa1b2_3c4d => 1,
            _ => return None,
        };
        Some(Header { order, fraction })
    });
    let header = found.ok_or_else(|| CaptureError::other_format(file))?;
    let version = (header.order.word(file, 4), header.order.word(file, 6));
    match version {
        (None, _) | (_, None) => Err(CaptureError::Short { bytes: file.len() }),
        (Some(2), _) => Ok(header),
        (Some(major), Some(minor)) => Err(CaptureError::Version {
            format: "pcap",
            version: format!("{major}.{minor}"),
            known: "2.x",
        }),
    }
}

fn interface(file: &[u8], header: &Header) -> Interface {
    let number = header.order.long(file, 20).unwrap_or(0).to_be_bytes();
    let link_type = LinkType::from_number(u16::from_be_bytes([number[2], number[3]]));
    let snap_bytes = header.order.long(file, 16).unwrap_or(0);
    Interface { name: String::new(), link_type, snap_bytes }
}

/// The packet at the start of `rest`, and how many bytes it takes there.
fn packet<'p>(rest: &'p [u8], header: &Header) -> Option<(Packet<'p>, usize)> {
    let long = |at| header.order.long(rest, at);
    let (seconds, fraction, kept, original) = (long(0)?, long(4)?, long(8)?, long(12)?);
    let end = RECORD.checked_add(place(kept))?;
    let data = rest.get(RECORD..end)?;
    // A second has no more parts than these: where it has, this is no record.
    if u64::from(fraction) * header.fraction >= 2_000_000_000 {
        return None;
    }
    let at = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * header.fraction;
    let original_bytes = original.max(kept);
    let packet = Packet {
        at: Nanos::new(at),
        interface: 0,
        heading: None,
        original_bytes,
        data,
        comment: None,
    };
    Some((packet, end))
}

const HEADER: usize = 24;
const RECORD: usize = 16;
