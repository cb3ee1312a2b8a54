//! A curve in a few numbers: latency, peak, half size, asymptotic rate, saturation.

use super::Curve;
use super::CurvePoint;
use super::regimes::Regime;
use super::regimes::Rise;
use super::regimes::regimes;
use super::regimes::rises;
use crate::pingpong::configuration::size_f64;
use crate::stats::arithmetic_mean;
use crate::units::Bytes;

/// What a curve says in a few numbers. `None`: the sizes do not reach far enough to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// T(1 B) in microseconds: the headline latency.
    pub latency_us: Option<f64>,
    /// NetPIPE's latency: the mean T of blocks below 64 B, in microseconds.
    pub netpipe_latency_us: Option<f64>,
    /// The highest throughput in Mb/s, and the block that has it.
    pub peak_mbps: Option<(f64, Bytes)>,
    /// n1/2: the smallest block with half the peak throughput, in bytes, between points on a log
    /// scale.
    pub half_size_bytes: Option<f64>,
    /// `r_inf`: the throughput that endless blocks would have, 1 / G of the last regime, in Mb/s.
    pub asymptotic_mbps: Option<f64>,
    /// The smallest block at which log T rises with at least 0.95 of the slope of log n: from here
    /// on larger blocks gain nothing.
    pub saturation: Option<Bytes>,
    /// The regimes.
    pub regimes: Vec<Regime>,
    /// The rises between them.
    pub rises: Vec<Rise>,
}

impl Curve {
    /// The curve in a few numbers.
    pub fn figures(&self) -> Figures {
        let regimes = regimes(self);
        Figures {
            latency_us: self.at(Bytes::new(1)).map(|point| point.time_us),
            netpipe_latency_us: self.netpipe_latency_us(),
            peak_mbps: self.peak_mbps(),
            half_size_bytes: self.half_size_bytes(),
            asymptotic_mbps: self.asymptotic_mbps(&regimes),
            saturation: self.saturation_point(&regimes),
            rises: rises(&regimes),
            regimes,
        }
    }

    fn netpipe_latency_us(&self) -> Option<f64> {
        let small = self.points.iter().filter(|point| point.size < Bytes::new(64));
        arithmetic_mean(&small.map(|point| point.time_us).collect::<Vec<f64>>())
    }

    fn peak_mbps(&self) -> Option<(f64, Bytes)> {
        let rates = self.points.iter().map(|point| (self.rate_mbps(point), point.size));
        rates.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn half_size_bytes(&self) -> Option<f64> {
        let half = self.peak_mbps()?.0 / 2.0;
        let reached = self.points.iter().position(|point| self.rate_mbps(point) >= half)?;
        let [before, after] = [reached.checked_sub(1)?, reached].map(|at| &self.points[at]);
        let log = |point: &CurvePoint| (size_f64(point.size).ln(), self.rate_mbps(point).ln());
        let ((n0, r0), (n1, r1)) = (log(before), log(after));
        Some((n0 + (half.ln() - r0) / (r1 - r0) * (n1 - n0)).exp())
    }

    fn asymptotic_mbps(&self, regimes: &[Regime]) -> Option<f64> {
        let per_byte = regimes.last()?.line.per_byte;
        (per_byte > 0.0).then(|| self.mode.rate_mbps(Bytes::new(1), per_byte))
    }

    fn saturation_point(&self, regimes: &[Regime]) -> Option<Bytes> {
        let slope = |point: &CurvePoint| {
            let regime = regimes.iter().find(|regime| point.size <= regime.to)?;
            Some(regime.line.log_slope(size_f64(point.size)))
        };
        let saturated = |point: &&CurvePoint| slope(point).is_some_and(|slope| slope >= SATURATED);
        self.points.iter().find(saturated).map(|point| point.size)
    }
}

/// The slope of log T over log n from which a curve is saturated.
const SATURATED: f64 = 0.95;

#[cfg(test)]
mod tests;
