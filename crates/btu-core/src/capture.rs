//! Packets as capture files hold them: pcap and pcapng in, pcapng out.
//!
//! Pure: [`read`] makes records of a file's bytes and borrows from them, [`PcapNg`] makes bytes of
//! records. A file that ends early or was damaged gives what could be read, and
//! [`Missing`] says what could not.

mod error;
mod pcap;
mod pcapng;
mod remark;
mod words;
mod write;

#[cfg(test)]
mod tests;

use crate::units::Nanos;

pub use error::CaptureError;
pub use remark::FLIPPED;
pub use remark::Remark;
pub use remark::own_words;
pub use write::PcapNg;

/// One packet: when it passed, how long it was, and its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'p> {
    /// When it passed, since the epoch (or since the start, where nobody knows more).
    pub at: Nanos,
    /// Where it was seen: place in [`Capture::interfaces`].
    pub interface: u32,
    /// Whether it came or went there, where that is known.
    pub heading: Option<Heading>,
    /// Its length when it passed.
    pub original_bytes: u32,
    /// The bytes that were kept, from the link layer's header on.
    pub data: &'p [u8],
    /// What was remarked on it.
    pub comment: Option<&'p str>,
}

/// Whether a packet came or went where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// It came.
    Inbound,
    /// It went.
    Outbound,
}

/// Where packets were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name; empty where the file gives none.
    pub name: String,
    /// What its packets begin with.
    pub link_type: LinkType,
    /// Most bytes kept of a packet; zero means all.
    pub snap_bytes: u32,
}

/// What a packet begins with (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// An Ethernet header.
    Ethernet,
    /// Four bytes of protocol family, then IP.
    Loopback,
    /// Linux "cooked": 16 bytes, as `tcpdump -i any` once wrote.
    LinuxCooked,
    /// Linux "cooked", version 2: 20 bytes.
    LinuxCooked2,
    /// Something that is not understood here, by its number.
    Other(u16),
    /// An IPv4 or IPv6 header at once.
    Raw,
}

/// The content of a capture file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture<'p> {
    /// Where packets were seen.
    pub interfaces: Vec<Interface>,
    /// Every packet that could be read, in the file's order.
    pub packets: Vec<Packet<'p>>,
    /// What is not there.
    pub missing: Missing,
}

/// What a capture lacks: a figure of an incomplete capture is a lower bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Packets that whoever captured says it lost.
    pub dropped: u64,
    /// When its memory was full, where it says so: nothing that came later is here.
    pub full_since: Option<Nanos>,
    /// How many of the lost ones came since then.
    pub behind: u64,
    /// Bytes at the end of the file that could not be read.
    pub unread_bytes: u64,
    /// Packets in the file that could not be used.
    pub skipped: u64,
    /// Why, in sentences; the first few.
    pub notes: Vec<String>,
}

/// Reads a capture file, in whichever of the known formats it is.
///
/// # Errors
/// The bytes do not begin like a capture file, or nothing behind its header can be read.
pub fn read(file: &[u8]) -> Result<Capture<'_>, CaptureError> {
    if pcapng::begins(file) {
        return pcapng::read(file);
    }
    pcap::read(file)
}

impl Interface {
    /// An interface whose packets are kept whole.
    pub fn new(name: impl Into<String>, link_type: LinkType) -> Self {
        Self { name: name.into(), link_type, snap_bytes: 0 }
    }
}

impl LinkType {
    /// From the number in a file.
    pub const fn from_number(number: u16) -> Self {
        match number {
            0 | 108 => Self::Loopback,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::LinuxCooked,
            276 => Self::LinuxCooked2,
            other => Self::Other(other),
        }
    }

    /// The number in a file.
    pub const fn number(self) -> u16 {
        match self {
            Self::Ethernet => 1,
            Self::Loopback => 0,
            Self::LinuxCooked => 113,
            Self::LinuxCooked2 => 276,
            Self::Other(number) => number,
            Self::Raw => 101,
        }
    }
}

impl Missing {
    /// Remembers why something is not there; a long list says no more than its beginning.
    pub(crate) fn note(&mut self, text: String) {
        const MOST_NOTES: usize = 8;
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Packets that are missing between those that are there.
    pub const fn scattered(&self) -> u64 {
        self.dropped.saturating_sub(self.behind)
    }
}
