//! How far each worker was at each moment, so that work inside any window can be told afterwards.

use btu_core::sample::ActivitySample;
use btu_core::units::Nanos;

/// The way of one worker: points of a line that only rises.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    points: Vec<Point>,
}

/// Work and CPU time until a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) at: Nanos,
    pub(super) units: f64,
    pub(super) cpu: Nanos,
}

/// The ways of all workers of one activity, after it was stopped.
#[derive(Clone, Debug, Default)]
pub struct Trails {
    pub(super) workers: Vec<Trail>,
    pub(super) unit: String,
    pub(super) failures: Vec<String>,
}

impl Trail {
    /// Room for the points of some seconds, so that the first cells of a run pay no growth.
    pub(super) fn reserve() -> Self {
        Self { points: Vec::with_capacity(4096) }
    }

    /// Notes a point; one that follows the point before it closely replaces it.
    pub(super) fn note(&mut self, point: Point) {
        let before_last = self.points.len().checked_sub(2).map(|index| self.points[index].at);
        let too_close = before_last.is_some_and(|earlier| point.at.since(earlier) < RESOLUTION);
        match self.points.last_mut().filter(|_| too_close) {
            Some(last) => *last = point,
            None => self.points.push(point),
        }
    }

    fn last(&self) -> Point {
        self.points.last().copied().unwrap_or_default()
    }

    /// Where the line is at `at`: between two points in proportion, beyond them as they are.
    fn position(&self, at: Nanos) -> (f64, f64) {
        let next = self.points.partition_point(|point| point.at < at);
        let known = |index: usize| self.points.get(index).copied();
        let (before, after) = match (next.checked_sub(1).and_then(known), known(next)) {
            (Some(before), Some(after)) => (before, after),
            (Some(last), None) => (last, last),
            (None, first) => (first.unwrap_or_default(), first.unwrap_or_default()),
        };
        let span = after.at.since(before.at).seconds();
        let share = if span > 0.0 { at.since(before.at).seconds() / span } else { 0.0 };
        let between = |low: f64, high: f64| low + (high - low) * share.min(1.0);
        (between(before.units, after.units), between(before.cpu.seconds(), after.cpu.seconds()))
    }
}

impl Trails {
    /// The work inside a window; a unit that straddles an edge counts by its part inside.
    pub fn over(&self, from: Nanos, to: Nanos) -> ActivitySample {
        let positions = |at| self.workers.iter().map(move |trail| trail.position(at));
        let moved = positions(to).zip(positions(from));
        let (units, cpu) = moved.fold((0.0, 0.0), |(units, cpu), (end, start)| {
            (units + end.0 - start.0, cpu + end.1 - start.1)
        });
        ActivitySample {
            units,
            elapsed_ns: to.since(from),
            threads: u32::try_from(self.workers.len()).unwrap_or(u32::MAX),
            cpu_ns: Some(std::time::Duration::from_secs_f64(cpu.max(0.0)).into()),
            unit: self.unit.clone(),
            failures: self.failures.clone(),
        }
    }

    /// All work, from the first start to the last end.
    pub fn whole(&self) -> ActivitySample {
        let starts = self.workers.iter().filter_map(|trail| trail.points.first()).map(|p| p.at);
        let ends = self.workers.iter().map(|trail| trail.last().at);
        self.over(starts.min().unwrap_or_default(), ends.max().unwrap_or_default())
    }

    /// All units.
    #[cfg(test)]
    fn units(&self) -> f64 {
        self.workers.iter().map(|trail| trail.last().units).sum()
    }
}

/// Two points closer than this become one.
const RESOLUTION: Nanos = Nanos::from_micros(500);

#[cfg(test)]
mod tests {
    use super::*;

    /// A trail with a point per (milliseconds, units); half of the time on the CPU.
    fn trail(points: &[(u64, f64)]) -> Trail {
        let mut trail = Trail::default();
        for &(ms, units) in points {
            let (at, cpu) = (Nanos::from_millis(ms), Nanos::from_micros(ms * 500));
            trail.note(Point { at, units, cpu });
        }
        trail
    }

    fn trails(all: &[&[(u64, f64)]]) -> Trails {
        Trails { workers: all.iter().map(|one| trail(one)).collect(), ..Trails::default() }
    }

    #[test]
    fn a_unit_that_straddles_an_edge_counts_by_its_part_inside() {
        let trails = trails(&[&[(0, 0.0), (10, 1.0), (20, 2.0), (30, 3.0)]]);
        let sample = trails.over(Nanos::from_millis(5), Nanos::from_millis(22));
        assert!((sample.units - 1.7).abs() < 1e-9, "{sample:?}");
        assert_eq!(sample.elapsed_ns, Nanos::from_millis(17));
        assert_eq!(sample.cpu_ns, Some(Nanos::from_micros(8500)));
    }

    #[test]
    fn threads_add_up() {
        let trails = trails(&[&[(0, 0.0), (10, 4.0)], &[(0, 0.0), (5, 1.0), (10, 2.0)]]);
        let sample = trails.over(Nanos::ZERO, Nanos::from_millis(10));
        assert!((sample.units - 6.0).abs() < 1e-9);
        assert_eq!(sample.threads, 2);
        assert_eq!(trails.whole().units.to_bits(), trails.units().to_bits());
    }

    #[test]
    fn nothing_is_made_up_beyond_the_last_point() {
        let trails = trails(&[&[(10, 0.0), (20, 2.0)]]);
        let sample = trails.over(Nanos::ZERO, Nanos::from_millis(100));
        assert!((sample.units - 2.0).abs() < 1e-9);
        assert_eq!(Trails::default().over(Nanos::ZERO, Nanos::from_millis(1)).threads, 0);
    }

    #[test]
    fn points_close_to_each_other_become_one_and_lose_nothing() {
        let mut trail = Trail::default();
        for step in 0..10_000_u32 {
            let at = Nanos::from_micros(u64::from(step));
            trail.note(Point { at, units: f64::from(step), cpu: at });
        }
        assert!(trail.points.len() < 50, "{} points", trail.points.len());
        assert!((trail.last().units - 9999.0).abs() < 1e-9);
        assert!((trail.position(Nanos::from_micros(4321)).0 - 4321.0).abs() < 1e-6);
    }
}
