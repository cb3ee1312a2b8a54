//! Two ranks over a link in virtual time, which loses, doubles and delays what it is told to.
#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::collections::VecDeque;

use super::*;
use crate::app::random::Random;

/// Shares of the frames that meet with something, and how seldom a rank looks.
#[derive(Clone, Copy, Default)]
struct Faults {
    lost: f64,
    doubled: f64,
    late: f64,
    /// Share of the looks after which a rank computes for 7 ms.
    computes: f64,
}

/// One rank, its ring, and what is on its way to it.
struct Side {
    pair: Pair,
    ring: VecDeque<Vec<u8>>,
    arriving: Vec<(Nanos, Vec<u8>)>,
    looks_at: Nanos,
    /// The bytes that it sends, those of them that are sent, and what it got.
    message: Vec<u8>,
    sent: usize,
    got: Vec<u8>,
}

struct Link {
    now: Nanos,
    sides: [Side; 2],
    faults: Faults,
    chance: Random,
    most_in_ring: usize,
    messages: usize,
}

impl Side {
    fn new(window: u32, message: Vec<u8>) -> Self {
        let (ring, arriving, looks_at) = (VecDeque::new(), Vec::new(), Nanos::ZERO);
        let pair = Pair::new(window, FRAGMENT);
        Self { pair, ring, arriving, looks_at, message, sent: 0, got: Vec::new() }
    }

    /// What came until now lies in the ring.
    fn arrive(&mut self, now: Nanos) {
        let (came, arriving) =
            std::mem::take(&mut self.arriving).into_iter().partition(|(at, _)| *at <= now);
        let mut came: Vec<(Nanos, Vec<u8>)> = came;
        came.sort_by_key(|(at, _)| *at);
        self.ring.extend(came.into_iter().map(|(_, frame)| frame));
        self.arriving = arriving;
    }

    /// As a rank in a call does; what it sends.
    fn look(&mut self, now: Nanos, messages: &mut usize) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        while let Some(frame) = self.ring.pop_front() {
            let (addresses, header, payload) = Header::parse(&frame).unwrap();
            assert_eq!(addresses, ADDRESSES);
            self.pair.take(now, &header, payload);
            self.send_due(now, &mut out);
        }
        while self.sent < self.message.len() {
            let piece = (9 + self.sent % 40).min(self.message.len() - self.sent);
            let (head, rest) = self.message[self.sent..self.sent + piece].split_at(piece / 3);
            let count = self.pair.put(now, head, rest);
            self.sent += count;
            self.send_due(now, &mut out);
            if count == 0 {
                break;
            }
            *messages += 1;
        }
        let mut space = [0; 5000];
        while self.pair.has_bytes() {
            let count = self.pair.read(&mut space);
            self.got.extend(&space[..count]);
        }
        self.send_due(now, &mut out);
        out
    }

    fn send_due(&mut self, now: Nanos, out: &mut Vec<Vec<u8>>) {
        while let Some((header, payload)) = self.pair.due(now) {
            out.push([&header.encode(ADDRESSES), payload].concat());
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        let arrival = self.arriving.iter().map(|(at, _)| *at).min();
        let due = [arrival, self.pair.next_wakeup()].into_iter().flatten().min();
        due.map(|due| due.max(self.looks_at))
    }
}

