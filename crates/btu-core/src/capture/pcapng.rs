//! The block format of Wireshark and of newer tcpdumps (draft-ietf-opsawg-pcapng).

use super::Capture;
use super::CaptureError;
use super::Heading;
use super::Interface;
use super::LinkType;
use super::Packet;
use super::words::Order;
use super::words::place;
use crate::units::Nanos;

/// Where a reader is: sections may differ in byte order and number their interfaces anew.
struct Reader<'p> {
    order: Order,
    capture: Capture<'p>,
    /// Clocks of the interfaces of this section.
    clocks: Vec<Clock>,
    /// Place of this section's first interface.
    first: u32,
    last: Nanos,
}

/// How an interface counts time.
#[derive(Clone, Copy)]
struct Clock {
    /// `if_tsresol`: a power of ten, or of two where the highest bit is set.
    resolution: u8,
    /// `if_tsoffset` in seconds.
    offset: i64,
}

pub(super) fn begins(file: &[u8]) -> bool {
    file.starts_with(&SECTION.to_be_bytes())
}

pub(super) fn read(file: &[u8]) -> Result<Capture<'_>, CaptureError> {
    let order = order(file)?;
    let version = order.word(file, 12).ok_or(CaptureError::Short { bytes: file.len() })?;
    if version != 1 {
        return Err(CaptureError::Version {
            format: "pcapng",
            version: version.to_string(),
            known: "1",
        });
    }
    let capture = Capture::default();
    let mut reader = Reader { order, capture, clocks: Vec::new(), first: 0, last: Nanos::ZERO };
    let mut rest = file;
    while !rest.is_empty() {
        let Some(length) = reader.block(rest) else {
            reader.stopped(rest.len(), file.len());
            break;
        };
        rest = &rest[length..];
    }
    Ok(reader.capture)
}

fn order(file: &[u8]) -> Result<Order, CaptureError> {
    let orders = [Order::Little, Order::Big];
    let found = orders.into_iter().find(|order| order.long(file, 8) == Some(BYTE_ORDER));
    let short = file.len() < 12;
    found.ok_or_else(|| {
        if short {
            CaptureError::Short { bytes: file.len() }
        } else {
            CaptureError::other_format(&file[8..])
        }
    })
}

impl<'p> Reader<'p> {
    /// Reads one block and says how long it is; `None` where the file ends or is damaged.
    fn block(&mut self, rest: &'p [u8]) -> Option<usize> {
        let kind = self.order.long(rest, 0)?;
        if kind == SECTION {
            self.order = order(rest).ok()?;
        }
        let length = place(self.order.long(rest, 4)?);
        let whole = rest.get(..length)?;
        if length < FRAME || !length.is_multiple_of(4) {
            return None;
        }
        // Both ends of a block hold its length: without that, what follows is no block.
        if self.order.long(whole, length - 4)? != self.order.long(rest, 4)? {
            return None;
        }
        let body = &whole[8..length - 4];
        match kind {
            SECTION => self.section(),
            INTERFACE => self.interface(body),
            ENHANCED => self.enhanced(body),
            SIMPLE => self.simple(body),
            OBSOLETE => self.obsolete(body),
            STATISTICS => self.statistics(body),
            _ => {}
        }
        Some(length)
    }

    fn section(&mut self) {
        self.clocks.clear();
        self.first = u32::try_from(self.capture.interfaces.len()).unwrap_or(u32::MAX);
    }

    fn interface(&mut self, body: &'p [u8]) {
        let number = self.order.word(body, 0).unwrap_or(u16::MAX);
        let mut interface = Interface::new("", LinkType::from_number(number));
        interface.snap_bytes = self.order.long(body, 4).unwrap_or(0);
        let mut clock = Clock { resolution: 6, offset: 0 };
        for (code, value) in self.options(body, 8) {
            match (code, value) {
                (IF_NAME, name) => interface.name = String::from_utf8_lossy(name).into_owned(),
                (IF_RESOLUTION, [resolution, ..]) => clock.resolution = *resolution,
                (IF_OFFSET, _) => {
                    clock.offset = self.order.quad(value, 0).unwrap_or(0).cast_signed();
                }
                _ => {}
            }
        }
        self.clocks.push(clock);
        self.capture.interfaces.push(interface);
    }

