//! Receipts of blocks, where a test asks for them: the receiving end answers each block in band when its user has read the
//! last byte of it, and the sending end notes when that came, by its own clock.
//!
//! A stream carries a byte of its own at the end of each block, so that who reads it need not know where blocks end, whatever
//! was missed or interrupted; it is answered by one byte. Of datagrams the receiver counts those of each block,
//! and answers with its number.

use std::io;

use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::flow::datagram;
use super::job::Carrier;
use super::job::Flow;
use super::job::Offer;
use super::ration::Ration;
use super::receipts::Mark;

/// The last byte of a block of a stream whose blocks are answered; what is sent has no other one.
pub(super) const LAST: u8 = 0xff;

/// The receiving end's part.
#[derive(Debug)]
pub(super) struct Answering {
    /// Blocks that are not answered yet.
    left: u64,
    /// Of a stream, blocks that were read whole and whose receipt is not sent.
    owed: u64,
    parts: Parts,
    mark: Mark,
    /// What may be sent where a rate holds that no kernel keeps.
    ration: Option<Ration>,
}

/// The datagrams of blocks; of a stream none.
#[derive(Debug, Default)]
struct Parts {
    /// The number after the last datagram of each block.
    ends: Vec<u64>,
    /// How many of it have not come.
    left: Vec<u64>,
}

impl Answering {
    /// Of a flow whose receiver answers.
    pub(super) fn of(flow: &Flow, mark: Option<Mark>, ration: Option<Ration>) -> Option<Self> {
        let blocks = answered(flow)?;
        let parts = match flow.carrier {
            Carrier::Udp => Parts::of(blocks, datagram(flow)),
            Carrier::Tcp(_) | Carrier::Quic(_) => Parts::default(),
        };
        let left = u64::try_from(blocks.len()).unwrap_or(u64::MAX);
        let mark = mark.unwrap_or_default();
        Some(Self { left, owed: 0, parts, mark, ration })
    }

    /// Sees what was read of a stream.
    pub(super) fn saw(&mut self, data: &[u8]) {
        let ended: u64 = data.iter().map(|byte| u64::from(*byte == LAST)).sum();
        let ended = ended.min(self.left);
        self.left -= ended;
        self.owed += ended;
    }

    /// Whether a receipt of a stream has still to be sent.
    pub(super) const fn owes(&self) -> bool {
        self.owed > 0
    }

    /// Sends what is owed, as far as the transport takes it: where it does not, the rest is sent later. Gives how many.
    pub(super) fn pay(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> u64 {
        let mut all = 0;
        while self.owed > 0 {
            let most = usize::try_from(self.owed).unwrap_or(usize::MAX).min(RECEIPTS.len());
            match write(&RECEIPTS[..most]) {
                Ok(sent) => {
                    let sent = u64::try_from(sent).unwrap_or(0).min(self.owed);
                    self.owed -= sent;
                    all += sent;
                }
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => break,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                // Nobody is there who would hear of them.
                Err(_gone) => self.owed = 0,
            }
        }
        all
    }

    /// A datagram came for the first time: the receipt of the block that it was the last one of. One that the rate of the flow
    /// forbids is not sent, and missing.
    pub(super) fn came(&mut self, now: Nanos, number: u64) -> Option<[u8; OF_BLOCK]> {
        let block = u32::try_from(self.parts.came(number)?).ok()?;
        let is_held = |ration: &Ration| ration.wait_for(now, OF_BLOCK).is_some();
        if self.ration.as_ref().is_some_and(is_held) {
            return None;
        }
        self.ration.iter_mut().for_each(|ration| ration.sent(now, OF_BLOCK));
        Some(self.mark.of_block(block))
    }
}

impl Parts {
    fn of(blocks: &[Block], largest: Bytes) -> Self {
        let parts = |block: &Block| block.size.count().div_ceil(largest.count());
        let left: Vec<u64> = blocks.iter().map(parts).collect();
        let add = |sum: &mut u64, parts: &u64| {
            *sum = sum.saturating_add(*parts);
            Some(*sum)
        };
        Self { ends: left.iter().scan(0, add).collect(), left }
    }

