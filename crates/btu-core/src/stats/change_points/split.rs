//! Intervals of a series that are divided while a t test finds their parts different.

use statrs::distribution::ContinuousCDF;
use statrs::distribution::StudentsT;

use super::ChangePoint;
use super::divergence::Distances;
use super::divergence::Division;
use crate::stats::arithmetic_mean;
use crate::stats::count;

/// A series, and the p value below which two parts of it are different.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split<'v> {
    pub(super) values: &'v [f64],
    pub(super) p: f64,
}

impl Split<'_> {
    /// The change points of a window: the best division of all its intervals is taken, until one is not significant.
    pub(super) fn within(&self, start: usize, end: usize) -> Vec<usize> {
        let distances = Distances::of(self.values, start, end);
        let (mut ends, mut found) = (vec![start, end], Vec::new());
        while let Some(best) = best(&distances, &ends) {
            let place = ends.partition_point(|end| *end < best.at);
            if self.point(ends[place - 1], best.at, ends[place]).p >= self.p {
                break;
            }
            ends.insert(place, best.at);
            found.push(best.at);
        }
        found.sort_unstable();
        found
    }

    /// These places as change points, each tested on the intervals to its neighbours.
    pub(super) fn among(&self, places: &[usize]) -> Vec<ChangePoint> {
        let ends: Vec<usize> =
            [0].iter().chain(places).chain([&self.values.len()]).copied().collect();
        ends.windows(3).map(|ends| self.point(ends[0], ends[1], ends[2])).collect()
    }

    fn point(&self, from: usize, at: usize, to: usize) -> ChangePoint {
        let [left, right] = [&self.values[from..at], &self.values[at..to]];
        let mean = |part: &[f64]| arithmetic_mean(part).unwrap_or(f64::NAN);
        ChangePoint { at, before: mean(left), after: mean(right), p: student(left, right) }
    }
}

/// The best division of all intervals; of equals the first.
fn best(distances: &Distances, ends: &[usize]) -> Option<Division> {
    let found = ends.windows(2).filter_map(|ends| distances.best(ends[0], ends[1]));
    found.reduce(|best, next| if next.q > best.q { next } else { best })
}

/// Student's two-sided t test with pooled variance, weights n - 1, of standard deviations that were taken with divisor n, as
/// Otava does. Two values in all tell nothing: 1.
fn student(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (count(left.len()), count(right.len()));
    let freedom = n + m - 2.0;
    let means = arithmetic_mean(left).zip(arithmetic_mean(right));
    let Some((difference, freedom)) = means.map(|(a, b)| b - a).zip(positive(freedom)) else {
        return 1.0;
    };
    let pooled = ((n - 1.0) * variance(left) + (m - 1.0) * variance(right)) / freedom;
    let error = (pooled * (1.0 / n + 1.0 / m)).sqrt();
    if error <= 0.0 {
        return if difference.abs() > 0.0 { 0.0 } else { 1.0 };
    }
    let Ok(law) = StudentsT::new(0.0, 1.0, freedom) else { return 1.0 };
    2.0 * law.cdf(-(difference / error).abs())
}

fn positive(freedom: f64) -> Option<f64> {
    (freedom > 0.0).then_some(freedom)
}

/// With the divisor n.
fn variance(values: &[f64]) -> f64 {
    let Some(mean) = arithmetic_mean(values) else { return 0.0 };
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count(values.len())
}