    fn enhanced(&mut self, body: &'p [u8]) {
        let long = |at| self.order.long(body, at);
        let fields = (long(0), long(4), long(8), long(12), long(16));
        let (Some(interface), Some(high), Some(low), Some(kept), Some(original)) = fields else {
            return self.skip("a packet block without its fields");
        };
        let Some(mut packet) = self.packet(body, 20, interface, [high, low], [kept, original])
        else {
            return self.skip("a packet longer than its block, or of an unknown interface");
        };
        for (code, value) in self.options(body, 20 + place(kept).next_multiple_of(4)) {
            match code {
                OPT_COMMENT => packet.comment = std::str::from_utf8(value).ok(),
                EPB_FLAGS => packet.heading = heading(self.order.long(value, 0)),
                EPB_DROPS => self.dropped(self.order.quad(value, 0).unwrap_or(0)),
                _ => {}
            }
        }
        self.capture.packets.push(packet);
    }

    fn obsolete(&mut self, body: &'p [u8]) {
        let long = |at| self.order.long(body, at);
        let fields = (self.order.word(body, 0), long(4), long(8), long(12), long(16));
        let (Some(interface), Some(high), Some(low), Some(kept), Some(original)) = fields else {
            return self.skip("a packet block without its fields");
        };
        let found = self.packet(body, 20, interface.into(), [high, low], [kept, original]);
        match found {
            Some(packet) => self.capture.packets.push(packet),
            None => self.skip("a packet longer than its block, or of an unknown interface"),
        }
    }

    /// A block without a time: it gets that of the packet before it.
    fn simple(&mut self, body: &'p [u8]) {
        let original = self.order.long(body, 0);
        let (Some(original), Some(interface)) =
            (original, self.capture.interfaces.get(place(self.first)))
        else {
            return self.skip("a packet of an unknown interface");
        };
        let most = if interface.snap_bytes == 0 { u32::MAX } else { interface.snap_bytes };
        let kept = place(original.min(most)).min(body.len().saturating_sub(4));
        let data = body.get(4..4 + kept).unwrap_or_default();
        self.capture.missing.note("some packets have no time of their own".to_owned());
        let interface = self.first;
        self.capture.packets.push(Packet {
            at: self.last,
            interface,
            heading: None,
            original_bytes: original,
            data,
            comment: None,
        });
    }

    /// What was lost. Others give an end and the drops of the system of any capture, so only the mark of
    /// our own files says that the drops came since that end.
    fn statistics(&mut self, body: &'p [u8]) {
        let clock = self
            .order
            .long(body, 0)
            .and_then(|interface| self.clocks.get(place(interface)).copied());
        let (mut is_full, mut ended, mut behind) = (false, None, 0);
        for (code, value) in self.options(body, 12) {
            let count = self.order.quad(value, 0).unwrap_or(0);
            match code {
                ISB_DROPS => self.dropped(count),
                ISB_SYSTEM_DROPS => behind = count,
                OPT_COMMENT => is_full |= value == FULL.as_bytes(),
                // Both halves, the upper one first.
                ISB_END => ended = clock.map(|clock| clock.nanos(self.halves(value))),
                _ => {}
            }
        }
        self.dropped(behind);
        if let Some(ended) = ended.filter(|_| is_full) {
            let missing = &mut self.capture.missing;
            missing.full_since = Some(missing.full_since.map_or(ended, |full| full.min(ended)));
            missing.behind = missing.behind.saturating_add(behind);
        }
    }

    fn dropped(&mut self, count: u64) {
        let missing = &mut self.capture.missing;
        missing.dropped = missing.dropped.saturating_add(count);
    }