    /// The block that is whole with this datagram.
    fn came(&mut self, number: u64) -> Option<usize> {
        let block = self.ends.partition_point(|end| *end <= number);
        let left = self.left.get_mut(block)?;
        *left = left.checked_sub(1)?;
        (*left == 0).then_some(block)
    }
}

/// The sending end's part.
#[derive(Debug)]
pub(super) struct Awaiting {
    mark: Mark,
    is_stream: bool,
    /// When the receipt of each block came that was sent, in this order; room for all from the beginning.
    times: Vec<Option<Nanos>>,
    /// Receipts that came, each counted once.
    came: usize,
    /// Blocks that were sent whole, once no more are.
    sent: Option<usize>,
    /// When the last one came, or nothing more was sent.
    last: Nanos,
    /// Nothing more can come.
    is_closed: bool,
}

impl Awaiting {
    /// Of a flow whose receiver answers.
    pub(super) fn of(flow: &Flow, mark: Option<Mark>) -> Option<Self> {
        let blocks = answered(flow)?;
        let (times, is_stream) = (vec![None; blocks.len()], flow.carrier.is_stream());
        let mark = mark.unwrap_or_default();
        let (came, sent, last, is_closed) = (0, None, Nanos::ZERO, false);
        Some(Self { mark, is_stream, times, came, sent, last, is_closed })
    }

    /// So many more came of a stream: they come in order.
    pub(super) fn more(&mut self, now: Nanos, at: Nanos, count: usize) {
        let end = self.came.saturating_add(count).min(self.times.len());
        self.times[self.came..end].fill(Some(at));
        (self.came, self.last) = (end, now);
    }

    /// A datagram came. False where it is no receipt of a block.
    pub(super) fn hears(&mut self, now: Nanos, at: Nanos, said: &[u8]) -> bool {
        let Some(block) = self.mark.block(said) else { return false };
        let place = usize::try_from(block).unwrap_or(usize::MAX);
        if let Some(time) = self.times.get_mut(place).filter(|time| time.is_none()) {
            *time = Some(at);
            (self.came, self.last) = (self.came + 1, now);
        }
        true
    }

    /// Nothing more comes of a stream.
    pub(super) const fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// These blocks are all that there were.
    pub(super) fn all_sent(&mut self, now: Nanos, blocks: &[BlockRecord]) {
        if self.sent.is_none() {
            self.last = now;
            self.sent = Some(blocks.iter().filter(|block| block.fate == Fate::Sent).count());
        }
    }

    /// Whether one is waited for although nothing more is sent. Of datagrams each may be lost: as long as one may be
    /// under way, and its receipt on its way back. What is read of a stream is answered sooner or later.
    pub(super) fn waits(&self, now: Nanos, linger: Nanos) -> bool {
        let has_all = self.sent.is_some_and(|sent| self.came >= sent);
        let is_over = !self.is_stream && now.since(self.last) > linger * 2;
        !(self.is_closed || has_all || is_over)
    }

    /// When the receipt of each of these blocks came.
    pub(super) fn by_block(self, blocks: &[BlockRecord]) -> Vec<Option<Nanos>> {
        let mut times = self.times.into_iter();
        let is_stream = self.is_stream;
        let counts = |block: &BlockRecord| {
            if is_stream { block.fate == Fate::Sent } else { !block.taken.is_empty() }
        };
        blocks.iter().map(|one| if counts(one) { times.next().flatten() } else { None }).collect()
    }
}

/// The blocks of a flow, where its receiver answers them.
fn answered(flow: &Flow) -> Option<&[Block]> {
    match &flow.offer {
        Offer::Train { blocks, .. } if flow.has_receipts => Some(blocks),
        Offer::Train { .. } | Offer::Endless(_) => None,
    }
}

/// Receipts of blocks of a stream: an acknowledgement in ASCII each.
const RECEIPTS: [u8; 256] = [0x06; 256];
/// Of a datagram that is the receipt of a block.
pub(super) const OF_BLOCK: usize = 12;

#[cfg(test)]
mod tests;
