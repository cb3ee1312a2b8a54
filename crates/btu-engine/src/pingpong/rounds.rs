//! The loops of a visit, compiled once for each channel. No allocation, lock, log line or virtual
//! call stands between the two readings of the clock around a unit.

use btu_core::pingpong::configuration::Writes;
use btu_core::units::Nanos;
use btu_sys::clock;

use super::channel::Channel;
use super::channel::recv_block;
use super::channel::send_block;
use super::channel::swap_blocks;
use super::duty::Answer;
use super::duty::Broken;
use super::duty::Duty;
use super::marks;
use super::marks::ACKNOWLEDGE;
use super::marks::LAST;
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
    if duty.warm_up > 0 {
        exchange(channel, duty.blocks, unit(duty.warm_up, 0))?;
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
        let block = blocks.out();
        marks::put(block, if left == 0 { unit.marks } else { 0 });
        send_in(channel, block, unit.writes)?;
        recv_block(channel, blocks.space())?;
    }
    Ok(())
}

/// The answer to [`there_and_back`].
pub(super) fn echo<C: Channel>(channel: &mut C, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
    for answered in 1.. {
        let space = duty.blocks.space();
        recv_block(channel, space)?;
        let is_last = marks::of(space) & LAST != 0;
        send_in(channel, duty.blocks.out(), duty.writes)?;
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
    let window = Window::of::<C>(blocks.size());
    let mut ahead = 0;
    for left in (0..unit.exchanges).rev() {
        let block = blocks.out();
        marks::put(block, if left == 0 { unit.marks | ACKNOWLEDGE } else { 0 });
        send_in(channel, block, unit.writes)?;
        ahead += 1;
        if window.is_used_up(ahead) && left > 0 {
            recv_block(channel, &mut [0])?;
            ahead -= window.0;
        }
    }
    // What is still on its way back: a byte for each full window, and the last one.
    for _ in 0..=window.outstanding(ahead) {
        recv_block(channel, &mut [0])?;
    }
    Ok(())
}

/// The answer to [`one_way`].
pub(super) fn swallow<C: Channel>(channel: &mut C, duty: &mut Duty<'_>) -> Result<Answer, Broken> {
    let window = Window::of::<C>(duty.blocks.size());
    let mut count = 0;
    for answered in 1.. {
        let space = duty.blocks.space();
        recv_block(channel, space)?;
        let found = marks::of(space);
        count += 1;
        if window.is_full(count) {
            send_block(channel, &[0])?;
            count = 0;
        }
        if found & ACKNOWLEDGE != 0 {
            send_block(channel, &[0])?;
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
        let Some((block, space)) = blocks.both() else { break };
        marks::put(block, if left == 0 { unit.marks } else { 0 });
        swap_blocks(channel, block, space)?;
    }
    Ok(())
}

/// The answer to [`swap`].
pub(super) fn swap_back<C: Channel>(
    channel: &mut C,
    duty: &mut Duty<'_>,
) -> Result<Answer, Broken> {
    let mut answered = 0;
    while let Some((block, space)) = duty.blocks.both() {
        swap_blocks(channel, block, space)?;
        answered += 1;
        if marks::of(space) & LAST != 0 {
            break;
        }
    }
    Ok(Answer { answered, ..Answer::default() })
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

const WINDOW_BYTES: usize = 32_768;

/// What the kernel counts for a packet besides its bytes, about.
const BLOCK_COST: usize = 1024;

#[cfg(test)]
mod tests {
    use std::io;

    use btu_core::pingpong::configuration::Configuration;
    use btu_core::pingpong::configuration::Mode;
    use btu_core::pingpong::sample::Early;
    use btu_core::pingpong::schedule::Limit;
    use btu_core::units::Bytes;
    use btu_sys::alloc::Counting;
    use btu_sys::alloc::thread_allocations;

    use super::*;
    use crate::pingpong::channel::Aborter;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    /// Answers at once, in pieces of at most seven bytes, and counts.
    #[derive(Default)]
    struct Scripted<const RELIABLE: bool> {
        sends: Vec<usize>,
        marks: Vec<u8>,
        received: usize,
    }

    impl<const RELIABLE: bool> Channel for Scripted<RELIABLE> {
        const RELIABLE: bool = RELIABLE;

        fn send(&mut self, data: &[u8]) -> io::Result<usize> {
            self.sends.push(data.len());
            self.marks.push(data[0]);
            Ok(data.len())
        }

        fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let got = space.len().min(7);
            self.received += got;
            Ok(got)
        }

        fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
            self.send(&data[..data.len().min(5)])
        }

        fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
            self.recv(space)
        }

        fn wait_until(&mut self, _: btu_sys::exchange::Ready) -> io::Result<()> {
            Ok(())
        }

        fn aborter(&self) -> Aborter {
            Aborter::new(|| ())
        }
    }

    impl<const RELIABLE: bool> Scripted<RELIABLE> {
        fn roomy() -> Self {
            Self {
                sends: Vec::with_capacity(1 << 16),
                marks: Vec::with_capacity(1 << 16),
                received: 0,
            }
        }

        /// Three units of two exchanges after one to warm up; also how often that allocated.
        fn visit(&mut self, size: usize, wanted: &Configuration) -> (Answer, Vec<u64>, u64) {
            let limit =
                Limit { time: Nanos::from_secs(3600), slow_above: None, slow_after: u32::MAX };
            self.limited(size, wanted, limit)
        }

        fn limited(
            &mut self,
            size: usize,
            wanted: &Configuration,
            limit: Limit,
        ) -> (Answer, Vec<u64>, u64) {
            let mut blocks = Blocks::new(size, wanted).unwrap();
            let mut unit_ns = Vec::with_capacity(3);
            let mut duty = Duty {
                blocks: &mut blocks,
                unit_ns: &mut unit_ns,
                mode: wanted.mode,
                writes: wanted.writes,
                warm_up: 1,
                units: 3,
                batch: 2,
                limit,
                verify_from: None,
                plant: None,
            };
            let before = thread_allocations();
            let answer = duty.start(self).unwrap();
            let made = thread_allocations() - before;
            (answer, unit_ns, made)
        }
    }

    #[test]
    fn a_visit_sends_each_block_once_and_marks_the_last() {
        let mut channel = Scripted::<true>::roomy();
        let (answer, unit_ns, made) = channel.visit(100, &Configuration::new("any"));
        assert_eq!((answer, unit_ns.len(), made), (Answer::default(), 3, 0));
        assert_eq!((channel.sends.as_slice(), channel.received), (&[100; 7][..], 700));
        assert_eq!(channel.marks, [0, 0, 0, 0, 0, 0, LAST]);
    }

    #[test]
    fn a_header_goes_in_a_call_of_its_own_if_there_is_a_rest() {
        let wanted = Configuration {
            writes: Writes::HeaderFirst(Bytes::new(16)),
            ..Configuration::new("any")
        };
        let sends = |size| {
            let mut channel = Scripted::<true>::roomy();
            channel.visit(size, &wanted);
            channel.sends[..2].to_vec()
        };
        assert_eq!((sends(16), sends(17)), (vec![16, 16], vec![16, 1]));
    }

    #[test]
    fn a_stream_is_acknowledged_once_a_unit() {
        let wanted = Configuration { mode: Mode::Streaming, ..Configuration::new("any") };
        let mut channel = Scripted::<true>::roomy();
        let (_, unit_ns, made) = channel.visit(100, &wanted);
        assert_eq!((unit_ns.len(), made), (3, 0));
        assert_eq!((channel.sends.len(), channel.received), (7, 4));
        assert_eq!(channel.marks, [2, 0, 2, 0, 2, 0, ACKNOWLEDGE | LAST]);
    }

    /// 65,507 bytes are more than a window: the reader tells of every block.
    #[test]
    fn a_lossy_stream_waits_for_what_the_reader_tells() {
        let wanted = Configuration { mode: Mode::Streaming, ..Configuration::new("any") };
        let mut channel = Scripted::<false>::roomy();
        channel.visit(65_507, &wanted);
        assert_eq!((channel.sends.len(), channel.received), (7, 7 + 4));
    }

    #[test]
    fn both_directions_at_once_move_two_blocks() {
        let wanted = Configuration { mode: Mode::Bidirectional, ..Configuration::new("any") };
        let mut channel = Scripted::<true>::roomy();
        let (_, unit_ns, made) = channel.visit(100, &wanted);
        assert_eq!((unit_ns.len(), made, channel.received), (3, 0, 700));
        assert_eq!(channel.sends.iter().sum::<usize>(), 700);
    }

    #[test]
    fn a_visit_that_stops_early_tells_the_other_end() {
        let mut channel = Scripted::<true>::roomy();
        let limit = Limit { time: Nanos::ZERO, slow_above: None, slow_after: u32::MAX };
        let (answer, unit_ns, _) = channel.limited(100, &Configuration::new("any"), limit);
        assert_eq!((answer.early, unit_ns.len()), (Some(Early::TimeCap), 1));
        assert_eq!(channel.marks, [0, 0, 0, LAST]);
    }
}
