//! What looks like a chasm in a sweep, and the curve that would be there without it.

use crate::pingpong::configuration::size_f64;
use crate::pingpong::curve::CurvePoint;
use crate::stats::isotonic_weighted;
use crate::units::Bytes;

/// A range of sizes that looks like a chasm.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its first point.
    pub from: Bytes,
    /// Its last point.
    pub to: Bytes,
    /// The point that is the slowest against the baseline.
    pub worst: Bytes,
    /// How much slower that is.
    pub ratio: f64,
    /// Points inside that look good.
    pub good: Vec<Bytes>,
}

impl Candidate {
    /// The sizes to measure again: both ends, the middle, the worst.
    pub(super) fn probes(&self, sizes: &[Bytes]) -> Vec<Bytes> {
        let slow =
            |size: &&Bytes| **size >= self.from && **size <= self.to && !self.good.contains(size);
        let slow: Vec<Bytes> = sizes.iter().filter(slow).copied().collect();
        let middle = slow.get(slow.len() / 2).copied();
        let mut probes: Vec<Bytes> =
            [self.from, self.to, self.worst].into_iter().chain(middle).collect();
        probes.sort_unstable();
        probes.dedup();
        probes
    }
}

/// The candidates of a sweep: points whose lower bound lies above `ratio` times the upper bound of a
/// larger block, those that belong to them on the left, and the good points between two of them.
///
/// A comparison with direct neighbours would miss every chasm that is wider than a point.
pub(super) fn candidates(points: &[CurvePoint], ratio: f64) -> Vec<Candidate> {
    let bounds: Vec<(f64, f64)> = points.iter().map(bounds).collect();
    let mut slow = above_the_envelope(&bounds, ratio);
    extend_left(points, &bounds, ratio, &mut slow);
    let ranges = ranges(&slow);
    let marked: Vec<CurvePoint> = kept(points, &slow, false);
    let baseline = Baseline::of(&marked);
    let candidate = |(first, last): &(usize, usize)| {
        let inside = || (*first..=*last).filter(|at| slow[*at]);
        let depth = |at: &usize| points[*at].time_us / baseline.at(points[*at].size);
        let worst = inside().max_by(|a, b| depth(a).total_cmp(&depth(b)))?;
        let good = (*first..=*last).filter(|at| !slow[*at]).map(|at| points[at].size).collect();
        let (from, to) = (points[*first].size, points[*last].size);
        let ratio = depth(&worst);
        Some(Candidate { from, to, worst: points[worst].size, ratio, good })
    };
    ranges.iter().filter_map(candidate).collect()
}

/// The interval of a point beside those of the same sweep; without one, the range of its rounds; without
/// rounds, its time.
fn bounds(point: &CurvePoint) -> (f64, f64) {
    let rounds = point.rounds_us.iter().copied();
    let low = rounds.clone().min_by(f64::total_cmp).unwrap_or(point.time_us);
    let high = rounds.max_by(f64::total_cmp).unwrap_or(point.time_us);
    point.beside_us().map_or((low, high), |interval| (interval.low, interval.high))
}

/// Points whose lower bound is above `ratio` times the least upper bound of all larger blocks.
fn above_the_envelope(bounds: &[(f64, f64)], ratio: f64) -> Vec<bool> {
    let mut least = f64::INFINITY;
    let mut slow: Vec<bool> = bounds
        .iter()
        .rev()
        .map(|(low, high)| {
            let above = *low > ratio * least;
            least = least.min(*high);
            above
        })
        .collect();
    slow.reverse();
    slow
}

/// The left part of a wide dip may be faster than the blocks after the dip. It is told by its bytes:
/// the throughput is below that of a smaller block, and no latency explains that.
fn extend_left(points: &[CurvePoint], bounds: &[(f64, f64)], ratio: f64, slow: &mut [bool]) {
    for at in (1..slow.len()).rev() {
        let before = at - 1;
        if slow[at] && !slow[before] {
            let n = size_f64(points[before].size);
            let slower_than = |smaller: usize| {
                let scaled = bounds[smaller].1 * n / size_f64(points[smaller].size);
                bounds[before].0 > ratio * scaled
            };
            slow[before] = (0..before).any(slower_than);
        }
    }
}

/// Ranges of slow points as (first, last); up to three good points in a row belong to the range.
fn ranges(slow: &[bool]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for at in (0..slow.len()).filter(|at| slow[*at]) {
        match ranges.last_mut() {
            Some((_, last)) if at - *last <= MOST_GOOD + 1 => *last = at,
            _ => ranges.push((at, at)),
        }
    }
    ranges
}

fn kept(points: &[CurvePoint], slow: &[bool], which: bool) -> Vec<CurvePoint> {
    let kept = points.iter().zip(slow).filter(|(_, slow)| **slow == which);
    kept.map(|(point, _)| point.clone()).collect()
}

