//! Follows one direction of a connection, segment by segment and answer by answer.
//!
//! The place of capture may be anywhere between the two ends. What the sender knew when it sent is
//! what had passed here one way back and forth to it earlier ([`Follower::known`]).

mod answer;
mod classify;
mod echo;
mod restart;
mod wait;

use std::collections::VecDeque;

use super::mark::Mark;
use super::ranges::Ranges;
use super::segment::Flags;
use super::segment::Segment;
use super::sign::Event;
use super::sign::Sign;
use super::stream::Sent;
use super::stream::Stream;
use super::timer::Timer;
use crate::capture::Remark;
use crate::units::Nanos;

/// The state of one direction.
#[derive(Debug, Default)]
pub(super) struct Follower {
    pub(super) stream: Stream,
    /// Start of the connection; all times of the stream are since then.
    begin: Nanos,
    is_started: bool,
    /// Behind the last byte that was seen.
    next: i64,
    /// The receiver has everything before this.
    acked: i64,
    /// The receiver's last window and the place where it ends.
    window: u64,
    edge: i64,
    has_window: bool,
    unacked: VecDeque<Flying>,
    holes: Vec<Hole>,
    sacked: Ranges,
    duplicates: u32,
    timer: Timer,
    progress_at: Nanos,
    last: Option<Last>,
    newest: Newest,
    recovery: Option<Recovery>,
    answers: VecDeque<Known>,
    /// Those of the receiver that the sender has not echoed yet.
    stamps: VecDeque<echo::Stamp>,
    restart: Option<restart::Open>,
    peak: u64,
}

/// Bytes that were sent and not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Flying {
    start: i64,
    end: i64,
    /// When they were sent last.
    at: Nanos,
    again: bool,
}

/// Bytes that were jumped over.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: i64,
    end: i64,
    at: Nanos,
}

/// The last segment with data.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: Nanos,
    end: i64,
    payload: u32,
    /// Whether the window had room for another segment.
    has_room: bool,
    /// It was below half of the largest one.
    is_squeezed: bool,
}

/// The segment that went furthest.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    stamp: Option<u32>,
    identification: Option<u16>,
}

/// Repair of losses: what is sent below `until` belongs to it.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    mark: Mark,
    until: i64,
}

/// An answer of the receiver as the sender will know it.
#[derive(Clone, Copy, Debug)]
struct Known {
    at: Nanos,
    acknowledged: i64,
    edge: i64,
    /// It let the sender send more.
    opens: bool,
    /// It took everything that was in flight.
    is_last: bool,
    /// A pure acknowledgement that came late after the segment that it answers.
    is_delayed: bool,
}

impl Follower {
    /// Of a connection that began at `begin`.
    pub(super) fn new(begin: Nanos, segment_from: &Segment) -> Self {
        let stream = Stream { from: segment_from.from, to: segment_from.to, ..Stream::default() };
        Self { stream, begin, ..Self::default() }
    }

    /// A round trip of the whole path, by the handshake.
    pub(super) fn whole_path(&mut self, time: Nanos) {
        self.timer.sample(time);
    }

    /// A segment of the sender. `dropped`: why it goes no further, by whoever captured.
    pub(super) fn sent(&mut self, segment: &Segment, dropped: Option<Remark>) {
        let at = segment.at.since(self.begin);
        let counts = &mut self.stream.counts;
        counts.segments += 1;
        let dropped = dropped.filter(|_| segment.length() > 0);
        counts.dropped += u64::from(dropped.is_some());
        counts.queue_full += u64::from(dropped == Some(Remark::QueueFull));
        counts.managed += u64::from(dropped == Some(Remark::Managed));
        counts.congestion_marks += u64::from(segment.is_congestion_marked);
        if segment.flags.has(Flags::SYN) {
            self.offered(segment);
        }
        if segment.flags.has(Flags::RST) {
            return self.signs(segment, at, self.next, dropped);
        }
        self.echoed(segment, at);
        let start = self.place_or_start(segment.sequence, i64::from(segment.flags.has(Flags::SYN)));
        let end = start + i64::from(segment.length());
        if start - self.next > FURTHEST || self.next - end > FURTHEST {
            self.stream.counts.outside += 1;
            return;
        }
        self.signs(segment, at, end, dropped);
        let mark = self.classify(segment, at, [start, end]);
        if segment.length() == 0 && mark == Mark::New {
            return;
        }
        self.count(mark, segment);
        if segment.payload > 0 && !matches!(mark, Mark::KeepAlive | Mark::WindowProbe) {
            self.wait(at, mark, segment.payload);
        }
        self.record(segment, at, [start, end], mark);
    }

