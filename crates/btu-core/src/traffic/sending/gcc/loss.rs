//! The rate by loss: queues that are too short to be seen as delay are seen as lost packets.

use crate::traffic::trace::float;
use crate::units::Nanos;

use super::Bounds;
use super::Heard;

/// The loss-based estimate (section 6), bit/s.
#[derive(Debug)]
pub(super) struct ByLoss {
    /// `As_hat`
    estimate: f64,
    /// Packets that were to come since it was set, and those of them that were lost.
    expected: u64,
    lost: u64,
    updated: Option<Nanos>,
}

impl ByLoss {
    pub(super) const fn new(start: f64) -> Self {
        Self { estimate: start, expected: 0, lost: 0, updated: None }
    }

    pub(super) const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Takes note of a report. Of fewer than 20 packets a share says nothing, and what a change did is seen after a
    /// round trip at the earliest: libwebrtc waits for both, the round trip and 300 ms (`kLimitNumPackets`,
    /// `kBweDecreaseInterval`). The bounds end at the estimate by delay: above that this one is not in use, and would
    /// take its time to come down where loss begins.
    pub(super) fn update(&mut self, now: Nanos, heard: &Heard<'_>, bounds: Bounds) {
        self.expected += heard.expected;
        self.lost += heard.lost;
        let since = self.updated.map(|before| now.since(before));
        let is_due = since.is_none_or(|since| since >= INTERVAL.saturating_add(heard.round_trip));
        if self.expected >= LEAST_PACKETS && is_due {
            self.estimate = changed(self.estimate, float(self.lost) / float(self.expected));
            (self.expected, self.lost, self.updated) = (0, 0, Some(now));
        }
        self.estimate = bounds.within(self.estimate);
    }

    pub(super) fn halve(&mut self, bounds: Bounds) {
        self.estimate = bounds.within(self.estimate / 2.0);
    }
}

//= draft-ietf-rmcat-gcc-02#6: As_hat(i) = As_hat(i-1) (1 - 0.5 p) above 10 % of loss p, 1.05 As_hat(i-1) below 2 %,
//    else As_hat(i-1)
fn changed(estimate: f64, loss: f64) -> f64 {
    if loss > 0.1 {
        estimate * (1.0 - 0.5 * loss)
    } else if loss < 0.02 {
        1.05 * estimate
    } else {
        estimate
    }
}

const LEAST_PACKETS: u64 = 20;
const INTERVAL: Nanos = Nanos::from_millis(300);

#[cfg(test)]
mod tests {
    use crate::traffic::figures::flow::rounded;

    use super::*;

    #[test]
    fn loss_changes_the_rate_as_the_draft_says() {
        let of = |loss| rounded(changed(1e6, loss));
        assert_eq!([0.0, 0.019].map(of), [1_050_000; 2]);
        assert_eq!([0.02, 0.05, 0.1].map(of), [1_000_000; 3]);
        assert_eq!([0.2, 0.5, 1.0].map(of), [900_000, 750_000, 500_000]);
    }

    /// 20 % of 10 packets are none yet, those of 20 are; then 300 ms and a round trip pass.
    #[test]
    fn few_packets_say_nothing_and_a_change_has_time_to_show() {
        let bounds = Bounds { least: 1e4, most: 1e6 };
        let mut rate = ByLoss::new(1e6);
        let mut hear = |at| {
            let round_trip = Nanos::from_millis(50);
            let heard = Heard { packets: &[], expected: 10, lost: 2, round_trip };
            rate.update(Nanos::from_millis(at), &heard, bounds);
            rounded(rate.estimate())
        };
        assert_eq!(
            [100, 200, 400, 549, 550].map(&mut hear),
            [1_000_000, 900_000, 900_000, 900_000, 810_000]
        );
        // What is not in use is no more than what is.
        rate.update(
            Nanos::from_secs(9),
            &Heard { packets: &[], expected: 90, lost: 0, round_trip: Nanos::ZERO },
            Bounds { most: 5e5, ..bounds },
        );
        assert!((rate.estimate() - 5e5).abs() < 1.0);
    }
}
