//! The regimes of a curve: ranges of sizes over which T = a + b n holds, and the rises between them.
//!
//! A transport changes its ways with the size: eager and rendezvous protocols, segments, caches. In
//! LogGP terms (Alexandrov et al., "LogGP: incorporating long messages into the LogP model", SPAA
//! 1995) a regime is T(n) = L + o + (n - 1) G.

use super::Curve;
use super::line::Line;
use super::line::LineFit;
use crate::pingpong::configuration::size_f64;
use crate::stats::NORMAL_MAD;
use crate::stats::count;
use crate::stats::median;
use crate::units::Bytes;

/// A range of sizes with one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regime {
    /// The smallest size.
    pub from: Bytes,
    /// The largest size.
    pub to: Bytes,
    /// T in microseconds over the size in bytes.
    pub line: Line,
}

/// A rise of T between two regimes that the bytes do not explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rise {
    /// The first size after it.
    pub at: Bytes,
    /// T after it over what the regime before it says.
    pub ratio: f64,
}

impl Regime {
    /// L + o: the time of a block of one byte, in microseconds. Telling the overhead o from the
    /// latency L takes a test of its own.
    pub fn latency_us(&self) -> f64 {
        self.line.at(1.0)
    }

    /// G: the time of each further byte, in nanoseconds.
    pub fn gap_ns(&self) -> f64 {
        self.line.per_byte * 1e3
    }
}

/// The regimes of a curve: the partition of its points with the smallest Bayesian information
/// criterion, by optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of
/// data on an interval", IEEE Signal Processing Letters 12, 2005). Residuals are those of log T;
/// each further regime costs its break, its level and its slope: 3 ln N.
pub fn regimes(curve: &Curve) -> Vec<Regime> {
    let points: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (size_f64(point.size), point.time_us)).collect();
    let variance = noise(&points).powi(2);
    let penalty = 3.0 * count(points.len().max(2)).ln();
    let cost = |fit: &LineFit| fit.residual() / variance + penalty;
    let breaks = partition(&points, cost);
    let ends = breaks.iter().skip(1).copied().chain([points.len()]);
    let range = |(from, to): (usize, usize)| {
        let line = Line::through(points.get(from..to)?)?;
        Some(Regime { from: curve.points[from].size, to: curve.points[to - 1].size, line })
    };
    breaks.iter().copied().zip(ends).filter_map(range).collect()
}

/// The rises of more than 1.3 between neighbouring regimes.
pub fn rises(regimes: &[Regime]) -> Vec<Rise> {
    let rise = |pair: &[Regime]| {
        let at = size_f64(pair[1].from);
        Rise { at: pair[1].from, ratio: pair[1].line.at(at) / pair[0].line.at(at) }
    };
    regimes.windows(2).map(rise).filter(|rise| rise.ratio > LEAST_RISE).collect()
}

/// Where each part of the cheapest partition begins.
fn partition(points: &[(f64, f64)], cost: impl Fn(&LineFit) -> f64) -> Vec<usize> {
    let mut cheapest = vec![(0.0, 0); points.len() + 1];
    for best in cheapest.iter_mut().skip(1) {
        *best = (f64::INFINITY, 0);
    }
    for from in 0..points.len() {
        let before: f64 = cheapest[from].0;
        let mut fit = LineFit::default();
        for to in from..points.len() {
            fit.add(points[to].0, points[to].1);
            let whole = from == 0 && to + 1 == points.len();
            let total = before + cost(&fit);
            if (whole || fit.points() >= LEAST_POINTS) && total < cheapest[to + 1].0 {
                cheapest[to + 1] = (total, from);
            }
        }
    }
    let mut breaks = Vec::new();
    let mut end = points.len();
    while end > 0 {
        end = cheapest[end].1;
        breaks.push(end);
    }
    breaks.reverse();
    breaks
}

/// The relative noise of a point, by how far it lies off the line between its two neighbours: a
/// robust estimate that breaks and dips do not move.
fn noise(points: &[(f64, f64)]) -> f64 {
    let deviation = |row: &[(f64, f64)]| {
        let [(n0, t0), (n, t), (n1, t1)] = [row[0], row[1], row[2]];
        let share = (n - n0) / (n1 - n0);
        let between = t0 + share * (t1 - t0);
        let spread = (1.0 + share * share + (1.0 - share) * (1.0 - share)).sqrt();
        (t / between).ln().abs() / spread
    };
    let deviations: Vec<f64> =
        points.windows(3).map(deviation).filter(|deviation| deviation.is_finite()).collect();
    (NORMAL_MAD * median(&deviations).unwrap_or(0.0)).max(LEAST_NOISE)
}

/// A regime has at least so many points: three lie on a line by chance.
const LEAST_POINTS: u32 = 4;
/// What two regimes differ by before it is called a rise.
const LEAST_RISE: f64 = 1.3;
/// No measured time is better than this.
const LEAST_NOISE: f64 = 0.002;
