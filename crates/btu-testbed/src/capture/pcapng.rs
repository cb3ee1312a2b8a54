//! Captures as pcapng files, for Wireshark, tcptrace, tcpdump and our own analysis.
//!
//! Times are wall clock, in nanoseconds. Of each packet only the headers are kept; its full length
//! is recorded beside. A link is an interface, named after it.

use std::io;
use std::io::Write;

use btu_core::capture::FLIPPED;
use btu_core::capture::Heading;
use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::Packet;
use btu_core::capture::PcapNg;
use btu_core::capture::Remark;
use btu_core::units::Nanos;

use super::Capture;
use super::End;
use super::Fate;
use super::Record;
use super::Seen;

/// Writes what this end of these links saw, in order of time. Tells how many packets that are.
pub fn write_pcapng(out: &mut impl Write, captures: &[Capture], end: End) -> io::Result<u64> {
    let mut file = PcapNg::new("");
    let interface = |name: &String| Interface::new(name.clone(), LinkType::Ethernet);
    let numbers: Vec<u32> =
        captures.iter().map(|one| file.interface(&interface(&one.link))).collect();
    let mut all = Vec::new();
    for (capture, number) in captures.iter().zip(&numbers) {
        all.extend(capture.seen_by(end).into_iter().map(|seen| (seen.at, *number, seen.record)));
    }
    all.sort_by_key(|(at, ..)| *at);
    for chunk in all.chunks(PACKETS_AT_ONCE) {
        for (at, number, record) in chunk {
            let capture = &captures[usize::try_from(*number).unwrap_or_default()];
            packet(&mut file, capture, *number, Seen { at: *at, record }, end);
        }
        out.write_all(&file.take())?;
    }
    let ended = all.last().map_or(Nanos::ZERO, |(at, ..)| *at);
    for (capture, number) in captures.iter().zip(&numbers).filter(|(one, _)| one.lost > 0) {
        let lost = capture.lost - capture.behind;
        match capture.full_since {
            Some(full) => file.full(*number, capture.wall(full), lost, capture.behind),
            None => file.lost(*number, capture.wall(ended), lost),
        }
    }
    out.write_all(&file.finish())?;
    Ok(u64::try_from(all.len()).unwrap_or(u64::MAX))
}

fn packet(file: &mut PcapNg, capture: &Capture, interface: u32, seen: Seen<'_>, end: End) {
    let came = seen.record.from != end;
    file.packet(&Packet {
        at: capture.wall(seen.at),
        interface,
        heading: Some(if came { Heading::Inbound } else { Heading::Outbound }),
        original_bytes: capture.wire_bytes(seen.record),
        data: &capture.headers(seen.record),
        comment: remark(seen.record),
    });
}

/// What is remarked on a packet that the sender saw leave and nobody saw come, and on one that came otherwise than it left.
fn remark(record: &Record) -> Option<&'static str> {
    match record.fate {
        Fate::Dropped => Some(Remark::Dropped.text()),
        Fate::Managed => Some(Remark::Managed.text()),
        Fate::QueueFull => Some(Remark::QueueFull.text()),
        Fate::Held | Fate::Passed => record.is_broken.then_some(FLIPPED),
    }
}

impl Capture {
    /// A moment of the monotonic clock on the wall clock.
    fn wall(&self, at: Nanos) -> Nanos {
        Nanos::new(at.count().saturating_add_signed(self.wall_offset_ns))
    }
}

/// Packets made before they are written.
const PACKETS_AT_ONCE: usize = 1000;