    fn halves(&self, value: &[u8]) -> u64 {
        let half = |at| u64::from(self.order.long(value, at).unwrap_or(0));
        half(0) << 32 | half(4)
    }

    fn packet(
        &mut self,
        body: &'p [u8],
        start: usize,
        interface: u32,
        [high, low]: [u32; 2],
        [kept, original]: [u32; 2],
    ) -> Option<Packet<'p>> {
        let clock = self.clocks.get(place(interface))?;
        let data = body.get(start..start.checked_add(place(kept))?)?;
        let at = clock.nanos(u64::from(high) << 32 | u64::from(low));
        self.last = at;
        let interface = self.first.saturating_add(interface);
        let original_bytes = original.max(kept);
        Some(Packet { at, interface, heading: None, original_bytes, data, comment: None })
    }

    /// Codes and values from `start` on.
    fn options(
        &self,
        body: &'p [u8],
        start: usize,
    ) -> impl Iterator<Item = (u16, &'p [u8])> + use<'p> {
        let order = self.order;
        let mut rest = body.get(start..).unwrap_or_default();
        std::iter::from_fn(move || {
            let (code, length) = order.word(rest, 0).zip(order.word(rest, 2))?;
            let end = 4 + usize::from(length);
            let value = rest.get(4..end).filter(|_| code != OPT_END)?;
            rest = rest.get(end.next_multiple_of(4)..).unwrap_or_default();
            Some((code, value))
        })
    }

    fn skip(&mut self, why: &str) {
        self.capture.missing.skipped += 1;
        self.capture.missing.note(why.to_owned());
    }

    fn stopped(&mut self, left: usize, whole: usize) {
        let at = whole - left;
        self.capture.missing.unread_bytes = left as u64;
        self.capture
            .missing
            .note(format!("the file ends, or is damaged, at byte {at}: {left} bytes not read"));
    }
}

impl Clock {
    fn nanos(self, ticks: u64) -> Nanos {
        let exponent = u32::from(self.resolution & 0x7f);
        let ticks = u128::from(ticks);
        let nanos = match (self.resolution & 0x80 != 0, exponent) {
            (true, exponent) => (ticks * 1_000_000_000).checked_shr(exponent).unwrap_or(0),
            (false, exponent @ 0..=9) => ticks * 10_u128.pow(9 - exponent),
            (false, exponent) => ticks / 10_u128.checked_pow(exponent - 9).unwrap_or(u128::MAX),
        };
        let whole = u64::try_from(nanos).unwrap_or(u64::MAX);
        Nanos::new(whole.saturating_add_signed(self.offset.saturating_mul(1_000_000_000)))
    }
}

fn heading(flags: Option<u32>) -> Option<Heading> {
    match flags? & 3 {
        1 => Some(Heading::Inbound),
        2 => Some(Heading::Outbound),
        _ => None,
    }
}

pub(super) const BYTE_ORDER: u32 = 0x1a2b_3c4d;
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE: u32 = 1;
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
pub(super) const STATISTICS: u32 = 5;
pub(super) const ENHANCED: u32 = 6;
pub(super) const OPT_END: u16 = 0;
pub(super) const OPT_COMMENT: u16 = 1;
pub(super) const IF_NAME: u16 = 2;
pub(super) const IF_RESOLUTION: u16 = 9;
const IF_OFFSET: u16 = 14;
pub(super) const EPB_FLAGS: u16 = 2;
const EPB_DROPS: u16 = 4;
pub(super) const ISB_END: u16 = 3;
pub(super) const ISB_DROPS: u16 = 5;
pub(super) const ISB_SYSTEM_DROPS: u16 = 7;
/// What a statistics block of ours remarks: its end is when the memory was full.
pub(super) const FULL: &str = "btu: the memory for packets was full at isb_endtime; isb_osdrop counts those that came since then";
/// Kind, length, and the length again.
const FRAME: usize = 12;
