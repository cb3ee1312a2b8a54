//! A curve in `result.json`: its settings, figures, points and what broke off.

use std::collections::BTreeMap;

use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::point::PointSummary;
use btu_core::pingpong::schedule::Stop;
use btu_core::stats::Interval;
use btu_core::units::Bytes;
use serde::Deserialize;
use serde::Serialize;

use super::chasm;
use super::chasm::ChasmResult;

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveResult {
    /// What legends call it.
    pub label: String,
    /// Every setting, in words.
    pub settings: BTreeMap<String, String>,
    /// T of one byte, microseconds.
    pub latency_us: Option<f64>,
    /// Mean T of blocks below 64 B, as `NetPIPE` has it, microseconds.
    pub netpipe_latency_us: Option<f64>,
    /// The highest throughput, Mb/s (10^6 bit).
    pub peak_mbps: Option<f64>,
    /// The block that has it.
    pub peak_bytes: Option<u64>,
    /// n1/2: the smallest block with half the peak.
    pub half_size_bytes: Option<f64>,
    /// `r_inf`: throughput of endless blocks, Mb/s.
    pub asymptotic_mbps: Option<f64>,
    /// The smallest block from which larger ones gain nothing.
    pub saturation_bytes: Option<u64>,
    /// Ranges of sizes with one line each.
    pub regimes: Vec<RegimeResult>,
    /// What became of each range that looked like a chasm; null where nobody looked.
    pub chasms: Option<Vec<ChasmResult>>,
    /// Every point, by rising size.
    pub points: Vec<PointResult>,
    /// Points that ended before their time.
    pub faults: Vec<FaultResult>,
    /// Exchanges whose every byte was checked.
    pub verified_exchanges: u64,
    /// Sizes that were asked for and are larger than what the transport carries.
    pub too_large_bytes: Vec<u64>,
    /// Sizes that were asked for and not visited once, with the reason.
    pub left_out: Vec<LeftOutResult>,
    /// What a reader should know.
    pub remarks: Vec<String>,
}

/// A range of sizes over which T = L + o + (n - 1) G.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RegimeResult {
    /// The smallest size.
    pub from_bytes: u64,
    /// The largest size.
    pub to_bytes: u64,
    /// L + o, microseconds.
    pub latency_us: f64,
    /// G, nanoseconds per byte.
    pub gap_ns_per_byte: f64,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointResult {
    /// The block.
    pub bytes: u64,
    /// The plan's statistic of T, microseconds.
    pub time_us: f64,
    /// 95 % interval of that statistic; null for one that has none.
    pub statistic_ci95_us: Option<[f64; 2]>,
    /// Throughput at that time, Mb/s (10^6 bit).
    pub rate_mbps: f64,
    /// Geometric mean of the round medians, microseconds.
    pub typical_us: f64,
    /// Its 95 % interval; null under three rounds.
    pub ci95_us: Option<[f64; 2]>,
    /// 95 % interval of the median of all exchanges as if they did not hang together; null for few.
    pub within_round_ci95_us: Option<[f64; 2]>,
    /// Fastest exchange, microseconds.
    pub min_us: f64,
    /// Median of all exchanges, microseconds.
    pub median_us: f64,
    /// 99 % quantile of all exchanges, microseconds.
    pub p99_us: f64,
    /// Mean of all exchanges, microseconds.
    pub mean_us: f64,
    /// Mean of the first 3000 exchanges and the rest of their round, microseconds; of all where there were fewer.
    pub average_of_3000_us: f64,
    /// Of how many exchanges that mean is: 3000 or more, or all where there were fewer.
    pub average_of_3000_exchanges: u64,
    /// Smallest mean of three thirds of the exchanges, microseconds.
    pub netpipe_us: f64,
    /// `typical_us` of each connection, in the order of the connections.
    pub connections_us: Vec<f64>,
    /// Exchanges.
    pub exchanges: u64,
    /// Timed units that they make: as many, or fewer where a unit has several, as of a stream up to its
    /// acknowledgement.
    pub timed_units: u64,
    /// Rounds that count.
    pub rounds: u64,
    /// Rounds that were asked for.
    pub asked_rounds: u64,
    /// Why it got fewer: `block_time`, `budget`, `exchanges`, `failures`, `point_time` or `slow`; null where it
    /// did not, or nothing but single visits failed, or the measurement was cut short.
    pub stop: Option<String>,
    /// Names of the remarks on the point.
    pub flags: Vec<String>,
}