    /// What a chart marks with letters.
    fn signs(&mut self, segment: &Segment, at: Nanos, place: i64, dropped: Option<Remark>) {
        let dropped = dropped.map(|_| Sign::Dropped);
        let signs = Sign::of_sender(segment).chain(dropped);
        self.stream.events.extend(signs.map(|sign| Event { at, place, sign }));
    }

    /// Where a sequence number is in the stream. Whoever comes late starts at 1, as behind a SYN.
    fn place_or_start(&mut self, number: u32, is_syn: i64) -> i64 {
        if !self.is_started {
            let first = 1 - is_syn;
            self.is_started = true;
            self.stream.origin = number.wrapping_sub(u32::from(is_syn != 1));
            (self.next, self.acked) = (first, first);
        }
        self.place(number)
    }

    /// The nearest place to the last one that has this number: numbers wrap every 4 GiB.
    #[inline]
    fn place(&self, number: u32) -> i64 {
        let low = u32::try_from(self.next.rem_euclid(1 << 32)).unwrap_or(0);
        let expected = self.stream.origin.wrapping_add(low);
        self.next + i64::from(number.wrapping_sub(expected).cast_signed())
    }

    fn offered(&mut self, segment: &Segment) {
        let offer = &mut self.stream.offer;
        offer.seen = true;
        offer.mss_bytes = segment.options.mss;
        offer.window_scale = segment.options.scale;
        offer.sack = segment.options.sack_permitted;
        offer.timestamps = segment.options.stamps.is_some();
    }

    fn count(&mut self, mark: Mark, segment: &Segment) {
        let payload = u64::from(segment.payload);
        let counts = &mut self.stream.counts;
        counts.data_segments += u64::from(payload > 0);
        counts.payload_bytes += payload;
        if mark.is_retransmission() {
            counts.retransmissions += 1;
            counts.retransmitted_bytes += payload;
        }
        match mark {
            Mark::AfterTimeout => counts.after_timeout += 1,
            Mark::Fast => counts.fast += 1,
            Mark::KeepAlive => counts.keep_alives += 1,
            Mark::New => {}
            Mark::OutOfOrder => counts.out_of_order += 1,
            Mark::Resent => counts.resent += 1,
            Mark::Spurious => counts.spurious += 1,
            Mark::TailProbe => counts.tail_probes += 1,
            Mark::Timeout => counts.timeouts += 1,
            Mark::WindowProbe => counts.window_probes += 1,
        }
    }

    /// Moves on behind the segment.
    fn record(&mut self, segment: &Segment, at: Nanos, [start, end]: [i64; 2], mark: Mark) {
        let known = self.known(at);
        let edge = known.map_or(self.edge, |known| known.edge);
        let acknowledged = known.map_or(self.acked, |known| known.acknowledged);
        let is_at_edge = end == edge || end == self.edge;
        let fills_window = segment.payload > 0 && self.has_edge() && is_at_edge;
        self.filled(segment, mark, fills_window);
        self.fly([start, end], at, mark);
        if start > self.next {
            self.stream.counts.gaps += 1;
            self.holes.push(Hole { start: self.next, end: start, at });
            self.holes.drain(..self.holes.len().saturating_sub(MOST_HOLES));
        } else if start < self.next {
            let filled = u64::try_from(self.fill([start, end])).unwrap_or(0);
            self.stream.counts.new_bytes += filled.min(u64::from(segment.payload));
        }
        if end > self.next {
            let new = end - self.next.max(start);
            let new = u64::try_from(new).unwrap_or(0).min(u64::from(segment.payload));
            self.stream.counts.new_bytes += new;
            self.next = end;
            let stamp = segment.options.stamps.map(|stamps| stamps.0);
            self.newest = Newest { stamp, identification: segment.identification };
        }
        let flight = u64::try_from(self.next - acknowledged).unwrap_or(0);
        if self.recovery.is_none() {
            self.peak = self.peak.max(flight);
        }
        self.restarting(at, flight, segment.payload);
        let is_pushed = segment.flags.has(Flags::PSH);
        self.stream.sent.push(Sent { at, start, end, mark, is_pushed, fills_window, flight });
        if segment.payload > 0 && !matches!(mark, Mark::KeepAlive | Mark::WindowProbe) {
            let room = edge - self.next.max(end);
            let has_room = !self.has_edge() || room >= i64::from(self.stream.mss_bytes.max(1));
            let window = u64::try_from(edge - acknowledged).unwrap_or(0);
            let is_squeezed =
                self.stream.window_bytes.is_some_and(|[_, largest]| window < largest / 2);
            self.last = Some(Last { at, end, payload: segment.payload, has_room, is_squeezed });
        }
        self.largest(segment);
    }

