//! The check of contents: every byte of every block, there and back. Nothing is timed.
//!
//! A block is filled from the number of its exchange, its direction and each byte's place, so that a
//! block of another exchange, a block that was merely sent back and a block with a changed byte are
//! told apart.

use btu_core::pingpong::sample::Fault;
use serde::Deserialize;
use serde::Serialize;

use super::channel::Channel;
use super::channel::recv_block;
use super::channel::send_block;
use super::duty::Answer;
use super::duty::Broken;
use super::duty::Duty;
use super::marks::LAST;
use super::marks::MARKS;

/// A fault that the answering end makes on purpose: proves that it is noticed, and that a visit with it
/// ends. In a checked visit it comes in the sixth exchange; in a timed one, from the second round on, in
/// the first, so that what the first round measured has to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plant {
    /// It closes the connection.
    Close,
    /// One byte of the answer is another.
    Corrupt,
    /// The previous answer comes again.
    Duplicate,
    /// The answer of three exchanges before comes.
    Late,
    /// The answer is one byte shorter; then it says nothing more.
    Short,
    /// It says nothing more.
    Silence,
}

/// Who sent a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Back,
    There,
}

impl Plant {
    /// True for a fault that shows although nobody looks at contents: the peer dies, stalls, or sends
    /// too little.
    pub const fn shows_unchecked(self) -> bool {
        matches!(self, Self::Close | Self::Short | Self::Silence)
    }
}

/// The checked exchanges of the end that starts.
pub(super) fn start<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
    from: u64,
) -> Result<Answer, Broken> {
    let exchanges = u64::from(duty.units) * u64::from(duty.batch.max(1));
    for index in 0..exchanges {
        let (number, marks) = (from + index, if index + 1 == exchanges { LAST } else { 0 });
        let block = duty.blocks.out();
        fill(block, number, Way::There, marks);
        send_block(channel, block)?;
        let space = duty.blocks.space();
        recv_block(channel, space)?;
        check(space, number, Way::Back)?;
    }
    Ok(Answer { verified: exchanges, ..Answer::default() })
}

/// The checked exchanges of the end that answers.
pub(super) fn answer<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
    from: u64,
) -> Result<Answer, Broken> {
    for index in 0.. {
        let number = from + index;
        let space = duty.blocks.space();
        recv_block(channel, space)?;
        check(space, number, Way::There)?;
        let is_last = super::marks::of(space) & LAST != 0;
        let block = duty.blocks.out();
        fill(block, number, Way::Back, 0);
        match duty.plant.filter(|_| index == PLANTED_AT) {
            None => send_block(channel, block)?,
            Some(plant) => misbehave(channel, block, number, plant)?,
        }
        if is_last {
            return Ok(Answer { verified: index + 1, answered: index + 1, ..Answer::default() });
        }
    }
    Ok(Answer::default())
}

/// The end that answers a timed visit, and does not.
pub(super) fn break_off<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
    plant: Plant,
) -> Result<Answer, Broken> {
    recv_block(channel, duty.blocks.space())?;
    let (block, numbers) = duty.blocks.out_and_numbers();
    numbers.label_answer::<C>(block);
    misbehave(channel, block, FIRST, plant)?;
    // Whatever comes now has no answer; the other end closing is the end.
    loop {
        recv_block(channel, duty.blocks.space())?;
    }
}

/// Answers wrongly.
fn misbehave<C: Channel>(
    channel: &mut C,
    block: &mut [u8],
    number: u64,
    plant: Plant,
) -> Result<(), Broken> {
    match plant {
        Plant::Close => channel.aborter().abort(),
        Plant::Corrupt => {
            let middle = block.len() / 2;
            block[middle] ^= 0x40;
            send_block(channel, block)?;
        }
        Plant::Duplicate => {
            fill(block, number - 1, Way::Back, 0);
            send_block(channel, block)?;
        }
        Plant::Late => {
            fill(block, number - 3, Way::Back, 0);
            send_block(channel, block)?;
        }
        Plant::Short => {
            let length = block.len() - 1;
            send_block(channel, &block[..length])?;
        }
        Plant::Silence => {}
    }
    if matches!(plant, Plant::Short | Plant::Silence) {
        // Says nothing more: waits for a block that never comes, until somebody ends it.
        recv_block(channel, block)?;
    }
    Ok(())
}