/// A size that was not visited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutResult {
    /// The block.
    pub bytes: u64,
    /// Why: as `stop` of a point.
    pub stop: String,
}

/// Visits of a point that broke off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultResult {
    /// The block.
    pub bytes: u64,
    /// `peer_gone`, `stalled`, `corrupted`, `short`, `late`, `duplicated`, `system`.
    pub fault: String,
    /// Operation, operand and cause.
    pub detail: String,
    /// How many visits.
    pub visits: u64,
    /// True where no later visit made it good.
    pub lasting: bool,
}

pub(super) fn curve(measured: &Measured) -> CurveResult {
    let figures = &measured.figures;
    let settings = measured.configuration.settings().into_iter();
    let regimes = figures.regimes.iter().map(|regime| RegimeResult {
        from_bytes: regime.from.count(),
        to_bytes: regime.to.count(),
        latency_us: regime.latency_us(),
        gap_ns_per_byte: regime.gap_ns(),
    });
    let findings = measured.findings.as_ref();
    CurveResult {
        label: measured.label.clone(),
        settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
        latency_us: figures.latency_us,
        netpipe_latency_us: figures.netpipe_latency_us,
        peak_mbps: figures.peak_mbps.map(|(rate, _)| rate),
        peak_bytes: figures.peak_mbps.map(|(_, size)| size.count()),
        half_size_bytes: figures.half_size_bytes,
        asymptotic_mbps: figures.asymptotic_mbps,
        saturation_bytes: figures.saturation.map(Bytes::count),
        regimes: regimes.collect(),
        chasms: findings.map(|findings| findings.iter().map(chasm::chasm).collect()),
        points: measured.points.iter().map(|point| self::point(measured, point)).collect(),
        faults: faults(measured),
        verified_exchanges: measured.verified.iter().map(|(_, exchanges)| exchanges).sum(),
        too_large_bytes: measured.too_large.iter().copied().map(Bytes::count).collect(),
        left_out: measured.left_out().map(|(size, stop)| left_out(size, stop)).collect(),
        remarks: measured.remarks.clone(),
    }
}

fn point(measured: &Measured, point: &PointSummary) -> PointResult {
    let time_us = point.value_us(measured.curve.statistic);
    PointResult {
        bytes: point.size.count(),
        time_us,
        statistic_ci95_us: bounds(measured.interval_us(point.size)),
        rate_mbps: measured.configuration.mode.rate_mbps(point.size, time_us),
        typical_us: point.typical_us,
        ci95_us: bounds(point.interval_us),
        within_round_ci95_us: bounds(point.within_round_us),
        min_us: point.min_us,
        median_us: point.median_us,
        p99_us: point.p99_us,
        mean_us: point.mean_us,
        average_of_3000_us: point.average_of_3000_us.0,
        average_of_3000_exchanges: point.average_of_3000_us.1,
        netpipe_us: point.netpipe_us,
        connections_us: point.connections_us.clone(),
        exchanges: point.exchanges,
        timed_units: point.units,
        rounds: u64::try_from(point.rounds_us.len()).unwrap_or(u64::MAX),
        asked_rounds: measured.asked_rounds.into(),
        stop: measured.stops.get(&point.size).map(|stop| stop.name().to_owned()),
        flags: point.flags.iter().map(|flag| flag.name.clone()).collect(),
    }
}

fn left_out(size: Bytes, stop: Stop) -> LeftOutResult {
    LeftOutResult { bytes: size.count(), stop: stop.name().to_owned() }
}

fn bounds(interval: Option<Interval>) -> Option<[f64; 2]> {
    interval.map(|interval| [interval.low, interval.high])
}

fn faults(measured: &Measured) -> Vec<FaultResult> {
    let faults = measured.faults.iter().map(|fault| FaultResult {
        bytes: fault.size.count(),
        fault: serde_json::json!(fault.kind).as_str().unwrap_or_default().to_owned(),
        detail: fault.detail.clone(),
        visits: u64::try_from(fault.visits).unwrap_or(u64::MAX),
        lasting: fault.is_lasting,
    });
    faults.collect()
}
