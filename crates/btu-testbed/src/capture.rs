//! What passed an emulated link: one record per wire packet, with the times it came and went.
//!
//! The relay sees every packet anyway, so nothing is added to the hosts. The two stamps rebuild
//! what each end saw ([`Capture::seen_by`]): an end sent what came from it, at its arrival, and got
//! what went to it, at its release. Super-packets are recorded as the wire packets they stand for.

mod ear;
mod listen;
mod own;
mod pcapng;

use std::ops::Range;

use btu_core::capture::Remark;
use btu_core::units::Nanos;

use crate::segment::Shape;
use crate::segment::Vnet;

pub use ear::Ear;
pub use listen::Listening;
pub(crate) use listen::Watch;
pub use own::Connection;
pub use own::Own;
pub use own::is_same;
pub use pcapng::write_pcapng;

/// One wire packet at the emulator, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it came, on the monotonic clock.
    pub arrival: Nanos,
    /// When it was handed on; [`NEVER`] for one that was not.
    pub release: Nanos,
    /// Number of the frame that it came in.
    frame: u32,
    /// Its number among the wire packets of that frame.
    pub index: u32,
    /// Its size from the IP header on.
    pub l3: u32,
    /// TCP sequence number of its first byte; zero for other protocols.
    pub sequence: u32,
    /// TCP acknowledgement number.
    pub acknowledged: u32,
    /// Bytes behind the transport header.
    pub payload: u32,
    /// TCP window, not scaled.
    pub window: u16,
    /// TCP flags, FIN being the lowest bit.
    pub flags: u8,
    /// Which end sent it.
    pub from: End,
    /// What became of it.
    pub fate: Fate,
    /// Whether the link made it: its sender knows of one packet, its receiver gets two.
    pub is_copy: bool,
    /// Whether a bit of it was flipped. Its fields are those that its sender wrote.
    pub is_broken: bool,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its packets travel down.
    Far,
    /// Its packets travel up.
    Near,
}

/// What became of a wire packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// An element dropped it.
    Dropped,
    /// The management of a queue chose it.
    Managed,
    /// A queue had no place for it.
    QueueFull,
    /// It was still inside when the capture ended.
    Held,
    /// It was handed on.
    Passed,
}

/// The packets of one link, in order of arrival within each direction.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The link's name.
    pub link: String,
    /// Wall clock minus monotonic clock.
    pub wall_offset_ns: i64,
    /// Wire packets that passed and are not here.
    pub lost: u64,
    /// When the memory of the capture was full: nothing that came later is here, of either direction.
    pub full_since: Option<Nanos>,
    /// How many of the lost ones came since then.
    pub behind: u64,
    records: Vec<Record>,
    frames: Vec<FrameHead>,
    heads: Vec<u8>,
}

/// How a frame divides, and where its headers are.
#[derive(Clone, Copy, Debug)]
struct FrameHead {
    vnet: Vnet,
    shape: Shape,
    start: usize,
    length: usize,
}

/// A wire packet as an end saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen<'a> {
    /// When that end sent or got it, on the monotonic clock.
    pub at: Nanos,
    /// The packet.
    pub record: &'a Record,
}

impl Capture {
    /// Every wire packet.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// What `end` saw, in order of time: what it sent, dropped later or not, and what reached it.
    pub fn seen_by(&self, end: End) -> Vec<Seen<'_>> {
        let seen =
            |record: &Record| if record.from == end { record.arrival } else { record.release };
        let mut all: Vec<Seen<'_>> = self
            .records
            .iter()
            .filter(|record| !(record.is_copy && record.from == end))
            .map(|record| Seen { at: seen(record), record })
            .filter(|seen| seen.at < self.full_since.unwrap_or(NEVER))
            .collect();
        all.sort_by_key(|seen| seen.at);
        all
    }

    /// Ethernet, IP and transport headers of one wire packet, as they are on a wire but for the
    /// transport checksum, which the sender had left to its hardware.
    pub fn headers(&self, record: &Record) -> Vec<u8> {
        let number = usize::try_from(record.frame).unwrap_or(usize::MAX);
        let Some(head) = self.frames.get(number) else { return Vec::new() };
        let bytes = &self.heads[head.start..head.start + head.length];
        if head.shape.count == 1 {
            return bytes.to_vec();
        }
        let run = head.shape.run(head.vnet, bytes, record.index..record.index + 1);
        run.headers().to_vec()
    }

    /// The size of one wire packet with all headers, tags of VLANs included.
    fn wire_bytes(&self, record: &Record) -> u32 {
        let number = usize::try_from(record.frame).unwrap_or(usize::MAX);
        record.l3 + self.frames.get(number).map_or(0, |head| head.shape.link_layer())
    }

    /// Joins the two directions of a link.
    pub(crate) fn joined(mut self, other: Self) -> Self {
        let frames = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let bytes = self.heads.len();
        self.frames.extend(
            other.frames.iter().map(|head| FrameHead { start: head.start + bytes, ..*head }),
        );
        self.heads.extend(other.heads);
        self.records.extend(
            other.records.iter().map(|record| Record { frame: record.frame + frames, ..*record }),
        );
        self.lost += other.lost;
        self.behind += other.behind;
        let both = self.full_since.into_iter().chain(other.full_since);
        self.full_since = both.min();
        self.cut();
        self
    }

    /// Forgets what came since the memory was full: one direction without the answers of the other one
    /// looks like a connection that went silent.
    fn cut(&mut self) {
        let Some(full) = self.full_since else { return };
        let before = self.records.len();
        self.records.retain(|record| record.arrival < full);
        let gone = u64::try_from(before - self.records.len()).unwrap_or(0);
        (self.lost, self.behind) = (self.lost + gone, self.behind + gone);
    }
}

