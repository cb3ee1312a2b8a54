//! The loops against a channel that answers at once.

use std::collections::VecDeque;
use std::io;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::sample::Early;
use btu_core::pingpong::sample::Fault;
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
    numbers: Numbers,
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
        if !RELIABLE {
            self.numbers.label::<Self>(space, 0);
        }
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
            numbers: Numbers::default(),
        }
    }

    /// Three units of two exchanges after one to warm up; also how often that allocated.
    fn visit(&mut self, size: usize, wanted: &Configuration) -> (Answer, Vec<u64>, u64) {
        let limit = Limit {
            time: Nanos::from_secs(3600),
            slow_above: None,
            slow_after: u32::MAX,
            longest: Nanos::MAX,
        };
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
        let mut duty = three_units(&mut blocks, &mut unit_ns, wanted, limit);
        let before = thread_allocations();
        let answer = duty.start(self).unwrap();
        let made = thread_allocations() - before;
        (answer, unit_ns, made)
    }
}

/// Three units of two exchanges after one to warm up.
fn three_units<'m>(
    blocks: &'m mut Blocks,
    unit_ns: &'m mut Vec<u64>,
    wanted: &Configuration,
    limit: Limit,
) -> Duty<'m> {
    Duty {
        blocks,
        unit_ns,
        mode: wanted.mode,
        writes: wanted.writes,
        warm_up: 1,
        units: 3,
        batch: 2,
        stream: None,
        division: None,
        limit,
        verify_from: None,
        plant: None,
    }
}

const ENDLESS: Limit = Limit {
    time: Nanos::from_secs(3600),
    slow_above: None,
    slow_after: u32::MAX,
    longest: Nanos::MAX,
};

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
    let wanted =
        Configuration { writes: Writes::HeaderFirst(Bytes::new(16)), ..Configuration::new("any") };
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

/// Reads what another end sent, and keeps how much it had read at each answer.
struct Played {
    marks: VecDeque<u8>,
    read: usize,
    answered_after: Vec<usize>,
}

impl Channel for Played {
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.answered_after.push(self.read);
        Ok(data.len())
    }

    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        space[0] = self.marks.pop_front().expect("the last block ends it");
        self.read += 1;
        Ok(space.len())
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.send(data)
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

/// One to warm up, and three units of two: no block but the last of each is answered.
#[test]
fn the_far_end_of_a_stream_answers_the_last_block_of_a_unit_alone() {
    let wanted = Configuration { mode: Mode::Streaming, ..Configuration::new("any") };
    let mut near = Scripted::<true>::roomy();
    near.visit(100, &wanted);
    let mut blocks = Blocks::new(100, &wanted).unwrap();
    let mut unit_ns = Vec::new();
    let mut duty = three_units(&mut blocks, &mut unit_ns, &wanted, ENDLESS);
    let mut far = Played { marks: near.marks.into(), read: 0, answered_after: Vec::new() };
    swallow(&mut far, &mut duty).unwrap();
    assert_eq!(far.answered_after, [1, 3, 5, 7]);
    assert_eq!(near.received, far.answered_after.len(), "each is read");
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
    let limit =
        Limit { time: Nanos::ZERO, slow_above: None, slow_after: u32::MAX, longest: Nanos::MAX };
    let (answer, unit_ns, _) = channel.limited(100, &Configuration::new("any"), limit);
    assert_eq!((answer.early, unit_ns.len()), (Some(Early::TimeCap), 1));
    assert_eq!(channel.marks, [0, 0, 0, LAST]);
}

/// What comes back from a lossy path that brings the answer to one block again, after `later` others.
#[derive(Default)]
struct Again {
    sent: usize,
    twice: usize,
    later: usize,
    kept: Vec<u8>,
    coming: VecDeque<Vec<u8>>,
}

