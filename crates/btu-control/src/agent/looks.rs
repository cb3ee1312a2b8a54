//! What a process may have moved after it told that last (docs/decisions/0072).

use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::message::MOVED_EVERY;

/// What a metered process told since its last account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    last: Option<Nanos>,
    /// In [`MOVED_EVERY`], at its highest rate.
    most: Bytes,
}

impl Looks {
    /// It tells what it moved since it told that last. On a busy machine it comes late with that; after a
    /// longer time it was idle, and began within the last period.
    pub(super) fn heard(&mut self, now: Nanos, moved_bytes: Bytes) {
        let gap =
            self.last.replace(now).map_or(MOVED_EVERY, |last| now.since(last).max(MOVED_EVERY));
        let gap = if gap > LATEST { MOVED_EVERY } else { gap };
        self.most = self.most.max(scaled(moved_bytes, MOVED_EVERY, gap));
    }

    /// What it may have moved since, at its highest rate. One that moves nothing tells nothing.
    pub(super) fn untold(&self, now: Nanos) -> Bytes {
        let since =
            self.last.map_or(Nanos::ZERO, |last| now.since(last).clamp(MOVED_EVERY, LATEST));
        scaled(self.most, since, MOVED_EVERY)
    }
}

/// `bytes` times `of` over `over`.
fn scaled(bytes: Bytes, of: Nanos, over: Nanos) -> Bytes {
    let scaled = u128::from(bytes.count()) * u128::from(of.count()) / u128::from(over.count());
    Bytes::new(u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// Later than this it is not late, but idle.
const LATEST: Nanos = Nanos::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(told: &[(u64, u64)]) -> Looks {
        let mut looks = Looks::default();
        for (millis, bytes) in told {
            looks.heard(Nanos::from_millis(*millis), Bytes::new(*bytes));
        }
        looks
    }

    #[test]
    fn what_is_not_told_is_charged_at_the_highest_rate_for_as_long_as_nothing_was_heard() {
        let untold = |told: &[(u64, u64)], at| looks(told).untold(Nanos::from_millis(at)).count();
        assert_eq!(untold(&[], 5_000), 0);
        assert_eq!(untold(&[(100, 300), (200, 20)], 210), 300, "no less than a whole look");
        assert_eq!(untold(&[(100, 300), (200, 20)], 500), 900);
        assert_eq!(untold(&[(100, 10), (500, 400)], 600), 100, "a late look is no fast one");
        assert_eq!(untold(&[(100, 300), (101, 300)], 200), 300, "two that come at once neither");
        assert_eq!(untold(&[(100, 300)], 90_000), 3_000, "it was idle");
        assert_eq!(untold(&[(100, 10), (60_000, 500)], 60_100), 500, "and began again");
    }
}
