//! Records as a pcapng file that Wireshark, tcptrace and tcpdump read (draft-ietf-opsawg-pcapng).
//!
//! Times are nanoseconds. What was not kept of a packet is not there; its length is recorded beside.

use super::Heading;
use super::Interface;
use super::Packet;
use super::pcapng::BYTE_ORDER;
use super::pcapng::ENHANCED;
use super::pcapng::EPB_FLAGS;
use super::pcapng::FULL;
use super::pcapng::IF_NAME;
use super::pcapng::IF_RESOLUTION;
use super::pcapng::INTERFACE;
use super::pcapng::ISB_DROPS;
use super::pcapng::ISB_END;
use super::pcapng::ISB_SYSTEM_DROPS;
use super::pcapng::OPT_COMMENT;
use super::pcapng::OPT_END;
use super::pcapng::SECTION;
use super::pcapng::STATISTICS;
use crate::units::Nanos;

/// A pcapng file that is being made.
#[derive(Clone, Debug)]
pub struct PcapNg {
    out: Vec<u8>,
    interfaces: u32,
}

impl PcapNg {
    /// A file with a comment on all of it; empty for none.
    pub fn new(comment: &str) -> Self {
        let mut file = Self { out: Vec::new(), interfaces: 0 };
        let mut body = Vec::new();
        body.extend(BYTE_ORDER.to_le_bytes());
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend((-1_i64).to_le_bytes());
        if !comment.is_empty() {
            option(&mut body, OPT_COMMENT, comment.as_bytes());
            option(&mut body, OPT_END, &[]);
        }
        file.block(SECTION, &body);
        file
    }

    /// Adds an interface and gives its number, which its packets name.
    pub fn interface(&mut self, interface: &Interface) -> u32 {
        let mut body = Vec::new();
        body.extend(interface.link_type.number().to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend(interface.snap_bytes.to_le_bytes());
        option(&mut body, IF_NAME, interface.name.as_bytes());
        option(&mut body, IF_RESOLUTION, &[9]);
        option(&mut body, OPT_END, &[]);
        self.block(INTERFACE, &body);
        self.interfaces += 1;
        self.interfaces - 1
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        let mut body = Vec::with_capacity(packet.data.len() + 48);
        body.extend(packet.interface.to_le_bytes());
        body.extend(stamp(packet.at));
        body.extend(length(packet.data.len()).to_le_bytes());
        body.extend(packet.original_bytes.to_le_bytes());
        padded(&mut body, packet.data);
        if let Some(heading) = packet.heading {
            let flags: u32 = if heading == Heading::Inbound { 1 } else { 2 };
            option(&mut body, EPB_FLAGS, &flags.to_le_bytes());
        }
        if let Some(comment) = packet.comment {
            option(&mut body, OPT_COMMENT, comment.as_bytes());
        }
        if packet.heading.is_some() || packet.comment.is_some() {
            option(&mut body, OPT_END, &[]);
        }
        self.block(ENHANCED, &body);
    }

    /// Says how many packets the capture of an interface lost, as known at `at`.
    pub fn lost(&mut self, interface: u32, at: Nanos, packets: u64) {
        let mut body = Vec::new();
        body.extend(interface.to_le_bytes());
        body.extend(stamp(at));
        option(&mut body, ISB_DROPS, &packets.to_le_bytes());
        option(&mut body, OPT_END, &[]);
        self.block(STATISTICS, &body);
    }

    /// Says that the memory for the packets of an interface was full at `at`: `behind` packets came since
    /// then, and `lost` were lost before.
    pub fn full(&mut self, interface: u32, at: Nanos, lost: u64, behind: u64) {
        let mut body = Vec::new();
        body.extend(interface.to_le_bytes());
        body.extend(stamp(at));
        option(&mut body, OPT_COMMENT, FULL.as_bytes());
        option(&mut body, ISB_END, &stamp(at));
        option(&mut body, ISB_DROPS, &lost.to_le_bytes());
        option(&mut body, ISB_SYSTEM_DROPS, &behind.to_le_bytes());
        option(&mut body, OPT_END, &[]);
        self.block(STATISTICS, &body);
    }

    /// What was made since the last call: for writing a long capture piece by piece.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// The rest of the file.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Kind, length, body, length.
    fn block(&mut self, kind: u32, body: &[u8]) {
        let total = length(body.len() + 12).to_le_bytes();
        self.out.extend(kind.to_le_bytes());
        self.out.extend(total);
        self.out.extend(body);
        self.out.extend(total);
    }
}

/// The upper, then the lower half.
fn stamp(at: Nanos) -> [u8; 8] {
    at.count().rotate_left(32).to_le_bytes()
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    body.extend(code.to_le_bytes());
    body.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
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
