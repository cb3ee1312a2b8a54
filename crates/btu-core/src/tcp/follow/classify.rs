//! What a segment is: new, overtaken, or sent again and why.

use super::Follower;
use super::Hole;
use super::Recovery;
use crate::tcp::mark::Mark;
use crate::tcp::segment::Segment;
use crate::units::Nanos;

impl Follower {
    /// Names the segment, and begins a repair where it is the first of one.
    pub(super) fn classify(&mut self, segment: &Segment, at: Nanos, range: [i64; 2]) -> Mark {
        let [start, end] = range;
        if let Some(probe) = self.probe(segment, start) {
            return probe;
        }
        if start >= self.next || segment.length() == 0 {
            return Mark::New;
        }
        if let Some(hole) = self.hole(range)
            && self.was_overtaken(segment, at, hole)
        {
            return Mark::OutOfOrder;
        }
        if end <= self.acked {
            return Mark::Spurious;
        }
        let mark = self.resent(at, range);
        let repairs = if mark == Mark::Timeout { Mark::AfterTimeout } else { mark };
        if matches!(mark, Mark::Fast | Mark::Timeout) {
            self.recovery = Some(Recovery { mark: repairs, until: self.next });
            // What follows an idle time is small because of the loss, if it is.
            self.peak = 0;
        }
        mark
    }

    /// One byte or none at or below what was sent last: a question, no data.
    fn probe(&self, segment: &Segment, start: i64) -> Option<Mark> {
        if segment.flags.is_control() || segment.payload > 1 || self.last.is_none() {
            return None;
        }
        let is_shut = self.has_window && self.window == 0;
        let is_before = start == self.next - 1 && self.acked >= self.next;
        match (is_shut, segment.payload) {
            (true, 1) if start == self.next => Some(Mark::WindowProbe),
            (true, _) if start == self.acked - 1 => Some(Mark::WindowProbe),
            (false, _) if is_before => Some(Mark::KeepAlive),
            _ => None,
        }
    }

    fn hole(&self, [start, end]: [i64; 2]) -> Option<Hole> {
        self.holes.iter().find(|hole| hole.start <= start && end <= hole.end).copied()
    }

    /// Sent before what went further: by its time stamp, else by its number among the sender's
    /// packets, else because no repair can have come so soon.
    fn was_overtaken(&self, segment: &Segment, at: Nanos, hole: Hole) -> bool {
        let stamp = segment.options.stamps.map(|stamps| stamps.0);
        if let (Some(own), Some(newest)) = (stamp, self.newest.stamp)
            && own != newest
        {
            return newest.wrapping_sub(own).cast_signed() > 0;
        }
        let numbered = |identification: Option<u16>| identification.filter(|number| *number != 0);
        let numbers = (numbered(segment.identification), numbered(self.newest.identification));
        if let (Some(own), Some(newest)) = numbers
            && own != newest
            && own.abs_diff(newest).min(newest.abs_diff(own)) < 1000
        {
            return newest.wrapping_sub(own).cast_signed() > 0;
        }
        let soonest = self.timer.least().unwrap_or(Nanos::from_millis(3));
        at.since(hole.at) < soonest
    }

    /// Sent again: why?
    fn resent(&self, at: Nanos, [start, end]: [i64; 2]) -> Mark {
        let is_head = start <= self.acked;
        let is_tail = end >= self.next;
        let waited = at.since(self.sent_last(start).max(self.progress_at));
        let timeout = self.timer.timeout();
        let ran_out = waited.count() >= timeout.count() / 10 * 9;
        if is_head && ran_out {
            return Mark::Timeout;
        }
        if let Some(recovery) = self.recovery
            && start < recovery.until
        {
            return recovery.mark;
        }
        if self.duplicates >= 3 || self.sacked.end().is_some_and(|sacked| sacked > start) {
            return Mark::Fast;
        }
        let round_trip = self.timer.round_trip().unwrap_or(Nanos::from_millis(10));
        if is_tail && waited >= round_trip {
            return Mark::TailProbe;
        }
        if is_head && waited >= round_trip {
            return Mark::Timeout;
        }
        Mark::Resent
    }

    /// When the byte at a place was sent, or else jumped over.
    fn sent_last(&self, place: i64) -> Nanos {
        let found = self.unacked.partition_point(|flying| flying.end <= place);
        let flying = self.unacked.get(found).filter(|flying| flying.start <= place);
        let hole = || self.holes.iter().find(|hole| hole.start <= place && place < hole.end);
        flying.map(|flying| flying.at).or_else(|| Some(hole()?.at)).unwrap_or(self.progress_at)
    }
}
