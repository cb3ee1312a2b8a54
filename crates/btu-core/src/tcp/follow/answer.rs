//! What the receiver answers: acknowledgements, windows, selective acknowledgements.

use super::Follower;
use super::Known;
use crate::tcp::segment::Flags;
use crate::tcp::segment::Segment;
use crate::tcp::sign::Event;
use crate::tcp::sign::Sign;
use crate::tcp::stream::Answer;
use crate::tcp::stream::RoundTrip;
use crate::tcp::stream::Sack;
use crate::tcp::stream::Span;
use crate::units::Nanos;

impl Follower {
    /// A segment of the receiver, as an answer to the sender. `scale` shifts its window.
    pub(in crate::tcp) fn answered(&mut self, segment: &Segment, scale: Option<u8>) {
        let at = segment.at.since(self.begin);
        if segment.flags.has(Flags::RST) {
            return self.stream.events.push(Event { at, place: self.next, sign: Sign::ResetIn });
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        self.place_or_start(segment.acknowledged, 0);
        let acknowledged = self.place(segment.acknowledged);
        if (acknowledged - self.next).abs() > super::FURTHEST {
            self.stream.counts.outside += 1;
            return;
        }
        self.stamped(segment, at);
        let is_syn = segment.flags.has(Flags::SYN);
        let shift = if is_syn { 0 } else { u32::from(scale.unwrap_or(0)) };
        let window = u64::from(segment.window) << shift;
        if acknowledged > self.next {
            self.stream.counts.unseen_acks += 1;
            (self.next, self.last) = (acknowledged, None);
        }
        let flight = self.next - self.acked;
        let new_sack = self.selective(segment, at, acknowledged);
        let advanced = acknowledged > self.acked;
        let is_pure = segment.payload == 0 && !segment.flags.is_control();
        let is_delayed = is_pure && advanced && self.came_late(at);
        let is_repeated = is_pure && acknowledged == self.acked;
        let duplicate = is_repeated && flight > 0 && (window == self.window || new_sack);
        if duplicate {
            self.duplicates += 1;
            self.stream.counts.duplicate_acks += 1;
        } else if is_repeated && window == self.window && !segment.sacks().is_empty() {
            self.stream.counts.answers_to_needless += 1;
        } else if is_repeated && window != self.window && self.has_window {
            self.stream.counts.window_updates += 1;
        }
        let opened = !is_syn && acknowledged + edge_of(window) > self.edge;
        if advanced {
            self.advance(at, acknowledged);
        }
        self.stream.counts.delayed_acks += u64::from(is_delayed);
        if !is_syn {
            self.window_is(at, window);
        }
        self.remember(at, acknowledged, window, [advanced || opened, is_delayed]);
        let duplicate = if duplicate { self.duplicates } else { 0 };
        if duplicate == 3 {
            let sign = Sign::ThirdDuplicate;
            self.stream.events.push(Event { at, place: acknowledged, sign });
        }
        self.stream.answers.push(Answer { at, acknowledged, edge: self.edge, duplicate });
    }

    fn remember(
        &mut self,
        at: Nanos,
        acknowledged: i64,
        window: u64,
        [opens, is_delayed]: [bool; 2],
    ) {
        const MOST: usize = 4096;
        (self.window, self.has_window) = (window, true);
        if acknowledged >= self.acked {
            // A window may shrink, although none should (RFC 9293, 3.8.6).
            self.edge = acknowledged + edge_of(window);
        }
        let is_last = self.acked >= self.next;
        let (acknowledged, edge) = (self.acked, self.edge);
        self.answers.push_back(Known { at, acknowledged, edge, opens, is_last, is_delayed });
        if self.answers.len() > MOST {
            self.answers.pop_front();
        }
    }

    /// Later than the path explains by 25 ms: receivers wait 40 to 500 ms for a second segment
    /// (RFC 9293, 3.8.6.3).
    fn came_late(&self, at: Nanos) -> bool {
        let least = self.timer.least().unwrap_or(Nanos::ZERO).since(self.stream.to_sender);
        self.last.is_some_and(|last| at.since(last.at) >= least + Nanos::from_millis(25))
            && self.unacked.iter().all(|flying| !flying.again)
            && self.holes.is_empty()
    }

    /// The receiver has more.
    fn advance(&mut self, at: Nanos, acknowledged: i64) {
        let (mut newest, mut needless) = (None, 0);
        let least = self.timer.least().unwrap_or(Nanos::ZERO).since(self.stream.to_sender);
        while let Some(first) = self.unacked.front_mut() {
            if first.end > acknowledged {
                first.start = first.start.max(acknowledged);
                break;
            }
            needless += u64::from(first.again && at.since(first.at) < share_of(least));
            newest = self.unacked.pop_front();
        }
        // Bytes that were sent twice tell nothing of the round trip (Karn).
        if let Some(flying) = newest.filter(|flying| !flying.again && flying.end == acknowledged) {
            let time = at.since(flying.at);
            self.timer.sample(time + self.stream.to_sender);
            self.stream.round_trips.push(RoundTrip { at, time });
        }
        self.stream.counts.needless += needless;
        self.acked = acknowledged;
        self.duplicates = 0;
        self.progress_at = at;
        self.sacked.remove(i64::MIN / 2, acknowledged);
        self.holes.retain(|hole| hole.end > acknowledged);
        if self.recovery.is_some_and(|recovery| acknowledged >= recovery.until) {
            self.recovery = None;
        }
    }

    /// Takes selective acknowledgements; true where one tells anything new.
    //= RFC 2883, 4: the first block tells of a duplicate where it is acknowledged, or in the second
    fn selective(&mut self, segment: &Segment, at: Nanos, acknowledged: i64) -> bool {
        let blocks = segment.sacks();
        let mut is_new = false;
        for (number, (start, end)) in blocks.iter().enumerate() {
            let (start, end) = (self.place(*start), self.place(*end));
            if start >= end || end > self.next + super::FURTHEST {
                continue;
            }
            let inside = blocks
                .get(1)
                .is_some_and(|(a, b)| self.place(*a) <= start && end <= self.place(*b));
            let is_duplicate = number == 0 && (end <= acknowledged || inside);
            if is_duplicate {
                self.stream.counts.duplicate_sacks += 1;
            } else if end > acknowledged && self.sacked.add(start.max(acknowledged), end) > 0 {
                is_new = true;
            } else {
                continue;
            }
            self.stream.sacks.push(Sack { at, start, end, is_duplicate });
        }
        is_new
    }

    /// Follows the window: how small and large it is, and when it is shut.
    fn window_is(&mut self, at: Nanos, window: u64) {
        let [least, most] = self.stream.window_bytes.unwrap_or([window, window]);
        self.stream.window_bytes = Some([least.min(window), most.max(window)]);
        let open = self.stream.zero_windows.last_mut().filter(|span| span.to == Nanos::MAX);
        match (window, open) {
            (0, open) => {
                self.stream.counts.zero_windows += 1;
                if open.is_none() {
                    self.stream.zero_windows.push(Span { from: at, to: Nanos::MAX });
                }
            }
            (_, Some(span)) => span.to = at,
            (_, None) => {}
        }
    }
}

/// Nine tenths: sooner than this nothing comes back.
fn share_of(least: Nanos) -> Nanos {
    Nanos::new(least.count() / 10 * 9)
}

fn edge_of(window: u64) -> i64 {
    i64::try_from(window).unwrap_or(i64::MAX / 4)
}