/// Takes records of one direction into memory that was reserved before.
#[derive(Debug)]
pub(crate) struct Recorder {
    from: End,
    limit: usize,
    capture: Capture,
}

impl Recorder {
    /// Room for `limit` wire packets.
    pub(crate) fn new(from: End, limit: usize) -> Self {
        let capture = Capture {
            records: Vec::with_capacity(limit),
            frames: Vec::with_capacity(limit),
            heads: Vec::with_capacity(limit * TYPICAL_HEADERS),
            ..Capture::default()
        };
        Self { from, limit, capture }
    }

    /// The wire packets of a frame that came. Returns where their records start; `None` where
    /// there was no room.
    pub(crate) fn arrived(
        &mut self,
        vnet: Vnet,
        shape: &Shape,
        frame: &[u8],
        arrival: Nanos,
    ) -> Option<usize> {
        let capture = &mut self.capture;
        let first = capture.records.len();
        let head = &frame[..shape.header_end().min(frame.len())];
        let count = usize::try_from(shape.count).unwrap_or(usize::MAX);
        let is_full = first.saturating_add(count) > self.limit
            || capture.heads.len() + head.len() > capture.heads.capacity();
        if is_full || capture.full_since.is_some() {
            capture.full_since.get_or_insert(arrival);
            capture.lost += u64::from(shape.count);
            capture.behind += u64::from(shape.count);
            return None;
        }
        let number = u32::try_from(capture.frames.len()).unwrap_or(u32::MAX);
        let start = capture.heads.len();
        capture.heads.extend_from_slice(head);
        capture.frames.push(FrameHead { vnet, shape: *shape, start, length: head.len() });
        let tcp = shape.tcp(frame).unwrap_or_default();
        capture.records.extend((0..shape.count).map(|index| Record {
            arrival,
            release: NEVER,
            frame: number,
            index,
            l3: shape.l3_of(index),
            sequence: tcp.sequence.wrapping_add(index * shape.segment_of_many()),
            acknowledged: tcp.acknowledged,
            payload: shape.payload_of(index),
            window: tcp.window,
            flags: flags_of(tcp.flags, index, shape.count),
            from: self.from,
            fate: Fate::Held,
            is_copy: false,
            is_broken: false,
        }));
        Some(first)
    }

    /// Some wire packets of a frame were handed on, with a flipped bit or as they came; again, where they were
    /// duplicated.
    pub(crate) fn released(&mut self, wire: Range<usize>, at: Nanos, is_broken: bool) {
        let capture = &mut self.capture;
        for index in wire {
            let Some(record) = capture.records.get_mut(index) else { return };
            let is_copy = record.fate == Fate::Passed;
            let passed = Record { release: at, fate: Fate::Passed, is_copy, is_broken, ..*record };
            if !is_copy {
                *record = passed;
            } else if capture.records.len() < self.limit {
                capture.records.push(passed);
            } else {
                capture.lost += 1;
            }
        }
    }

    /// A queue dropped some wire packets of a frame, of which no other copy was handed on.
    pub(crate) fn refused(&mut self, wire: Range<usize>, why: Remark) {
        let records = self.capture.records.get_mut(wire).unwrap_or_default();
        for record in records.iter_mut().filter(|record| record.fate == Fate::Held) {
            record.fate = if why == Remark::Managed { Fate::Managed } else { Fate::QueueFull };
        }
    }

    /// Nothing of a frame is inside any more: what was not handed on was dropped.
    pub(crate) fn left(&mut self, wire: Range<usize>) {
        let records = self.capture.records.get_mut(wire).unwrap_or_default();
        let held = records.iter_mut().filter(|record| record.fate == Fate::Held);
        held.for_each(|record| record.fate = Fate::Dropped);
    }

    /// Ends the recording, while frames may be inside.
    pub(crate) fn finish(self) -> Capture {
        self.capture
    }
}

/// As segmentation gives them out: the end of the data is told by the last, the answer to a mark of
/// congestion by the first (`tcp_gso_segment` in Linux' `net/ipv4/tcp_offload.c`).
fn flags_of(all: u8, index: u32, count: u32) -> u8 {
    let not_first = if index > 0 { !CWR } else { u8::MAX };
    let not_last = if index + 1 < count { !FIN_AND_PUSH } else { u8::MAX };
    all & not_first & not_last
}

/// The time of what did not happen.
pub const NEVER: Nanos = Nanos::MAX;
/// Ethernet, IPv4, TCP with time stamps: 66 bytes.
const TYPICAL_HEADERS: usize = 72;
const FIN_AND_PUSH: u8 = 0x09;
const CWR: u8 = 0x80;

#[cfg(test)]
mod tests;