impl Link {
    fn new(window: u32, messages: [Vec<u8>; 2], faults: Faults) -> Self {
        let sides = messages.map(|message| Side::new(window, message));
        let (now, chance) = (Nanos::from_secs(1), Random::new(271_828_183));
        Self { now, sides, faults, chance, most_in_ring: 0, messages: 0 }
    }

    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.chance.draw() < share
    }

    /// Until both have all, or for a minute without anything to do.
    fn run(&mut self) {
        for number in 0.. {
            self.turn(number % 2);
            self.turn((number + 1) % 2);
            let [near, far] = &self.sides;
            if near.got.len() == far.message.len() && far.got.len() == near.message.len() {
                return;
            }
            let next = self.sides.iter().filter_map(Side::next_event).min();
            self.now = next.expect("somebody has something to do").max(self.now);
        }
    }

    fn turn(&mut self, which: usize) {
        let now = self.now;
        self.sides[which].arrive(now);
        self.most_in_ring = self.most_in_ring.max(self.sides[which].ring.len());
        if self.sides[which].looks_at > now {
            return;
        }
        let sent = self.sides[which].look(now, &mut self.messages);
        if self.happens(self.faults.computes) {
            self.sides[which].looks_at = now + Nanos::from_millis(7);
        }
        for frame in sent {
            self.carry(1 - which, frame);
        }
    }

    fn carry(&mut self, to: usize, frame: Vec<u8>) {
        if self.happens(self.faults.lost) {
            return;
        }
        let is_late = self.happens(self.faults.late);
        let at = self.now + Nanos::from_micros(if is_late { 90 } else { 10 });
        if self.happens(self.faults.doubled) {
            self.sides[to].arriving.push((at, frame.clone()));
        }
        self.sides[to].arriving.push((at, frame));
    }

    fn has_all(&self) -> bool {
        let [near, far] = &self.sides;
        near.got == far.message && far.got == near.message
    }
}

/// Bytes that show where they belong.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// About 28 bytes each, half of them in each direction.
#[test]
fn m4_messages_arrive_in_order_and_complete_with_one_per_cent_lost() {
    let faults = Faults { lost: 0.01, ..Faults::default() };
    let window = Pair::window(2, 128);
    let mut link = Link::new(window, [bytes(2_100_000), bytes(2_100_000)], faults);
    link.run();
    assert!(link.has_all());
    assert!(link.messages >= 100_000, "{}", link.messages);
    assert!(link.most_in_ring <= 128, "{}", link.most_in_ring);
}

#[test]
fn doubled_and_late_frames_change_nothing() {
    let faults = Faults { lost: 0.02, doubled: 0.03, late: 0.05, computes: 0.01 };
    let mut link = Link::new(32, [bytes(200_000), bytes(50_000)], faults);
    link.run();
    assert!(link.has_all());
}

/// Each rank computes now and then, longer than the other waits before it asks.
#[test]
fn credits_never_exceed_the_ring_of_a_rank_that_computes() {
    for lost in [0.0, 0.05] {
        let faults = Faults { lost, computes: 0.3, ..Faults::default() };
        let mut link = Link::new(Pair::window(2, 64), [bytes(100_000), bytes(100_000)], faults);
        link.run();
        assert!(link.has_all() && link.most_in_ring <= 64, "{}", link.most_in_ring);
    }
}

#[test]
fn all_ranks_together_fill_a_quarter_of_a_ring() {
    for ranks in 1..257_usize {
        let window = Pair::window(ranks, 2048);
        assert!(window.is_power_of_two() && (4..=1024).contains(&window));
        assert!(window as usize * (ranks - 1) <= 512.max(4 * (ranks - 1)), "{ranks} ranks");
    }
}

fn due(pair: &mut Pair, now: Nanos) -> Vec<Header> {
    std::iter::from_fn(|| pair.due(now).map(|(header, _)| header)).collect()
}

/// Gives a frame of the near rank to the far one.
fn pass(near: &mut Pair, far: &mut Pair, now: Nanos) -> Option<Header> {
    let (header, payload) = near.due(now)?;
    far.take(now, &header, payload);
    Some(header)
}

