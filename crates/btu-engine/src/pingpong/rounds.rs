//! The loops of a visit, compiled once for each channel. No allocation, lock, log line or virtual
//! call stands between the two readings of the clock around a unit.

use btu_core::pingpong::configuration::Writes;
use btu_core::pingpong::schedule::Sounding;
use btu_core::pingpong::schedule::Stream;
use btu_core::units::Nanos;
use btu_sys::clock;

use super::channel::Channel;
use super::channel::send_block;
use super::channel::swap_blocks;
use super::duty::Answer;
use super::duty::Broken;
use super::duty::Duty;
use super::marks;
use super::marks::ACKNOWLEDGE;
use super::marks::LAST;
use super::numbers::Numbers;
use super::pool::Blocks;

/// Some exchanges in a row, the last of them with these marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    exchanges: u32,
    writes: Writes,
    marks: u8,
}

/// Makes the warm-up and all units of the end that starts, and times each unit.
pub(super) fn timed<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
    exchange: impl Fn(&mut C, &mut Blocks, Unit) -> Result<(), Broken>,
) -> Result<Answer, Broken> {
    let unit = |exchanges, marks| Unit { exchanges, writes: duty.writes, marks };
    for _ in 0..duty.warm_up {
        let start = clock::monotonic_ns();
        exchange(channel, duty.blocks, unit(1, 0))?;
        if clock::monotonic_ns().saturating_sub(start) > duty.limit.longest.count() {
            break;
        }
    }
    let (begun, mut fastest) = (clock::monotonic_ns(), u64::MAX);
    for done in 1..=duty.units {
        let is_last = done == duty.units;
        let this = unit(duty.batch, if is_last { LAST } else { 0 });
        let start = clock::monotonic_ns();
        exchange(channel, duty.blocks, this)?;
        let end = clock::monotonic_ns();
        let took = end.saturating_sub(start);
        duty.unit_ns.push(took);
        fastest = fastest.min(took);
        if is_last {
            break;
        }
        let elapsed = Nanos::new(end.saturating_sub(begun));
        if let Some(early) = duty.limit.reached(done, elapsed, Nanos::new(fastest)) {
            // The far end learns that it is over by one more exchange that nobody times.
            exchange(channel, duty.blocks, unit(1, LAST))?;
            return Ok(Answer { early: Some(early), ..Answer::default() });
        }
    }
    Ok(Answer::default())
}

/// Blocks that go there and come back.
#[inline]
pub(super) fn there_and_back<C: Channel>(
    channel: &mut C,
    blocks: &mut Blocks,
    unit: Unit,
) -> Result<(), Broken> {
    for left in (0..unit.exchanges).rev() {
        let (block, numbers) = blocks.out_and_numbers();
        numbers.label::<C>(block, if left == 0 { unit.marks } else { 0 });
        send_in(channel, block, unit.writes)?;
        let (space, numbers) = blocks.space_and_numbers();
        numbers.recv(channel, space)?;
    }
    Ok(())
}

/// The answer to [`there_and_back`].
pub(super) fn echo<C: Channel>(channel: &mut C, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
    for answered in 1.. {
        let (space, numbers) = duty.blocks.space_and_numbers();
        numbers.recv(channel, space)?;
        let is_last = marks::of(space) & LAST != 0;
        let (block, numbers) = duty.blocks.out_and_numbers();
        numbers.label_answer::<C>(block);
        send_in(channel, block, duty.writes)?;
        if is_last {
            return Ok(Answer { answered, ..Answer::default() });
        }
    }
    Ok(Answer::default())
}

/// Blocks that go one way; a byte comes back after the last.
#[inline]
pub(super) fn one_way<C: Channel>(
    channel: &mut C,
    blocks: &mut Blocks,
    unit: Unit,
) -> Result<(), Broken> {
    one_way_until(channel, blocks, unit, |sent| sent == unit.exchanges)
}

/// The same up to the block of which `is_last` says so, before it goes; numbers them from 1.
#[inline]
fn one_way_until<C: Channel>(
    channel: &mut C,
    blocks: &mut Blocks,
    unit: Unit,
    mut is_last: impl FnMut(u32) -> bool,
) -> Result<(), Broken> {
    let window = Window::of::<C>(blocks.size());
    let mut ahead = 0;
    for number in 1.. {
        let is_last = is_last(number);
        let (block, numbers) = blocks.out_and_numbers();
        numbers.label::<C>(block, if is_last { unit.marks | ACKNOWLEDGE } else { 0 });
        send_in(channel, block, unit.writes)?;
        ahead += 1;
        if is_last {
            break;
        }
        if window.is_used_up(ahead) {
            blocks.numbers().recv(channel, &mut [0])?;
            ahead -= window.0;
        }
    }
    // What is still on its way back: a byte for each full window, and the last one.
    for _ in 0..=window.outstanding(ahead) {
        blocks.numbers().recv(channel, &mut [0])?;
    }
    Ok(())
}

/// A stream in units of so many blocks as this very visit takes: looks first, and times what follows.
pub(super) fn streamed<C: Channel>(channel: &mut C, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
    if let Some(stream) = duty.stream {
        let division = stream.divide(&sound(channel, duty, stream)?, duty.units);
        (duty.warm_up, duty.units, duty.batch) = (0, division.units, division.batch);
        (duty.limit, duty.division) = (duty.limit.of_units(division.batch), Some(division));
    }
    timed(channel, duty, one_way)
}