/// Compares a block with what it must be; the marks are the sender's own.
fn check(block: &[u8], number: u64, way: Way) -> Result<(), Broken> {
    let Some(place) = first_difference(block, number, way) else { return Ok(()) };
    let earlier = (1..=LONGEST_DELAY).take_while(|back| *back <= number);
    let found = earlier.clone().find(|back| first_difference(block, number - back, way).is_none());
    let fault = match found {
        None => Fault::Corrupted,
        Some(1) => Fault::Duplicated,
        Some(_) => Fault::Late,
    };
    let what = match found {
        None => format!("another byte at {place} of {}", block.len()),
        Some(back) => format!("the block of exchange {}", number - back),
    };
    Err(Broken::Content { fault, detail: format!("exchange {number}: {what}") })
}

fn first_difference(block: &[u8], number: u64, way: Way) -> Option<usize> {
    let head = block.first().filter(|first| **first & !MARKS != head(number, way)).map(|_| 0);
    head.or_else(|| {
        let mut wanted = contents(number, way);
        (1..block.len()).find(|place| block[*place] != wanted())
    })
}

fn fill(block: &mut [u8], number: u64, way: Way, marks: u8) {
    let mut wanted = contents(number, way);
    for byte in block.iter_mut().skip(1) {
        *byte = wanted();
    }
    if let Some(first) = block.first_mut() {
        *first = head(number, way) | marks;
    }
}

/// The first byte without its marks: two blocks of up to 31 exchanges apart differ here.
fn head(number: u64, way: Way) -> u8 {
    let turn = u8::try_from(number % 31).unwrap_or(0) * 2 + u8::from(way == Way::Back);
    turn << 2
}

/// The bytes after the first: a multiplicative sequence (Knuth's MMIX), one byte a step.
fn contents(number: u64, way: Way) -> impl FnMut() -> u8 {
    let mut state = (number * 2 + u64::from(way == Way::Back)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    }
}

/// The number of an exchange whose contents nobody knows.
const FIRST: u64 = 0;

/// In which exchange a planted fault shows.
const PLANTED_AT: u64 = 5;

/// How many exchanges back an old answer is recognised.
const LONGEST_DELAY: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(block: &[u8], number: u64) -> Option<Fault> {
        check(block, number, Way::Back).err().map(|broken| broken.fault())
    }

    #[test]
    fn faults_are_told_apart_for_every_size() {
        for size in [1, 2, 3, 64, 4096] {
            let mut block = vec![0; size];
            fill(&mut block, 40, Way::Back, LAST);
            assert_eq!(fault_of(&block, 40), None);
            assert_eq!(fault_of(&block, 41), Some(Fault::Duplicated), "{size}");
            assert_eq!(fault_of(&block, 43), Some(Fault::Late), "{size}");
            block[size / 2] ^= 0x40;
            let found = fault_of(&block, 40).unwrap();
            // A single changed byte may be that of another exchange.
            assert!(size == 1 || found == Fault::Corrupted, "{size}: {found:?}");
        }
    }

    #[test]
    fn a_block_that_was_merely_sent_back_is_no_answer() {
        let mut block = [0; 100];
        fill(&mut block, 7, Way::There, 0);
        let broken = check(&block, 7, Way::Back).unwrap_err();
        assert_eq!(broken.fault(), Fault::Corrupted);
        assert_eq!(broken.to_string(), "exchange 7: another byte at 0 of 100");
    }
}
