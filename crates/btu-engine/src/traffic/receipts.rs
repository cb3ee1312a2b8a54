//! What the receiving end of datagrams says: from another host, twice a second, how many have come, by which the sending end knows
//! that somebody is there; and of each block that it is whole, where that is asked for.

use std::io;
use std::os::fd::AsFd;

use btu_core::traffic::sending::breaker::Breaker;
use btu_core::traffic::sending::breaker::RECEIPTS_EVERY;
use btu_core::traffic::sending::breaker::Trip;
use btu_core::units::Nanos;
use btu_sys::socket;

use super::answers::OF_BLOCK;
use super::connect::Socket;
use crate::door::Seat;

/// What begins every receipt of a flow: nobody knows it who does not know the secret of the job. Within a host, where nobody
/// else is, it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark([u8; MARK]);

/// The receiving end's part.
#[derive(Debug)]
pub(super) struct Giving {
    mark: Mark,
    next: Nanos,
}

/// The sending end's part.
#[derive(Debug)]
pub(super) struct Taking {
    mark: Mark,
    breaker: Breaker,
}

impl Mark {
    /// Of the flow of this seat.
    pub(super) fn of(seat: &Seat) -> Self {
        let mut about = *b"receipts of datagrams of flow ..";
        about[30..].copy_from_slice(&seat.flow.to_be_bytes());
        let mut mark = [0; MARK];
        mark.copy_from_slice(&seat.proof(&about).as_bytes()[..MARK]);
        Self(mark)
    }

    /// The receipt of a block, by its place among those that were sent.
    pub(super) fn of_block(self, block: u32) -> [u8; OF_BLOCK] {
        let mut receipt = [0; OF_BLOCK];
        receipt[..MARK].copy_from_slice(&self.0);
        receipt[MARK..].copy_from_slice(&block.to_be_bytes());
        receipt
    }

    /// Which block a receipt is of; nothing where it is none of this flow.
    pub(super) fn block(self, said: &[u8]) -> Option<u32> {
        let (mark, block) = said.split_first_chunk::<MARK>()?;
        let block = <[u8; OF_BLOCK - MARK]>::try_from(block).ok()?;
        (*mark == self.0).then(|| u32::from_be_bytes(block))
    }

    fn receipt(self, datagrams: u64) -> [u8; RECEIPT] {
        let mut receipt = [0; RECEIPT];
        receipt[..MARK].copy_from_slice(&self.0);
        receipt[MARK..].copy_from_slice(&datagrams.to_be_bytes());
        receipt
    }

    /// What a receipt says; nothing where it is none of this flow.
    fn datagrams(self, said: &[u8]) -> Option<u64> {
        let (mark, count) = said.split_first_chunk::<MARK>()?;
        let count = <[u8; RECEIPT - MARK]>::try_from(count).ok()?;
        (*mark == self.0).then(|| u64::from_be_bytes(count))
    }
}

impl Giving {
    pub(super) const fn new(mark: Mark) -> Self {
        Self { mark, next: Nanos::ZERO }
    }

    /// Tells how many came, where that is due. One that is lost is as one of a path that is cut.
    pub(super) fn give(&mut self, now: Nanos, datagrams: u64, socket: &Socket) {
        if now >= self.next {
            self.next = now.saturating_add(RECEIPTS_EVERY);
            let _ = socket::send(socket.as_fd(), &self.mark.receipt(datagrams));
        }
    }
}

impl Taking {
    pub(super) const fn new(mark: Mark, begin: Nanos) -> Self {
        Self { mark, breaker: Breaker::new(begin) }
    }

    /// A datagram came, after so many were sent.
    pub(super) fn hears(&mut self, now: Nanos, said: &[u8], sent: u64) {
        if let Some(arrived) = self.mark.datagrams(said) {
            self.breaker.receipt(now, arrived.min(sent), sent);
        }
    }

    /// Why no more may be sent after so many datagrams, if so.
    pub(super) fn look(&mut self, now: Nanos, sent: u64) -> Option<Trip> {
        self.breaker.look(now, sent)
    }
}

/// Takes what came to a sender of datagrams, as much as others can wait for.
pub(super) fn take(socket: &Socket, mut hear: impl FnMut(&[u8])) {
    // One byte more than the longest receipt, so that what is longer is none.
    let mut said = [0; RECEIPT + 1];
    for _ in 0..AT_ONCE {
        match socket::recv(socket.as_fd(), &mut said) {
            Ok(count) => hear(&said[..count]),
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => break,
            // That nobody listens there any more: no receipt comes.
            Err(_refused) => {}
        }
    }
}

const MARK: usize = 8;
const RECEIPT: usize = 16;
/// Datagrams that are read at one look: more come from nobody who gives receipts.
const AT_ONCE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_known_by_its_flow_and_its_secret() {
        let seat = Seat { secret: [7; 32], run: 1, attempt: 1, flow: 3 };
        let receipt = Mark::of(&seat).receipt(77);
        assert_eq!(Mark::of(&seat).datagrams(&receipt), Some(77));
        for other in [Seat { flow: 4, ..seat }, Seat { secret: [8; 32], ..seat }] {
            assert_eq!(Mark::of(&other).datagrams(&receipt), None);
        }
        for wrong in [&receipt[..15], &[&receipt[..], &[0]].concat(), &[]] {
            assert_eq!(Mark::of(&seat).datagrams(wrong), None);
        }
    }
}