    fn filled(&mut self, segment: &Segment, mark: Mark, fills_window: bool) {
        let counts = &mut self.stream.counts;
        counts.window_full += u64::from(fills_window);
        let is_silly = fills_window && segment.payload < self.stream.mss_bytes.div_ceil(2);
        counts.silly += u64::from(is_silly && mark == Mark::New);
    }

    /// What is in flight, for round trips and timers.
    #[inline]
    fn fly(&mut self, [start, end]: [i64; 2], at: Nanos, mark: Mark) {
        if end > self.next {
            let start = start.max(self.next);
            self.unacked.push_back(Flying { start, end, at, again: mark.is_retransmission() });
            if self.unacked.len() > MOST_FLYING {
                self.unacked.pop_front();
            }
        }
        if start >= self.next {
            return;
        }
        let first = self.unacked.partition_point(|flying| flying.end <= start);
        for flying in self.unacked.range_mut(first..).take_while(|flying| flying.start < end) {
            if flying.at != at {
                (flying.at, flying.again) = (at, true);
            }
        }
    }

    /// Bytes that had been jumped over came after all: how many.
    fn fill(&mut self, [start, end]: [i64; 2]) -> i64 {
        let (mut left, mut filled) = (Vec::new(), 0);
        self.holes.retain_mut(|hole| {
            if hole.end <= start || end <= hole.start {
                return true;
            }
            filled += end.min(hole.end) - start.max(hole.start);
            if end < hole.end && hole.start < start {
                left.push(Hole { start: end, ..*hole });
            }
            if hole.start < start {
                hole.end = start;
            } else {
                hole.start = end.min(hole.end);
            }
            hole.start < hole.end
        });
        self.holes.extend(left);
        filled
    }

    /// The largest payload on the wire: by the receiver's offer; by what is seen where that is
    /// missing, but no super-packet.
    fn largest(&mut self, segment: &Segment) {
        const USUAL: u32 = 1460;
        if segment.payload > self.stream.mss_bytes && self.stream.mss_bytes < USUAL {
            self.stream.mss_bytes = self.stream.mss_bytes.max(segment.payload.min(USUAL));
        }
    }

    /// Where the window ends is known.
    const fn has_edge(&self) -> bool {
        self.has_window && (self.stream.window_is_known || self.window == 0)
    }

    /// The last answer that the sender can have known at a time.
    #[inline]
    fn known(&mut self, at: Nanos) -> Option<Known> {
        let reach = at.saturating_add(self.timer.tolerance().min(Nanos::from_micros(50)));
        while self.answers.len() > 1
            && self.answers[1].at.saturating_add(self.stream.to_sender) <= reach
        {
            self.answers.pop_front();
        }
        let first = self.answers.front().copied();
        first.filter(|known| known.at.saturating_add(self.stream.to_sender) <= reach)
    }

    /// What is left to say at the end.
    pub(super) fn finish(mut self) -> Stream {
        self.end_restart();
        if let Some(open) = self.stream.zero_windows.last_mut().filter(|span| span.to == Nanos::MAX)
        {
            open.to = self.stream.answers.last().map_or(open.from, |answer| answer.at);
        }
        self.stream.smoothed_round_trip = self.timer.round_trip();
        self.stream
    }
}

/// No window is larger (RFC 7323, 2.3).
const FURTHEST: i64 = 1 << 30;
const MOST_HOLES: usize = 1024;
const MOST_FLYING: usize = 1 << 16;
