//! `result.json` of a ping-pong: every curve with its points, figures and chasms, units in the keys.

mod beside;

use std::collections::BTreeMap;

use btu_core::pingpong::analysis::Analysis;
use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::chasm::Chasm;
use btu_core::pingpong::chasm::Finding;
use btu_core::pingpong::chasm::Outcome;
use btu_core::pingpong::journal::Journal;
use btu_core::pingpong::point::PointSummary;
use btu_core::stats::Interval;
use btu_core::units::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::host_line;
use super::silence;
use super::silence::Reasons;
use super::version::PINGPONG_SCHEMA_VERSION;

pub use beside::ComparisonResult;
pub use beside::OverlaidResult;

/// The result of one ping-pong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `pingpong`
    pub verb: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// The host in one line.
    pub host: String,
    /// `direct` or `loopback`.
    pub path: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// What the curves are drawn of.
    pub statistic: String,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short.
    pub complete: bool,
    /// One entry per configuration, in the order of the plan.
    pub curves: Vec<CurveResult>,
    /// Copies of memory; null where they were not measured.
    pub reference: Option<CurveResult>,
    /// Curves of other tools and results.
    pub overlaid: Vec<OverlaidResult>,
    /// Every other curve beside the base, and every one from elsewhere beside its like.
    pub comparisons: Vec<ComparisonResult>,
    /// Transports that were asked for and are not there, with the reason.
    pub missing: BTreeMap<String, String>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What a reader should know.
    pub remarks: Vec<String>,
}

/// A range of sizes over which T = L + o + (n - 1) G.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// A range of sizes that looked like a chasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChasmResult {
    /// `confirmed`, `not_reproduced` or `incomplete`.
    pub finding: String,
    /// The first slow size.
    pub from_bytes: u64,
    /// The last slow size.
    pub to_bytes: u64,
    /// Whether both edges were confirmed beside their clean neighbours; null unless confirmed.
    pub edges_sure: Option<bool>,
    /// T over what is expected.
    pub factor: Option<f64>,
    /// In how many rounds it was slow again, of how many.
    pub confirmed: Option<[u32; 2]>,
    /// p value, corrected for all candidates.
    pub p: Option<f64>,
    /// Factors without which it is not there.
    pub removed_by: Vec<String>,
    /// Factors that move it, and where to.
    pub moved_by: Vec<MovedResult>,
    /// Factors that could not be tried, with the reason.
    pub untested: BTreeMap<String, String>,
    /// Ranges of good sizes inside.
    pub holes: Vec<[u64; 2]>,
    /// All of it in a sentence.
    pub sentence: String,
}

/// A factor that moves a chasm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MovedResult {
    /// The factor.
    pub factor: String,
    /// The first slow size with it.
    pub from_bytes: u64,
    /// The last slow size with it.
    pub to_bytes: u64,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Mean of the first 3000 exchanges, microseconds; of all where there were fewer.
    pub average_of_3000_us: f64,
    /// Of how many exchanges that mean is: 3000, or all where there were fewer.
    pub average_of_3000_exchanges: u64,
    /// Smallest mean of three thirds of the exchanges, microseconds.
    pub netpipe_us: f64,
    /// Exchanges.
    pub exchanges: u64,
    /// Rounds.
    pub rounds: u64,
    /// Names of the remarks on the point.
    pub flags: Vec<String>,
}

/// Visits of a point that broke off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// The result of a ping-pong, for programs.
pub fn pingpong_result(journal: &Journal, analysis: &Analysis) -> PingPongDocument {
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let base = journal.plan.base.as_deref();
    let pairs = analysis.paired(base).into_iter().chain(analysis.imported(base));
    PingPongDocument {
        schema_version: PINGPONG_SCHEMA_VERSION.to_owned(),
        verb: "pingpong".to_owned(),
        tool_version: fact_text(journal.hosts.tool.get("version")),
        host: host_line(&journal.hosts),
        path: word(&serde_json::json!(journal.plan.path)),
        seed: journal.plan.seed,
        statistic: journal.plan.statistic.name().to_owned(),
        started_at: journal.moment("started").map(str::to_owned),
        finished_at: journal.moment("finished").map(str::to_owned),
        complete: analysis.complete,
        curves: analysis.curves.iter().map(curve).collect(),
        reference: analysis.reference.as_ref().map(curve),
        overlaid: analysis.overlaid.iter().map(beside::overlaid).collect(),
        comparisons: pairs.map(|pair| beside::comparison(&pair)).collect(),
        missing: analysis.missing.iter().cloned().collect(),
    }
}