#[test]
fn a_gap_is_told_at_once_and_all_behind_it_is_sent_again() {
    let (mut near, mut far) = (Pair::new(8, FRAGMENT), Pair::new(8, FRAGMENT));
    for byte in 0..4 {
        assert_eq!(near.put(NOW, &[byte], &[]), 1);
    }
    pass(&mut near, &mut far, NOW).unwrap();
    near.due(NOW).unwrap();
    while pass(&mut near, &mut far, NOW).is_some() {}
    let told = due(&mut far, NOW);
    assert_eq!(
        told.iter().map(|told| (told.taken, told.tells_loss)).collect::<Vec<_>>(),
        [(1, true)]
    );
    near.take(NOW, &told[0], &[]);
    let again: Vec<_> =
        std::iter::from_fn(|| pass(&mut near, &mut far, NOW)).map(|sent| sent.number).collect();
    assert_eq!(again, [1, 2, 3]);
    let mut space = [0; 9];
    assert_eq!((far.read(&mut space), &space[..4]), (4, &[0, 1, 2, 3][..]));
}

/// 5 ms, then twice as long each time up to 80 ms; the oldest frame alone.
#[test]
fn silence_is_answered_by_a_question() {
    let mut pair = Pair::new(8, FRAGMENT);
    (0..3).for_each(|byte| assert_eq!(pair.put(NOW, &[byte], &[]), 1));
    assert_eq!(due(&mut pair, NOW).len(), 3);
    let mut now = NOW;
    for wait in [5, 10, 20, 40, 80, 80] {
        let at = now + Nanos::from_millis(wait);
        assert_eq!(pair.next_wakeup(), Some(at));
        assert!(pair.due(Nanos::new(at.count() - 1)).is_none());
        let asked = due(&mut pair, at);
        assert_eq!(
            asked.iter().map(|asked| (asked.number, asked.asks)).collect::<Vec<_>>(),
            [(0, true)]
        );
        now = at;
    }
}

/// All came and none was read: nothing is on its way that a question could stand beside.
#[test]
fn a_credit_that_was_lost_is_asked_for() {
    let (mut near, mut far) = (Pair::new(4, FRAGMENT), Pair::new(4, FRAGMENT));
    (0..4).for_each(|byte| assert_eq!(near.put(NOW, &[byte], &[]), 1));
    while pass(&mut near, &mut far, NOW).is_some() {}
    let [later, last] = [5, 10].map(|wait| NOW + Nanos::from_millis(wait));
    assert_eq!(pass(&mut near, &mut far, later).unwrap().kind, Kind::Data);
    pass(&mut far, &mut near, later).unwrap();
    assert_eq!((near.is_done(), near.put(later, &[4], &[])), (true, 0));
    assert_eq!((far.read(&mut [0; 9]), due(&mut far, later).len()), (4, 1), "and this one is lost");
    let question = pass(&mut near, &mut far, last).unwrap();
    assert_eq!((question.kind, question.asks), (Kind::Credit, true));
    pass(&mut far, &mut near, last).unwrap();
    assert_eq!((near.next_wakeup(), near.put(last, &[4], &[])), (None, 1));
}

#[test]
fn the_end_comes_after_all_bytes_and_needs_no_credit() {
    let (mut near, mut far) = (Pair::new(4, FRAGMENT), Pair::new(4, FRAGMENT));
    (0..4).for_each(|byte| assert_eq!(near.put(NOW, &[byte], &[]), 1));
    near.finish();
    while pass(&mut near, &mut far, NOW).is_some() {}
    assert!(far.has_bytes() && !far.is_over() && !near.is_done());
    pass(&mut far, &mut near, NOW).unwrap();
    assert!(near.is_done());
    assert_eq!(far.read(&mut [0; 9]), 4);
    assert!(far.is_over() && far.is_done());
}

#[test]
fn numbers_begin_anew_after_two_to_the_32() {
    let faults = Faults { lost: 0.01, ..Faults::default() };
    let mut link = Link::new(16, [bytes(30_000), bytes(30_000)], faults);
    link.sides
        .iter_mut()
        .for_each(|side| side.pair = Pair::new(16, FRAGMENT).starting_at(0xffff_ff80));
    link.run();
    assert!(link.has_all());
}

const NOW: Nanos = Nanos::from_secs(1);
const FRAGMENT: usize = 40;
const ADDRESSES: Addresses = Addresses { endpoint: 77, from: 1 };