/// Blocks in a row for a while, and one alone. Nothing of it is timed for the record; it warms up besides.
fn sound<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
    stream: Stream,
) -> Result<Sounding, Broken> {
    let unit = Unit { exchanges: 1, writes: duty.writes, marks: 0 };
    let begun = clock::monotonic_ns();
    let since = |begun| Nanos::new(clock::monotonic_ns().saturating_sub(begun));
    let mut blocks = 0;
    one_way_until(channel, duty.blocks, unit, |number| {
        blocks = number;
        stream.is_sounded(number, since(begun))
    })?;
    let (together, mut single) = (since(begun), None);
    let begun = clock::monotonic_ns();
    for _ in 0..SINGLES {
        if !stream.has_time(together) || since(begun) > stream.unit {
            break;
        }
        let start = clock::monotonic_ns();
        one_way(channel, duty.blocks, unit)?;
        let took = since(start);
        single = Some(single.map_or(took, |fastest: Nanos| fastest.min(took)));
    }
    Ok(Sounding { blocks, together, single })
}

/// The answer to [`one_way`].
pub(super) fn swallow<C: Channel>(channel: &mut C, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
    let window = Window::of::<C>(duty.blocks.size());
    let mut count = 0;
    for answered in 1.. {
        let (space, numbers) = duty.blocks.space_and_numbers();
        numbers.recv(channel, space)?;
        let found = marks::of(space);
        count += 1;
        if window.is_full(count) {
            acknowledge(channel, duty.blocks)?;
            count = 0;
        }
        if found & ACKNOWLEDGE != 0 {
            acknowledge(channel, duty.blocks)?;
            count = 0;
        }
        if found & LAST != 0 {
            return Ok(Answer { answered, ..Answer::default() });
        }
    }
    Ok(Answer::default())
}

/// Blocks that go both ways at once.
#[inline]
pub(super) fn swap<C: Channel>(
    channel: &mut C,
    blocks: &mut Blocks,
    unit: Unit,
) -> Result<(), Broken> {
    for left in (0..unit.exchanges).rev() {
        let Some((block, space, numbers)) = blocks.both() else { break };
        numbers.label::<C>(block, if left == 0 { unit.marks } else { 0 });
        swap_next(channel, block, space, numbers)?;
    }
    Ok(())
}

/// The answer to [`swap`].
pub(super) fn swap_back<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
) -> Result<Answer, Broken> {
    let mut answered = 0;
    while let Some((block, space, numbers)) = duty.blocks.both() {
        numbers.label_answer::<C>(block);
        swap_next(channel, block, space, numbers)?;
        answered += 1;
        if marks::of(space) & LAST != 0 {
            break;
        }
    }
    Ok(Answer { answered, ..Answer::default() })
}

/// Swaps two blocks; the one that came is no old one.
#[inline]
fn swap_next<C: Channel>(
    channel: &mut C,
    block: &[u8],
    space: &mut [u8],
    numbers: &mut Numbers,
) -> Result<(), Broken> {
    swap_blocks(channel, block, space)?;
    if C::RELIABLE || numbers.takes(space) { Ok(()) } else { numbers.recv(channel, space) }
}

/// Says that all blocks up to here were read.
fn acknowledge<C: Channel>(channel: &mut C, blocks: &mut Blocks) -> Result<(), Broken> {
    let mut byte = [0];
    blocks.numbers().label::<C>(&mut byte, 0);
    send_block(channel, &byte)
}

/// Sends a block in one call, or its header and the rest in two.
#[inline]
fn send_in<C: Channel>(channel: &mut C, block: &[u8], writes: Writes) -> Result<(), Broken> {
    match writes {
        Writes::HeaderFirst(header) if header.len() < block.len() => {
            let (header, rest) = block.split_at(header.len());
            send_block(channel, header)?;
            send_block(channel, rest)
        }
        Writes::HeaderFirst(_) | Writes::One => send_block(channel, block),
    }
}

/// How many blocks make the receiver of a lossy channel say that it has read them. The sender runs
/// at most two windows ahead: the kernel counts almost twice the bytes of a datagram, and a quarter
/// of a default socket buffer (208 KiB) may be held back for what was read already.
#[derive(Clone, Copy, Debug)]
struct Window(u32);

impl Window {
    fn of<C: Channel>(size: usize) -> Self {
        let blocks = u32::try_from(WINDOW_BYTES / (size + BLOCK_COST)).unwrap_or(1).max(1);
        Self(if C::RELIABLE { u32::MAX } else { blocks })
    }

    fn is_full(self, count: u32) -> bool {
        count == self.0
    }

    fn is_used_up(self, ahead: u32) -> bool {
        ahead == self.0.saturating_mul(2)
    }

    /// Full windows among the blocks ahead whose byte has not been read.
    fn outstanding(self, ahead: u32) -> u32 {
        ahead / self.0
    }
}

/// Blocks alone in a sounding: other work may come between one and its acknowledgement.
const SINGLES: usize = 3;

const WINDOW_BYTES: usize = 32_768;

/// What the kernel counts for a packet besides its bytes, about.
const BLOCK_COST: usize = 1024;

#[cfg(test)]
mod tests;