impl Channel for Again {
    const BOUNDED: bool = true;
    const RELIABLE: bool = false;

    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.sent += 1;
        if self.sent == self.twice {
            self.kept = data.to_vec();
        }
        if self.twice > 0 && self.sent == self.twice + self.later && self.later > 0 {
            self.coming.push_back(self.kept.clone());
        }
        self.coming.push_back(data.to_vec());
        if self.sent == self.twice && self.later == 0 {
            self.coming.push_back(data.to_vec());
        }
        Ok(data.len())
    }

    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let block = self.coming.pop_front().expect("no exchange waits for more than came");
        let length = block.len().min(space.len());
        space[..length].copy_from_slice(&block[..length]);
        Ok(block.len())
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.send(data)
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

fn fault_of(path: &mut Again, blocks: &mut Blocks, wanted: &Configuration) -> Option<Fault> {
    let mut unit_ns = Vec::with_capacity(3);
    let outcome = three_units(blocks, &mut unit_ns, wanted, ENDLESS).start(path);
    assert_eq!(unit_ns.len(), 3);
    outcome.err().map(|broken| broken.fault())
}

/// Otherwise every exchange after it would take the answer to the one before, which is there at once.
#[test]
fn a_datagram_that_comes_twice_is_no_answer_and_a_fault_of_its_visit() {
    for mode in [Mode::PingPong, Mode::Bidirectional] {
        let wanted = Configuration { mode, ..Configuration::new("any") };
        for size in [1, 2, 5, 2_000] {
            let mut blocks = Blocks::new(size, &wanted).unwrap();
            for (later, fault) in [(0, Fault::Duplicated), (1, Fault::Duplicated), (2, Fault::Late)]
            {
                let mut path = Again { twice: 3, later, ..Again::default() };
                let found = fault_of(&mut path, &mut blocks, &wanted);
                assert_eq!(found, Some(fault), "{mode} of {size}, {later} later");
                assert_eq!((path.sent, path.coming.len()), (7, 0), "{mode} of {size}");
                let found = fault_of(&mut Again::default(), &mut blocks, &wanted);
                assert_eq!(found, None, "{mode} of {size}: the next visit is whole");
            }
        }
    }
}

#[test]
fn what_is_left_of_a_visit_is_no_answer_in_the_next_one_of_another_size() {
    let wanted = Configuration::new("any");
    let mut blocks = Blocks::new(64, &wanted).unwrap();
    let mut path = Again { twice: 7, ..Again::default() };
    assert_eq!(fault_of(&mut path, &mut blocks, &wanted), None);
    assert_eq!(path.coming.len(), 1, "the last answer comes again when nobody waits");
    blocks.resize(3).unwrap();
    assert_eq!(fault_of(&mut path, &mut blocks, &wanted), None);
    assert_eq!(path.coming.len(), 0);
}

/// Units are as long as they shall be, whatever the channel takes.
#[test]
fn a_stream_is_cut_by_what_it_takes() {
    let wanted = Configuration { mode: Mode::Streaming, ..Configuration::new("any") };
    let mut blocks = Blocks::new(100, &wanted).unwrap();
    let (mut channel, mut unit_ns) = (Scripted::<true>::roomy(), Vec::with_capacity(3));
    let stream = Stream::within(Nanos::from_millis(1));
    let mut duty = three_units(&mut blocks, &mut unit_ns, &wanted, ENDLESS);
    duty.stream = Some(stream);
    duty.start(&mut channel).unwrap();
    let division = duty.division.unwrap();
    assert_eq!(usize::try_from(division.units).unwrap(), unit_ns.len());
    let acknowledged = channel.marks.iter().filter(|marks| **marks & ACKNOWLEDGE != 0).count();
    assert_eq!(acknowledged, channel.received, "a byte for each");
    let of_units = u64::from(division.units) * u64::from(division.batch);
    assert!(channel.sends.len() > usize::try_from(of_units).unwrap() + 2, "a sounding before");
    assert_eq!(channel.marks.last(), Some(&(ACKNOWLEDGE | LAST)));
}
