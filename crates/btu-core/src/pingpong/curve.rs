//! Time over block size, and what a curve says in a few numbers (snell1996, section 4).
//!
//! The same points are drawn three ways: the signature graph shows throughput over time, the
//! saturation graph block size over time, the throughput graph throughput over block size.

mod compare;
mod figures;
mod line;
mod overhead;
mod regimes;

use std::collections::BTreeMap;

use super::configuration::Mode;
use super::point::LEAST_ROUNDS;
use super::point::PointSummary;
use super::statistic::Statistic;
use crate::stats::Interval;
use crate::stats::student_on_logs;
use crate::units::Bytes;

pub use compare::CurveComparison;
pub use compare::Rounds;
pub use compare::SizeComparison;
pub use compare::Verdict;
pub use compare::compare;
pub use figures::Figures;
pub use line::Line;
pub use line::LineFit;
pub use overhead::OverheadRow;
pub use overhead::TABLE_SIZES;
pub use overhead::overhead;
pub use regimes::Regime;
pub use regimes::Rise;
pub use regimes::regimes;
pub use regimes::rises;

/// A curve: one time per block size.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub label: String,
    /// What an exchange was.
    pub mode: Mode,
    /// The statistic that the times are.
    pub statistic: Statistic,
    /// The points, by rising size.
    pub points: Vec<CurvePoint>,
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// The block.
    pub size: Bytes,
    /// T, in microseconds.
    pub time_us: f64,
    /// The 95 % interval of T; `None` where none is known, as in most imported files.
    pub interval_us: Option<Interval>,
    /// The medians of the rounds; empty where none are known.
    pub rounds_us: Vec<f64>,
}

impl Curve {
    /// The curve of a statistic; only the typical time comes with its interval.
    pub fn new(
        label: impl Into<String>,
        mode: Mode,
        statistic: Statistic,
        points: &[PointSummary],
    ) -> Self {
        let headline = statistic == Statistic::Typical;
        let point = |point: &PointSummary| CurvePoint {
            size: point.size,
            time_us: point.value_us(statistic),
            interval_us: point.interval_us.filter(|_| headline),
            rounds_us: if headline { point.rounds_us.clone() } else { Vec::new() },
        };
        let points = points.iter().map(point).collect();
        Self { label: label.into(), mode, statistic, points }
    }

    /// The curve with these intervals where it has none.
    #[must_use]
    pub fn with_intervals(mut self, intervals: &BTreeMap<Bytes, Interval>) -> Self {
        for point in &mut self.points {
            point.interval_us = point.interval_us.or_else(|| intervals.get(&point.size).copied());
        }
        self
    }

    /// The throughput at a point, in Mb/s (10^6 bit).
    pub fn rate_mbps(&self, point: &CurvePoint) -> f64 {
        self.mode.rate_mbps(point.size, point.time_us)
    }

    /// The signature graph: (T in microseconds, throughput in Mb/s), in the order of the sizes.
    pub fn signature(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|point| (point.time_us, self.rate_mbps(point))).collect()
    }

    /// The saturation graph: (T in microseconds, block size).
    pub fn saturation(&self) -> Vec<(f64, Bytes)> {
        self.points.iter().map(|point| (point.time_us, point.size)).collect()
    }

    /// The throughput graph: (block size, throughput in Mb/s).
    pub fn throughput(&self) -> Vec<(Bytes, f64)> {
        self.points.iter().map(|point| (point.size, self.rate_mbps(point))).collect()
    }

    /// The point of a size.
    pub fn at(&self, size: Bytes) -> Option<&CurvePoint> {
        self.points.iter().find(|point| point.size == size)
    }
}

impl CurvePoint {
    /// The interval beside what was measured in the same rounds: the tide is that of both, and does not
    /// tell them apart.
    pub fn beside_us(&self) -> Option<Interval> {
        let rounds = Some(&self.rounds_us).filter(|rounds| rounds.len() >= LEAST_ROUNDS);
        rounds.and_then(|rounds| student_on_logs(rounds))
    }
}
