//! How long nothing moves of a visit that is over its limit.
//!
//! A block may take longer than any visit was planned for, and its peer be well: as long as its connection moves,
//! the visit goes on.

use btu_core::units::Nanos;

/// What is known of a visit's silence; times are those of one clock.
#[derive(Debug)]
pub(super) struct Silence {
    /// When the visit is over its limit; nothing is read before that.
    limit: Nanos,
    patience: Nanos,
    /// How long beyond its limit it may go on at the most.
    longest: Nanos,
    /// When something moved last, or the limit was reached.
    heard: Nanos,
    moved: Option<u64>,
}

impl Silence {
    /// Of a visit that is over its limit at this moment.
    pub(super) const fn after(limit: Nanos, patience: Nanos, longest: Nanos) -> Self {
        Self { limit, patience, longest, heard: limit, moved: None }
    }

    /// How long it may still be silent, or go on whatever moves.
    pub(super) fn left(&self, now: Nanos) -> Nanos {
        let silent = self.heard.saturating_add(self.patience);
        silent.min(self.end()).since(now)
    }

    /// True once nothing has moved for the patience, by a count that `moved` reads now and then.
    pub(super) fn is_over(&mut self, now: Nanos, moved: impl FnOnce() -> Option<u64>) -> bool {
        if now < self.limit {
            return false;
        }
        let moved = moved();
        if moved.is_some() && moved != self.moved {
            (self.moved, self.heard) = (moved, now);
        }
        self.left(now).is_zero()
    }

    /// A peer that moves a byte now and then keeps nobody for ever.
    fn end(&self) -> Nanos {
        self.limit.saturating_add(self.patience.max(self.longest))
    }
}

/// Of a visit within this host: 64 MiB there and back at 2 Mbit/s.
pub(super) const LONGEST: Nanos = Nanos::from_secs(600);
/// Of a visit with another host, whose agent ends the work of a conductor that says nothing for longer.
pub const LONGEST_WITH_A_PEER: Nanos = Nanos::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Nanos {
        Nanos::from_secs(seconds)
    }

    /// Whether it is over at the end of each second from the third on, of which these counts are read.
    fn over(counts: &[Option<u64>]) -> Vec<bool> {
        let mut silence = Silence::after(s(2), s(2), LONGEST);
        (3..).zip(counts).map(|(at, count)| silence.is_over(s(at), || *count)).collect()
    }

    #[test]
    fn a_visit_goes_on_as_long_as_its_connection_moves() {
        assert_eq!(over(&[Some(1), Some(2), Some(3), Some(4)]), [false; 4]);
        assert_eq!(over(&[Some(1), Some(2), Some(2), Some(2)]), [false, false, false, true]);
        assert_eq!(over(&[None, None]), [false, true], "nobody counts");
    }

    #[test]
    fn nothing_is_read_before_the_limit_and_nothing_goes_on_for_ever() {
        let mut silence = Silence::after(s(2), s(2), LONGEST);
        assert!(!silence.is_over(s(1), || unreachable!("the visit has its time")));
        assert_eq!(silence.left(s(1)), s(3));
        let mut count = 0;
        let mut is_over = |at| {
            count += 1;
            silence.is_over(s(at), || Some(count))
        };
        assert!(!is_over(601) && is_over(602));
    }
}