/// T without chasms, by isotonic regression of log T over the points that are no candidates, with
/// weights 1 / width of the interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Baseline {
    points: Vec<(Bytes, f64)>,
}

impl Baseline {
    /// The baseline of a sweep, with every point of a candidate left out.
    pub(super) fn new(points: &[CurvePoint], candidates: &[Candidate]) -> Self {
        let inside = |point: &CurvePoint| {
            candidates.iter().any(|of| of.from <= point.size && point.size <= of.to)
        };
        let clean: Vec<CurvePoint> =
            points.iter().filter(|point| !inside(point)).cloned().collect();
        Self::of(&clean)
    }

    fn of(points: &[CurvePoint]) -> Self {
        let weighed = |point: &CurvePoint| {
            let (low, high) = bounds(point);
            (point.time_us.ln(), (high / low).ln().max(LEAST_WIDTH).recip())
        };
        let fit = isotonic_weighted(&points.iter().map(weighed).collect::<Vec<_>>());
        let points = points.iter().zip(fit).map(|(point, log)| (point.size, log.exp()));
        Self { points: points.collect() }
    }

    /// The clean sizes.
    pub(super) fn sizes(&self) -> impl Iterator<Item = Bytes> + Clone + '_ {
        self.points.iter().map(|(size, _)| *size)
    }

    /// T of a size in microseconds: on the line between its clean neighbours, level outside.
    pub(super) fn at(&self, size: Bytes) -> f64 {
        let above = self.points.partition_point(|(clean, _)| *clean < size);
        let after = self.points.get(above).or_else(|| self.points.last());
        let before = above.checked_sub(1).and_then(|at| self.points.get(at)).or(after);
        let (Some((n0, t0)), Some((n1, t1))) = (before, after) else { return 1.0 };
        let span = size_f64(*n1) - size_f64(*n0);
        let share = if span > 0.0 { (size_f64(size) - size_f64(*n0)) / span } else { 0.0 };
        t0 + share * (t1 - t0)
    }
}

/// Good points in a row that do not part a range: a base and its two neighbours.
const MOST_GOOD: usize = 3;
/// The narrowest interval that still gains weight.
const LEAST_WIDTH: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;

    fn points(times: &[(u64, f64)]) -> Vec<CurvePoint> {
        let point = |(size, time_us): &(u64, f64)| CurvePoint {
            size: Bytes::new(*size),
            time_us: *time_us,
            interval_us: None,
            rounds_us: vec![time_us * 0.99, time_us * 1.01],
        };
        times.iter().map(point).collect()
    }

    fn found(times: &[(u64, f64)]) -> Vec<(u64, u64)> {
        let found = candidates(&points(times), 1.3);
        found.iter().map(|found| (found.from.count(), found.to.count())).collect()
    }

    #[test]
    fn a_plateau_of_any_width_is_one_candidate() {
        let row = [(1, 10.0), (16, 10.0), (19, 900.0), (64, 900.0), (1024, 900.0), (1536, 11.0)];
        assert_eq!(found(&row), [(19, 1024)]);
        assert!(found(&[(1, 10.0), (1024, 11.0), (2048, 40.0), (4096, 42.0)]).is_empty());
    }

    #[test]
    fn good_points_in_a_candidate_do_not_part_it() {
        let row = [(1, 10.0), (8, 90.0), (16, 10.0), (32, 90.0), (64, 10.0), (128, 10.5)];
        let found = candidates(&points(&row), 1.3);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].good, [Bytes::new(16)]);
        assert!((found[0].ratio - 9.0).abs() < 0.1);
    }

    /// 10 us + n / 1e9, three times slower from 8 to 64 KiB: 3 x 18 us is less than 1.3 x 108 us of
    /// the first block after the dip.
    #[test]
    fn the_left_part_of_a_wide_dip_belongs_to_it() {
        let t = |n: u64| 10.0 + size_f64(Bytes::new(n)) / 1e3;
        let dip = |n: u64| (n, if (8_192..=65_536).contains(&n) { 3.0 * t(n) } else { t(n) });
        let row: Vec<(u64, f64)> =
            (0..12).flat_map(|k| [1_u64 << (k + 6), 3 << (k + 5)]).map(dip).collect();
        assert_eq!(found(&row), [(8_192, 65_536)]);
    }

    #[test]
    fn the_baseline_lies_on_the_line_between_clean_points() {
        let row = points(&[(10, 10.0), (20, 90.0), (30, 20.0)]);
        let baseline = Baseline::new(&row, &candidates(&row, 1.3));
        let at = |size| baseline.at(Bytes::new(size));
        assert!((at(20) - 15.0).abs() < 1e-9 && (at(5) - 10.0).abs() < 1e-9);
        assert!((at(90) - 20.0).abs() < 1e-9);
    }
}
