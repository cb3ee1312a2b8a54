//! `result.json` of a ping-pong: every curve with its points, figures and chasms, units in the keys.

mod beside;
mod chasm;
mod curve;

use std::collections::BTreeMap;

use btu_core::journal::EventRecord;
use btu_core::pingpong::analysis::Analysis;
use btu_core::pingpong::journal::Journal;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::host_line;
use super::silence;
use super::silence::Reasons;
use super::version::PINGPONG_SCHEMA_VERSION;

pub use beside::ComparisonResult;
pub use beside::CostResult;
pub use beside::OverlaidResult;
pub use chasm::ChasmResult;
pub use chasm::MovedResult;
pub use curve::CurveResult;
pub use curve::FaultResult;
pub use curve::LeftOutResult;
pub use curve::PointResult;
pub use curve::RegimeResult;

/// The result of one ping-pong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PingPongDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `pingpong`
    pub verb: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// The host in one line.
    pub host: String,
    /// `direct`, `loopback` or `peer`.
    pub path: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// In which order the sizes were visited: `random` or `rising`.
    pub order: String,
    /// What the curves are drawn of.
    pub statistic: String,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short, or a size has a fault in the place of a result: `faults` of its curve.
    pub complete: bool,
    /// One entry per configuration, in the order of the plan.
    pub curves: Vec<CurveResult>,
    /// Copies of memory; null where they were not measured.
    pub reference: Option<CurveResult>,
    /// Curves of other tools and results.
    pub overlaid: Vec<OverlaidResult>,
    /// Every other curve beside the base, and every one from elsewhere beside its like.
    pub comparisons: Vec<ComparisonResult>,
    /// What every other curve costs above the base, at up to four sizes each.
    pub costs: Vec<CostResult>,
    /// Transports that were asked for and are not there, with the reason.
    pub missing: BTreeMap<String, String>,
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
        order: journal.plan.order.to_string(),
        statistic: journal.plan.statistic.name().to_owned(),
        started_at: EventRecord::started_at(&journal.events).map(str::to_owned),
        finished_at: EventRecord::finished_at(&journal.events).map(str::to_owned),
        complete: analysis.complete,
        curves: analysis.curves.iter().map(curve::curve).collect(),
        reference: analysis.reference.as_ref().map(curve::curve),
        overlaid: analysis.overlaid.iter().map(beside::overlaid).collect(),
        comparisons: pairs.map(|pair| beside::comparison(&pair)).collect(),
        costs: costs(analysis, base),
        missing: analysis.missing.iter().cloned().collect(),
    }
}

fn costs(analysis: &Analysis, base: Option<&str>) -> Vec<CostResult> {
    let Some(measured) = analysis.base(base) else { return Vec::new() };
    analysis.overheads(base).iter().map(|row| beside::cost(&measured.label, row)).collect()
}

impl PingPongDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

const NO_POINT: &str = "no point was measured";
const FEW_POINTS: &str = "too few points were measured";
const COST_ROUNDS: &str = "an interval of a cost needs two rounds of both curves";
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
    (
        "stop",
        "it got every round that was asked for, or single visits failed, or the measurement was cut short",
    ),
    ("difference_ci95_us", COST_ROUNDS),
    ("ratio_ci95", COST_ROUNDS),
    ("ci95_us", "an interval needs three rounds"),
    ("within_round_ci95_us", "an interval needs six exchanges"),
    (
        "statistic_ci95_us",
        "an interval needs three rounds, that of the mean of 3000 three with its exchanges, that of p99 \
         three stretches of rounds with 500 timed units each; the fastest exchange has none",
    ),
    ("verdict", "no size has two intervals, or they are too wide to tell"),
    ("time_ratio", "the curves have no size in common"),
];

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    #[test]
    fn every_key_that_may_be_null_has_its_reason_and_no_other() {
        schema::tests::check::<PingPongDocument>(REASONS);
    }
}
