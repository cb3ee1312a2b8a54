//! The numbers of blocks over a transport that may bring one twice, or late.
//!
//! Each end numbers what it sends over a connection, acknowledgements among them, and takes nothing that is
//! not ahead of what it took last: such a block is the answer to nothing that waits for one. The bits 2 to 7
//! of the first byte hold the lowest six bits of a number and the four bytes after it the rest, as far as
//! a block is that long: of one byte, what is up to 31 blocks old is known.

use btu_core::pingpong::sample::Fault;
use btu_core::words::several;

use super::channel::Channel;
use super::channel::recv_block;
use super::duty::Broken;
use super::marks;
use super::marks::MARKS;

/// The numbers of both ways of a connection, as one end knows them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    sent: u32,
    taken: u32,
    /// Whether a block of this visit was taken: what is old before that belongs to an earlier one.
    has_begun: bool,
    twice: usize,
    late: usize,
}

impl Numbers {
    /// From here on old blocks belong to this visit.
    pub(super) fn begin(&mut self) {
        *self = Self { sent: self.sent, taken: self.taken, ..Self::default() };
    }

    /// Gives a block its marks, and the next number where the channel needs one.
    #[inline]
    pub(super) fn label<C: Channel>(&mut self, block: &mut [u8], marks: u8) {
        marks::put(block, marks);
        if !C::RELIABLE {
            self.sent = self.sent.wrapping_add(1);
            write(block, self.sent);
        }
    }

    /// The same of an answer, whose marks are what they are.
    #[inline]
    pub(super) fn label_answer<C: Channel>(&mut self, block: &mut [u8]) {
        if !C::RELIABLE {
            let marks = marks::of(block);
            self.label::<C>(block, marks);
        }
    }

    /// Receives a block; old ones that come before it are dropped and counted.
    #[inline]
    pub(super) fn recv<C: Channel>(
        &mut self,
        channel: &mut C,
        space: &mut [u8],
    ) -> Result<(), Broken> {
        if C::RELIABLE {
            return recv_block(channel, space);
        }
        loop {
            let outcome = recv_block(channel, space);
            let length = match &outcome {
                Ok(()) => space.len(),
                // What is old may be of an earlier visit, which had another size.
                Err(Broken::Length { got, .. }) => (*got).min(space.len()),
                Err(_) => return outcome,
            };
            if self.takes(&space[..length]) {
                return outcome;
            }
        }
    }

    /// True for a block that is ahead of all that were taken.
    pub(super) fn takes(&mut self, block: &[u8]) -> bool {
        let bits = bits(block.len());
        let mask = u32::MAX >> (32 - bits);
        let ahead = read(block).wrapping_sub(self.taken) & mask;
        if (1..1 << (bits - 1)).contains(&ahead) {
            (self.taken, self.has_begun) = (self.taken.wrapping_add(ahead), true);
            return true;
        }
        if self.has_begun {
            *(if ahead == 0 { &mut self.twice } else { &mut self.late }) += 1;
        }
        false
    }

    /// What is wrong with a visit into which old blocks came.
    pub(super) fn check(&self) -> Result<(), Broken> {
        let fault = match (self.twice, self.late) {
            (0, 0) => return Ok(()),
            (_, 0) => Fault::Duplicated,
            _ => Fault::Late,
        };
        let old = several(self.twice + self.late, "block");
        Err(Broken::Content { fault, detail: format!("{old} came that had come before") })
    }
}

fn write(block: &mut [u8], number: u32) {
    let Some((first, rest)) = block.split_first_mut() else { return };
    let [low, ..] = number.to_le_bytes();
    *first = *first & MARKS | low << FIRST_SHIFT;
    for (byte, value) in rest.iter_mut().zip((number >> FIRST_BITS).to_le_bytes()) {
        *byte = value;
    }
}

fn read(block: &[u8]) -> u32 {
    let Some((first, rest)) = block.split_first() else { return 0 };
    let mut high = [0; 4];
    for (value, byte) in high.iter_mut().zip(rest) {
        *value = *byte;
    }
    u32::from(first >> FIRST_SHIFT) | u32::from_le_bytes(high) << FIRST_BITS
}

/// Bits of a number for which a block of this length has room.
fn bits(length: usize) -> u32 {
    let rest = u32::try_from(length.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_BITS.saturating_add(rest.saturating_mul(8)).min(u32::BITS)
}

const FIRST_BITS: u32 = 6;
const FIRST_SHIFT: u32 = MARKS.count_ones();

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(size: usize, number: u32) -> Vec<u8> {
        let mut block = vec![MARKS; size];
        write(&mut block, number);
        block
    }

    #[test]
    fn every_size_tells_the_next_block_from_an_old_one() {
        for size in 1..8 {
            let mut numbers = Numbers::default();
            for number in 1..200_u32 {
                let block = labelled(size, number);
                assert_eq!(marks::of(&block), MARKS);
                assert!(numbers.takes(&block), "{size}: {number}");
                assert!(!numbers.takes(&block) && numbers.taken == number, "{size}: {number}");
                let before = labelled(size, number.saturating_sub(20));
                assert!(!numbers.takes(&before), "{size}: 20 before {number}");
            }
            assert_eq!((numbers.twice, numbers.late), (199, 199));
        }
    }

    #[test]
    fn numbers_go_on_beyond_the_last_one() {
        for size in [1, 2, 5, 100] {
            let mut numbers = Numbers { taken: u32::MAX, ..Numbers::default() };
            assert!(numbers.takes(&labelled(size, 0)) && numbers.takes(&labelled(size, 1)));
            assert!(!numbers.takes(&labelled(size, u32::MAX)), "{size}");
        }
    }

    #[test]
    fn what_is_old_before_a_visit_is_no_fault_of_it() {
        let mut numbers = Numbers::default();
        assert!(numbers.takes(&labelled(64, 7)));
        numbers.begin();
        assert!(!numbers.takes(&labelled(64, 7)) && numbers.check().is_ok());
        assert!(numbers.takes(&labelled(64, 8)) && !numbers.takes(&labelled(64, 8)));
        assert_eq!(numbers.check().unwrap_err().fault(), Fault::Duplicated);
        assert!(!numbers.takes(&labelled(64, 6)));
        let broken = numbers.check().unwrap_err();
        assert_eq!(broken.fault(), Fault::Late);
        assert_eq!(broken.to_string(), "2 blocks came that had come before");
    }
}
