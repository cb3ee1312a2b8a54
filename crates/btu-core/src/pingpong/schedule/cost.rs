//! What an exchange is expected to take: a + b n, corrected by what was seen.

use super::super::configuration::size_f64;
use super::super::curve::Line;
use crate::units::Bytes;
use crate::units::Nanos;

/// What is known of the exchanges of one configuration, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct CostModel {
    /// By size, ascending.
    seen: Vec<Seen>,
}

/// What the exchanges of a size took.
#[derive(Clone, Copy, Debug)]
struct Seen {
    size: Bytes,
    time: f64,
    /// The least time of all larger sizes. Each visit asks for it several times, and what is learned changes it
    /// for few.
    least_above: f64,
}

impl CostModel {
    /// An exchange of `size` took this long.
    pub(super) fn learn(&mut self, size: Bytes, exchange_ns: f64) {
        if exchange_ns > 0.0 && exchange_ns.is_finite() {
            let at = match self.find(size) {
                Ok(at) => at,
                Err(at) => {
                    let new = Seen { size, time: exchange_ns, least_above: self.least_from(at) };
                    self.seen.insert(at, new);
                    at
                }
            };
            self.seen[at].time = exchange_ns;
            self.tell_smaller(at);
        }
    }

    /// What an exchange of `size` will take: what it took, else what the line through the others
    /// says, else a guess.
    pub(super) fn exchange_ns(&self, size: Bytes) -> f64 {
        let known = self.find(size).ok().map(|at| self.seen[at].time);
        known.or_else(|| self.line_at(size)).unwrap_or_else(|| self.guess(size)).max(1.0)
    }

    /// The bound above which an exchange is far slower than a larger block: no cost per byte
    /// explains that.
    pub(super) fn slow_above_ns(&self, size: Bytes) -> Option<f64> {
        let clean = match self.find(size) {
            Ok(at) => self.seen[at].least_above,
            Err(at) => self.least_from(at),
        };
        clean.is_finite().then_some(SLOW_RATIO * clean)
    }

    /// True for a size that was seen far slower than a larger one.
    pub(super) fn is_slow(&self, size: Bytes) -> bool {
        let seen = self.find(size).map(|at| self.seen[at]);
        seen.is_ok_and(|seen| seen.time > SLOW_RATIO * seen.least_above)
    }

    /// True where an exchange of `size` takes longer than this by what was seen: one of its own size, or of a
    /// smaller one, and by the line through all as far as that reaches. A delay that came once is none, as long
    /// as other sizes tell so.
    pub(super) fn is_above(&self, size: Bytes, most: Nanos) -> bool {
        let most_ns = most.seconds() * 1e9;
        let own = self.find(size).ok().map(|at| self.seen[at].time);
        if own.is_some_and(|time| time <= most_ns) {
            return false;
        }
        let (points, at) = (self.clean(), size_f64(size));
        let is_near = points.iter().any(|(seen, _)| seen * REACH >= at);
        let by_line = is_near && self.line_at(size).is_some_and(|time| time > most_ns);
        by_line || points.iter().any(|(seen, time)| *seen < at && *time > most_ns)
    }

    /// Where this size is, or belongs.
    fn find(&self, size: Bytes) -> Result<usize, usize> {
        self.seen.binary_search_by_key(&size, |seen| seen.size)
    }

    /// The least time of the sizes from this place on.
    fn least_from(&self, at: usize) -> f64 {
        self.seen.get(at).map_or(f64::INFINITY, |seen| seen.time.min(seen.least_above))
    }

    /// Tells the sizes below this place of what is above them, up to one for which nothing changes.
    fn tell_smaller(&mut self, at: usize) {
        let mut least = self.least_from(at);
        for seen in self.seen[..at].iter_mut().rev() {
            if seen.least_above.total_cmp(&least).is_eq() {
                return;
            }
            seen.least_above = least;
            least = least.min(seen.time);
        }
    }

    /// The guess, scaled by the size that was seen first; unscaled where nothing was.
    fn guess(&self, size: Bytes) -> f64 {
        let prior = |size: Bytes| PRIOR_NS + PRIOR_NS_PER_BYTE * size_f64(size);
        let scale = self.seen.first().map_or(1.0, |seen| seen.time / prior(seen.size));
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
        let clean =
            self.seen.iter().rev().filter(|seen| seen.time <= SLOW_RATIO * seen.least_above);
        clean.map(|seen| (size_f64(seen.size), seen.time)).collect()
    }
}

/// How many times a size that was seen a line tells of. What one byte and three take says nothing of a million.
const REACH: f64 = 8.0;
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

    #[test]
    fn a_line_tells_of_blocks_that_take_too_long_as_far_as_it_reaches() {
        let is_above =
            |model: &CostModel, size| model.is_above(Bytes::new(size), Nanos::new(100_000));
        let tiny = model(&[(1, 20_000.0), (2, 30_000.0), (3, 40_000.0)]);
        assert!(!is_above(&tiny, 8 << 20) && is_above(&tiny, 24));
        let few = model(&[(10, 200_000.0), (20, 90_000.0)]);
        assert!(is_above(&few, 15) && !is_above(&few, 20) && !is_above(&few, 5));
        let alone = model(&[(10, 200_000.0)]);
        assert!(!is_above(&alone, 10), "no smaller one and no line says so");
    }

    /// Whatever is learned in whatever order, the bound of a size is that of the fastest larger one.
    #[test]
    fn bounds_are_those_of_the_fastest_larger_block_after_each_visit() {
        let mut model = CostModel::default();
        let mut last = [None; 7];
        for step in 0..200_u64 {
            let (size, time) = (step * 5 % 7, 1.0 + size_f64(Bytes::new(step * step * 31 % 17)));
            model.learn(Bytes::new(size), time);
            last[usize::try_from(size).unwrap()] = Some(time);
            for below in 0..7 {
                let larger = last[below + 1..].iter().flatten().copied().min_by(f64::total_cmp);
                let found = model.slow_above_ns(Bytes::new(below as u64));
                assert_eq!(found, larger.map(|time| SLOW_RATIO * time), "step {step}: {below}");
            }
        }
    }
}
