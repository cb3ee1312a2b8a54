//! Controlled delay, the queue management of RFC 8289: which packets to drop as they leave a queue.

use crate::units::Bytes;
use crate::units::Nanos;

/// TARGET and INTERVAL of RFC 8289, section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodelLimits {
    pub(super) target: Nanos,
    pub(super) interval: Nanos,
}

/// The state of RFC 8289, section 5.2; names as there.
#[derive(Debug)]
pub(super) struct Codel {
    limits: CodelLimits,
    first_above_time: Option<Nanos>,
    drop_next: Nanos,
    count: u32,
    lastcount: u32,
    dropping: bool,
    step: Step,
    maxpacket: Bytes,
}

/// How far the pseudo-code's `deque` is with the packets of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It begins.
    Begun,
    /// It dropped a packet in the dropping state and looks at the next one.
    Dropped,
    /// It dropped a packet and entered the dropping state: the next one is sent.
    Entered,
}

/// What happens to the packet at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Drop,
    Send,
}

impl Default for CodelLimits {
    fn default() -> Self {
        Self { target: Nanos::from_millis(5), interval: Nanos::from_millis(100) }
    }
}

impl Codel {
    pub(super) const fn new(limits: CodelLimits) -> Self {
        Self {
            limits,
            first_above_time: None,
            drop_next: Nanos::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
            step: Step::Begun,
            maxpacket: Bytes::ZERO,
        }
    }

    /// Decides on the head, of `size`, which came to the queue `sojourn` before `now`, the moment at
    /// which the line would take it; `waiting` stays behind it in the queue. After `Drop` the line
    /// asks at the same `now` for the next head.
    pub(super) fn head(
        &mut self,
        now: Nanos,
        sojourn: Nanos,
        size: Bytes,
        waiting: Bytes,
    ) -> Verdict {
        self.maxpacket = self.maxpacket.max(size);
        let ok_to_drop = self.ok_to_drop(now, sojourn, waiting);
        match (self.step, self.dropping) {
            (Step::Begun, false) if ok_to_drop => self.enter_dropping(now),
            (Step::Begun, false) | (Step::Entered, _) => self.send(),
            (step, _) => self.head_while_dropping(now, ok_to_drop, step),
        }
    }

    /// The line found the queue empty: RFC 8289, `dodequeue` without a packet.
    pub(super) const fn empty(&mut self) {
        self.first_above_time = None;
        self.dropping = false;
        self.step = Step::Begun;
    }

    /// RFC 8289, section 5.6: `dodequeue`.
    fn ok_to_drop(&mut self, now: Nanos, sojourn: Nanos, waiting: Bytes) -> bool {
        if sojourn < self.limits.target || waiting <= self.maxpacket {
            self.first_above_time = None;
            return false;
        }
        let interval_ahead = now.saturating_add(self.limits.interval);
        now >= *self.first_above_time.get_or_insert(interval_ahead)
    }

    fn head_while_dropping(&mut self, now: Nanos, ok_to_drop: bool, step: Step) -> Verdict {
        if !ok_to_drop {
            self.dropping = false;
            return self.send();
        }
        if step == Step::Dropped {
            self.drop_next = self.control_law(self.drop_next);
        }
        if now < self.drop_next {
            return self.send();
        }
        self.count += 1;
        self.step = Step::Dropped;
        Verdict::Drop
    }

    fn enter_dropping(&mut self, now: Nanos) -> Verdict {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.lastcount);
        let recent = now.since(self.drop_next) < self.limits.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.lastcount = self.count;
        self.step = Step::Entered;
        Verdict::Drop
    }

    const fn send(&mut self) -> Verdict {
        self.step = Step::Begun;
        Verdict::Send
    }

    /// `t + INTERVAL / sqrt(count)`
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an interval of at most an hour divided by at least 1"
    )]
    fn control_law(&self, t: Nanos) -> Nanos {
        let step = self.limits.interval.count() as f64 / f64::from(self.count.max(1)).sqrt();
        t.saturating_add(Nanos::new(step as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that always has more to send, each packet 1 ms on the line: the sojourn time stays
    /// at 20 ms. RFC 8289: nothing in the first interval, then drops at distances of
    /// interval / sqrt(count).
    #[test]
    fn drops_follow_the_control_law_of_the_inverse_square_root() {
        let mut codel = Codel::new(CodelLimits::default());
        let (size, waiting) = (Bytes::new(1500), Bytes::new(30_000));
        let mut drops = Vec::new();
        for now in (0..2_000).map(Nanos::from_millis) {
            while codel.head(now, Nanos::from_millis(20), size, waiting) == Verdict::Drop {
                drops.push(now.millis());
            }
        }
        let mut due = 100.0;
        for (index, drop) in drops.iter().enumerate() {
            assert!((due..due + 1.0).contains(drop), "drop {index} at {drop} ms, due {due}");
            due += 100.0 / f64::from(u32::try_from(index).expect("few") + 1).sqrt();
        }
        assert!(drops.len() > 50, "{} drops in 2 s", drops.len());
    }

    #[test]
    fn a_short_queue_or_a_last_packet_is_never_dropped() {
        let mut codel = Codel::new(CodelLimits::default());
        let size = Bytes::new(1500);
        for now in (0..2_000).map(Nanos::from_millis) {
            let short = codel.head(now, Nanos::from_millis(4), size, Bytes::new(30_000));
            let last = codel.head(now, Nanos::from_millis(20), size, Bytes::new(1500));
            assert_eq!((short, last), (Verdict::Send, Verdict::Send));
        }
    }

    #[test]
    fn a_second_spell_soon_after_the_first_resumes_its_rate_of_drops() {
        let mut codel = Codel::new(CodelLimits::default());
        let (size, waiting, long) = (Bytes::new(1500), Bytes::new(30_000), Nanos::from_millis(20));
        let drops_between = |codel: &mut Codel, from: u64, to: u64, sojourn: Nanos| {
            let mut drops = 0;
            for now in (from..to).map(Nanos::from_millis) {
                while codel.head(now, sojourn, size, waiting) == Verdict::Drop {
                    drops += 1;
                }
            }
            drops
        };
        let first = drops_between(&mut codel, 0, 600, long);
        assert_eq!(drops_between(&mut codel, 600, 650, Nanos::ZERO), 0);
        let second = drops_between(&mut codel, 650, 1_250, long);
        assert!(second > first, "{first} drops, then {second} in as much time");
    }
}
