//! What an exchange is expected to take: a + b n, corrected by what was seen.

use std::collections::BTreeMap;

use super::super::configuration::size_f64;
use super::super::curve::Line;
use crate::units::Bytes;

/// What is known of the exchanges of one configuration, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct CostModel {
    seen: BTreeMap<Bytes, f64>,
}

impl CostModel {
    /// An exchange of `size` took this long.
    pub(super) fn learn(&mut self, size: Bytes, exchange_ns: f64) {
        if exchange_ns > 0.0 && exchange_ns.is_finite() {
            self.seen.insert(size, exchange_ns);
        }
    }

    /// What an exchange of `size` will take: what it took, else what the line through the others
    /// says, else a guess.
    pub(super) fn exchange_ns(&self, size: Bytes) -> f64 {
        let known = self.seen.get(&size).copied();
        known.or_else(|| self.line_at(size)).unwrap_or_else(|| self.guess(size)).max(1.0)
    }

    /// The bound above which an exchange is far slower than a larger block: no cost per byte
    /// explains that.
    pub(super) fn slow_above_ns(&self, size: Bytes) -> Option<f64> {
        let larger = self.seen.iter().filter(|(other, _)| **other > size).map(|(_, time)| *time);
        larger.min_by(f64::total_cmp).map(|clean| SLOW_RATIO * clean)
    }

    /// True for a size that was seen far slower than a larger one.
    pub(super) fn is_slow(&self, size: Bytes) -> bool {
        let seen = self.seen.get(&size).zip(self.slow_above_ns(size));
        seen.is_some_and(|(time, bound)| *time > bound)
    }

    /// The guess, scaled by the size that was seen first; unscaled where nothing was.
    fn guess(&self, size: Bytes) -> f64 {
        let prior = |size: Bytes| PRIOR_NS + PRIOR_NS_PER_BYTE * size_f64(size);
        let scale = self.seen.iter().next().map_or(1.0, |(seen, time)| time / prior(*seen));
        prior(size) * scale
    }

    /// The line of least relative squares through all sizes that are not slow.
    fn line_at(&self, size: Bytes) -> Option<f64> {
        let points = self.clean();
        let line = Line::through(&points)?;
        (points.len() >= LEAST_POINTS).then(|| line.at(size_f64(size))).filter(|time| *time > 0.0)
    }

    /// The sizes that are not slow, with their times.
    fn clean(&self) -> Vec<(f64, f64)> {
        let (mut least, mut clean) = (f64::INFINITY, Vec::new());
        for (size, time) in self.seen.iter().rev() {
            if *time <= SLOW_RATIO * least {
                clean.push((size_f64(*size), *time));
            }
            least = least.min(*time);
        }
        clean
    }
}

/// Sizes that a line needs.
const LEAST_POINTS: usize = 3;
/// How much slower than a larger block is far slower.
const SLOW_RATIO: f64 = 20.0;
/// Before anything is known: 20 us and 1 GB/s each way.
const PRIOR_NS: f64 = 40_000.0;
const PRIOR_NS_PER_BYTE: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn model(seen: &[(u64, f64)]) -> CostModel {
        let mut model = CostModel::default();
        for (size, time) in seen {
            model.learn(Bytes::new(*size), *time);
        }
        model
    }

    #[test]
    fn the_expectation_goes_from_a_guess_over_a_line_to_what_was_seen() {
        let at = |model: &CostModel, size| model.exchange_ns(Bytes::new(size));
        assert!((at(&model(&[]), 0) - PRIOR_NS).abs() < 1e-9);
        assert!((at(&model(&[(1, 20_001.0)]), 1) - 20_001.0).abs() < 1e-9);
        let line = model(&[(1, 20_001.0), (1_000, 21_000.0), (100_000, 120_000.0)]);
        assert!((at(&line, 50_000) - 70_000.0).abs() < 1.0);
        assert!((at(&line, 1_000) - 21_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_block_twenty_times_slower_than_a_larger_one_is_slow() {
        let model = model(&[(16, 20_000.0), (700, 88e6), (1_464, 21_000.0), (8 << 20, 2e9)]);
        assert!(model.is_slow(Bytes::new(700)));
        assert!(!model.is_slow(Bytes::new(16)) && !model.is_slow(Bytes::new(8 << 20)));
        assert!((model.slow_above_ns(Bytes::new(100)).unwrap() - 420_000.0).abs() < 1.0);
        assert_eq!(model.slow_above_ns(Bytes::new(8 << 20)), None);
    }
}
