//! The end of the line's queue: which wire packets of a run still find a place.

use crate::capture::Remark;
use crate::units::BitRate;
use crate::units::Nanos;

use super::Busy;
use super::Line;
use super::Packet;
use super::Port;
use super::QueueLimit;

impl Line {
    /// Queues as many of `run`'s wire packets, all of one size, as find a place; drops the others.
    ///
    /// The count is what wire packets pushed one by one at the same moment would find.
    pub(super) fn admit(&mut self, lane: usize, run: Packet, port: &mut Port<'_>) {
        let each = self.wire.size(run.first_l3()).bits().max(1);
        let admitted = self.places(run.at(), each);
        let admitted = u32::try_from(admitted).unwrap_or(u32::MAX);
        let mut rest = Some(run);
        if let Some(front) = Packet::take_front(&mut rest, admitted) {
            if self.waiting.add(front, lane, self.wire) {
                self.lanes[lane].waiting += u64::from(front.count());
            } else {
                port.overflow(&front);
            }
        }
        if let Some(tail) = rest {
            port.queue_dropped(&tail, Remark::QueueFull);
        }
    }

    /// How many packets of `each` bits find a place at `at`, even where the line was looked at later:
    /// of what it began since, the latest piece counts as waiting. Either nothing waits and the line is
    /// idle, so that the first one starts at once, or the line is busy beyond this moment.
    fn places(&self, at: Nanos, each: u64) -> u64 {
        let rate = self.limits.rate;
        let starts_now = u64::from(self.busy.end <= at);
        let (unstarted, unstarted_bits) = self.busy.unstarted(at, rate);
        match self.limits.queue {
            QueueLimit::Bytes(most) => {
                let waiting = self.waiting.bytes.bits() + unstarted_bits;
                (most.bits().saturating_sub(waiting) / each).saturating_add(starts_now)
            }
            QueueLimit::Packets(most) => {
                most.saturating_sub(self.waiting.wire_packets + unstarted) + starts_now
            }
            QueueLimit::Time(longest) if starts_now == 1 => {
                (bits_in(longest, rate) / each).saturating_add(1)
            }
            QueueLimit::Time(longest) => {
                let reach = at.saturating_add(longest).since(self.busy.start);
                let ahead = self.busy.bits + self.waiting.bytes.bits();
                bits_in(reach, rate)
                    .checked_sub(ahead)
                    .map_or(0, |room| (room / each).saturating_add(1))
            }
        }
    }
}

impl Busy {
    /// Of the latest piece, the wire packets whose first bit is not sent at `now`, and their bits.
    fn unstarted(&self, now: Nanos, rate: BitRate) -> (u64, u64) {
        if self.end <= now {
            return (0, 0);
        }
        let sent = bits_in(now.since(self.start), rate);
        let started = match sent.checked_sub(self.piece.before) {
            Some(sent) => (sent / self.piece.each + 1).min(self.piece.packets),
            None => 0,
        };
        let bits = self.piece.bits.saturating_sub(started * self.piece.each);
        (self.piece.packets - started, bits)
    }
}

fn bits_in(time: Nanos, rate: BitRate) -> u64 {
    let bits = u128::from(rate.bit_per_second()) * u128::from(time.count()) / 1_000_000_000;
    u64::try_from(bits).unwrap_or(u64::MAX)
}