fn curve(measured: &Measured) -> CurveResult {
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
        chasms: findings.map(|findings| findings.iter().map(finding).collect()),
        points: measured.points.iter().map(|point| self::point(measured, point)).collect(),
        faults: faults(measured),
        verified_exchanges: measured.verified.iter().map(|(_, exchanges)| exchanges).sum(),
        too_large_bytes: measured.too_large.iter().copied().map(Bytes::count).collect(),
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
        exchanges: point.exchanges,
        rounds: u64::try_from(point.rounds_us.len()).unwrap_or(u64::MAX),
        flags: point.flags.iter().map(|flag| flag.name.clone()).collect(),
    }
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

fn finding(finding: &Finding) -> ChasmResult {
    let blank = ChasmResult {
        finding: String::new(),
        from_bytes: 0,
        to_bytes: 0,
        edges_sure: None,
        factor: None,
        confirmed: None,
        p: None,
        removed_by: Vec::new(),
        moved_by: Vec::new(),
        untested: BTreeMap::new(),
        holes: Vec::new(),
        sentence: finding.to_string(),
    };
    match finding {
        Finding::Confirmed(found) => confirmed(found, blank),
        Finding::NotReproduced { from, to, ratio_again, rounds, .. } => ChasmResult {
            finding: "not_reproduced".to_owned(),
            from_bytes: from.count(),
            to_bytes: to.count(),
            factor: Some(*ratio_again),
            confirmed: Some([rounds.0, rounds.1]),
            ..blank
        },
        Finding::Incomplete { from, to, .. } => ChasmResult {
            finding: "incomplete".to_owned(),
            from_bytes: from.count(),
            to_bytes: to.count(),
            ..blank
        },
    }
}

fn confirmed(chasm: &Chasm, blank: ChasmResult) -> ChasmResult {
    let moved = chasm.moved_by().map(|(factor, from, to)| MovedResult {
        factor: factor.to_owned(),
        from_bytes: from.count(),
        to_bytes: to.count(),
    });
    let untested = chasm.effects.iter().filter_map(|effect| match &effect.outcome {
        Outcome::Untested { reason } => Some((effect.factor.clone(), reason.clone())),
        _ => None,
    });
    ChasmResult {
        finding: "confirmed".to_owned(),
        from_bytes: chasm.from.count(),
        to_bytes: chasm.to.count(),
        edges_sure: Some(chasm.from_sure && chasm.to_sure),
        factor: Some(chasm.ratio),
        confirmed: Some([chasm.confirmed.0, chasm.confirmed.1]),
        p: Some(chasm.p),
        removed_by: chasm.removed_by().map(str::to_owned).collect(),
        moved_by: moved.collect(),
        untested: untested.collect(),
        holes: chasm.holes.iter().map(|hole| [*hole.start(), *hole.end()]).collect(),
        ..blank
    }
}

impl PingPongDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

/// JSON Schema (2020-12) of a ping-pong's `result.json`, as published.
pub fn pingpong_schema() -> serde_json::Value {
    silence::schema::<PingPongDocument>()
}

const NO_POINT: &str = "no point was measured";
const FEW_POINTS: &str = "too few points were measured";
const NOT_CONFIRMED: &str = "the range was not confirmed as a chasm";

/// Why each key may be null.
const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("reference", "copies of memory were not measured"),
    ("latency_us", "no block of one byte was measured"),
    ("netpipe_latency_us", "no block below 64 B was measured"),
    ("peak_mbps", NO_POINT),
    ("peak_bytes", NO_POINT),
    ("half_size_bytes", "no block with half the peak was measured, or none below it"),
    ("asymptotic_mbps", FEW_POINTS),
    ("saturation_bytes", FEW_POINTS),
    ("chasms", "chasms were not looked for"),
    ("edges_sure", NOT_CONFIRMED),
    ("factor", "the range was not measured again"),
    ("confirmed", "the range was not measured again"),
    ("p", NOT_CONFIRMED),
    ("ci95_us", "an interval needs three rounds"),
    ("within_round_ci95_us", "an interval needs six exchanges"),
    ("statistic_ci95_us", "the plan's statistic has no interval, or too few rounds or exchanges"),
    ("verdict", "no size has two intervals"),
    ("time_ratio", "the curves have no size in common"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_may_be_null_has_its_reason_and_no_other() {
        silence::tests::check::<PingPongDocument>(REASONS);
    }
}
