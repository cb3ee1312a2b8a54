//! What a video was to take, over time.

use crate::traffic::trace::float;
use crate::units::BitRate;
use crate::units::Nanos;

/// The targets so far.
#[derive(Debug)]
pub(super) struct Targets {
    current: BitRate,
    since: Nanos,
    least: BitRate,
    most: BitRate,
    /// Bits that all targets before the current one came to.
    bits: f64,
}

impl Targets {
    pub(super) const fn new(start: BitRate) -> Self {
        Self { current: start, since: Nanos::ZERO, least: start, most: start, bits: 0.0 }
    }

    pub(super) const fn current(&self) -> BitRate {
        self.current
    }

    pub(super) fn set(&mut self, now: Nanos, target: BitRate) {
        self.bits += float(self.current.bit_per_second()) * now.since(self.since).seconds();
        self.since = self.since.max(now);
        self.current = target;
        (self.least, self.most) = (self.least.min(target), self.most.max(target));
    }

    /// Mean, least and largest, bit/s.
    pub(super) fn figures(&self, end: Nanos) -> [f64; 3] {
        let [current, least, most] =
            [self.current, self.least, self.most].map(|rate| float(rate.bit_per_second()));
        let end = end.max(self.since);
        let bits = self.bits + current * end.since(self.since).seconds();
        let mean = if end > Nanos::ZERO { bits / end.seconds() } else { current };
        [mean, least, most]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_target_is_weighted_by_time() {
        let mut targets = Targets::new(BitRate::new(1000));
        targets.set(Nanos::from_secs(1), BitRate::new(4000));
        targets.set(Nanos::from_secs(3), BitRate::new(500));
        let found = targets.figures(Nanos::from_secs(10));
        assert!((found[0] - 1250.0).abs() < 1e-9, "1 + 8 + 3.5 kb in 10 s: {found:?}");
        assert_eq!(found[1..].iter().map(|rate| rate.round()).collect::<Vec<_>>(), [500.0, 4000.0]);
    }
}
