//! Bytes between two ranks in frames of our own, in order, whole and once each over a link that may lose some: the protocol
//! of the message layer `frames`, without I/O and clock.
//!
//! Each frame has a number; the receiver tells by each of its own which one it wants next (a cumulative acknowledgement),
//! and up to which one it has room (the credit), and sends a frame for that alone once half of the credit is used. What comes
//! out of its turn is thrown away. Who missed a frame says so, and its sender goes back to that one (go-back-N). Who
//! heard nothing for 5 ms sends the oldest frame again, and asks: the answer tells what was lost.
//!
//! The idea, messages that name their handler and credits in place of buffers of the kernel, is that of Active Messages
//! (von Eicken et al., ISCA 1992) over U-Net (von Eicken et al., SOSP 1995).

mod header;
mod inbox;
mod outbox;
mod slots;

#[cfg(test)]
mod tests;

use self::inbox::Inbox;
use self::outbox::Due;
use self::outbox::Outbox;
use crate::units::Nanos;

pub use self::header::Addresses;
pub use self::header::Header;
pub use self::header::Kind;

/// What one rank keeps of the bytes to and from one other.
///
/// After each call that takes something, [`Self::due`] is asked until it gives nothing; and once more at
/// [`Self::next_wakeup`].
#[derive(Debug)]
pub struct Pair {
    outbox: Outbox,
    inbox: Inbox,
}

impl Pair {
    /// Nothing was sent yet. At most `window` frames of `fragment` bytes are on their way at once, in each direction;
    /// it is a power of two.
    pub fn new(window: u32, fragment: usize) -> Self {
        Self { outbox: Outbox::new(window, fragment), inbox: Inbox::new(window, fragment) }
    }

    #[cfg(test)]
    fn starting_at(self, number: u32) -> Self {
        let (outbox, inbox) = (self.outbox.starting_at(number), self.inbox.starting_at(number));
        Self { outbox, inbox }
    }

    /// The window at which so many ranks that all send to one fill a quarter of its ring of so many places. What is sent
    /// again may meet what it stands for in the ring, and questions and credits need places, too. Never less than four: half
    /// of a credit must be worth a frame.
    pub fn window(ranks: usize, ring_places: usize) -> u32 {
        let share = ring_places / 4 / ranks.saturating_sub(1).max(1);
        1 << share.clamp(LEAST_WINDOW, MOST_WINDOW).ilog2()
    }

    /// True where bytes can be sent.
    pub fn has_room(&self) -> bool {
        self.outbox.room() > 0
    }

    /// Makes a frame of what fits into one; tells how many bytes that is, and zero where there is no credit.
    #[inline]
    pub fn put(&mut self, now: Nanos, head: &[u8], rest: &[u8]) -> usize {
        self.outbox.put(now, [head, rest])
    }

    /// Nothing is put after this.
    pub fn finish(&mut self) {
        self.outbox.finish();
    }

    /// The next frame that should be sent now.
    #[inline]
    pub fn due(&mut self, now: Nanos) -> Option<(Header, &[u8])> {
        let due = self.outbox.due(now);
        if due.is_none() && !self.inbox.owes() {
            return None;
        }
        let (number, asks) = match due {
            Some(Due::Frame { number, asks }) => (Some(number), asks),
            Some(Due::Question) => (None, true),
            None => (None, false),
        };
        let payload = number.map_or(&[][..], |number| self.outbox.payload(number));
        let kind = match number {
            None => Kind::Credit,
            Some(number) if self.outbox.is_last(number) => Kind::End,
            Some(_) => Kind::Data,
        };
        let told = self.inbox.tell();
        let header = Header {
            kind,
            asks,
            tells_loss: told.is_loss,
            number: number.unwrap_or(0),
            taken: told.taken,
            limit: told.limit,
            length_bytes: u16::try_from(payload.len()).unwrap_or(u16::MAX),
        };
        Some((header, payload))
    }

    /// Takes a frame that came.
    #[inline]
    pub fn take(&mut self, now: Nanos, header: &Header, payload: &[u8]) {
        if header.kind == Kind::Hello {
            return;
        }
        self.outbox.note(now, header.taken, header.limit);
        if header.tells_loss {
            self.outbox.go_back(now, header.taken);
        }
        self.inbox.take(header, payload);
    }

    /// Reads what came; tells how many bytes.
    #[inline]
    pub fn read(&mut self, space: &mut [u8]) -> usize {
        self.inbox.read(space)
    }

    /// True where a read gives bytes.
    #[inline]
    pub fn has_bytes(&self) -> bool {
        self.inbox.has_frames()
    }

    /// True where the other rank has finished, and all its bytes were read.
    pub fn is_over(&self) -> bool {
        self.inbox.is_ended() && !self.inbox.has_frames()
    }

    /// True where nothing has to be sent any more: the other rank has all, or has finished and takes nothing.
    pub fn is_done(&self) -> bool {
        self.outbox.is_delivered() || self.inbox.is_ended()
    }

    /// When to ask for what is due though nothing came.
    pub fn next_wakeup(&self) -> Option<Nanos> {
        self.outbox.next_wakeup()
    }
}

/// Numbers begin anew after 2^32: before is what is less than half of them away.
fn is_before(number: u32, other: u32) -> bool {
    let ahead = other.wrapping_sub(number);
    ahead != 0 && ahead < 1 << 31
}

const LEAST_WINDOW: usize = 4;
const MOST_WINDOW: usize = 1024;
