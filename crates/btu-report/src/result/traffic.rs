//! `result.json` of traffic: every cell with its figures, every flow of every run, units in the keys.

mod cell;
mod class;
mod connection;
mod flow;
mod method;
mod reasons;
mod run;
mod sheet;

use btu_core::journal::EventRecord;
use btu_core::traffic::analysis::Analysis;
use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::figures::knee::Shape;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::host_line;
use super::silence;
use super::version::TRAFFIC_SCHEMA_VERSION;
use crate::traffic::faults;
use crate::traffic::unverified;
use cell::cell;
use class::class;
use flow::flows;
use reasons::REASONS;

pub use cell::TrafficCellResult;
pub use cell::TrafficDelaysResult;
pub use class::TrafficClassResult;
pub use connection::TrafficConnectionResult;
pub use flow::NoticedResult;
pub use flow::ReceiptsResult;
pub use flow::TrafficClockResult;
pub use flow::TrafficFlowResult;
pub use method::BackToBackResult;
pub use method::CapacityResult;
pub use method::FrameResult;
pub use method::GoalResult;
pub use method::LossResult;
pub use method::MethodResult;
pub use method::PathMtuResult;
pub use method::ResponsivenessResult;
pub use method::TransferResult;
pub use run::SlowdownResult;
pub use run::TrafficClusterResult;
pub use run::TrafficEmulatorResult;
pub use run::TrafficRunResult;
pub use sheet::SheetLineResult;

/// The result of one traffic measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficDocument {
    /// Version of this shape, semantic; keys are only added within a major version.
    pub schema_version: String,
    /// `traffic`
    pub verb: String,
    /// `scenario`, `sweep`, `method`, `qos` or `viseum`.
    pub study: String,
    /// Version of the program that measured; null where the journal does not say.
    pub tool_version: Option<String>,
    /// The host in one line.
    pub host: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Link elements away from the test host; empty for the direct link.
    pub link_up: Vec<String>,
    /// Link elements towards it.
    pub link_down: Vec<String>,
    /// When it began, UTC, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, UTC, RFC 3339; null where it was cut short.
    pub finished_at: Option<String>,
    /// False where it was cut short or a flow did not come to its end.
    pub complete: bool,
    /// What one full stream gets, bit/s; null where none ran alone, or several did over different ways.
    pub mu_bit_s: Option<f64>,
    /// Its 95 % interval; null below three passes.
    pub mu_ci95_bit_s: Option<[f64; 2]>,
    /// The load beyond which the path carries no more; null without loads on both sides of it.
    pub knee: Option<KneeResult>,
    /// How delay grows below that knee, fitted to all passes together; the lines of a sheet are means of the passes' own fits.
    pub delay_knee: Option<DelayKneeResult>,
    /// How the total depends on the number of full streams.
    pub scaling: Option<ScalingResult>,
    /// What standard methods found; null where none was run.
    pub method: Option<MethodResult>,
    /// The cells, curve by curve.
    pub cells: Vec<TrafficCellResult>,
    /// Every run, all its flows together.
    pub run_totals: Vec<TrafficRunResult>,
    /// Every cluster of every run.
    pub clusters: Vec<TrafficClusterResult>,
    /// Every flow of every run.
    pub flows: Vec<TrafficFlowResult>,
    /// Every connection over the passes of its cell; empty where each cell was run once.
    pub connections: Vec<TrafficConnectionResult>,
    /// The clocks of other hosts, run by run; empty on the local testbed.
    pub clocks: Vec<TrafficClockResult>,
    /// What the path carries of each application class; empty but in a sheet.
    pub classes: Vec<TrafficClassResult>,
    /// The lines of a sheet, each with its interval and the cells that it comes from; empty but in a sheet.
    pub sheet: Vec<SheetLineResult>,
    /// What did not come to its end, and what a policy or the generator held back, run by run.
    pub notices: Vec<String>,
    /// Models that were used although their parameters were not compared with their source, and what is missing.
    pub unverified_models: Vec<String>,
}

/// A knee of throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KneeResult {
    /// The knee, bit/s.
    pub knee_bit_s: f64,
    /// Its 95 % interval over the whole passes; null below three, and where one has no knee of its own.
    pub knee_ci95_bit_s: Option<[f64; 2]>,
    /// Whole passes with a knee of their own.
    pub passes: u64,
    /// `hinge`, `not_a_hinge` or `unknown`.
    pub shape: String,
    /// The chance of so large a misfit on a hinge; null unless it is none.
    pub p: Option<f64>,
}

/// A knee of delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayKneeResult {
    /// W0 of W = W0 + c rho / (1 - rho), seconds.
    pub idle_s: f64,
    /// c, seconds.
    pub queueing_s: f64,
    /// The utilisation at which delay has doubled; null where it does not grow.
    pub doubled_at_rho: Option<f64>,
    /// The measured utilisation with the greatest d / W.
    pub most_power_at_rho: Option<f64>,
    /// The measured utilisation at which the curve bends most.
    pub bends_at_rho: Option<f64>,
}

/// The universal scalability law of full streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingResult {
    /// What one stream gets alone, bit/s.
    pub single_bit_s: f64,
    /// Contention.
    pub contention: f64,
    /// Coherence.
    pub coherence: f64,
    /// The number of streams with the greatest total, 1 where it falls with each further one; null on a shared link.
    pub most_at_sessions: Option<f64>,
    /// True where the total does not depend on the number.
    pub shared_link: bool,
}

/// The result of a journal and its analysis.
pub fn traffic_result(journal: &Journal, analysis: &Analysis) -> TrafficDocument {
    let plan = &journal.plan;
    let link = plan.link.clone().unwrap_or_default();
    let knee = analysis.knee.map(|knee| KneeResult {
        knee_bit_s: knee.knee,
        knee_ci95_bit_s: knee.interval.map(|bounds| [bounds.low, bounds.high]),
        passes: u64::try_from(knee.passes).unwrap_or(u64::MAX),
        shape: match knee.shape {
            Shape::Hinge => "hinge",
            Shape::NotAHinge { .. } => "not_a_hinge",
            Shape::Unknown => "unknown",
        }
        .to_owned(),
        p: match knee.shape {
            Shape::NotAHinge { p } => Some(p),
            _ => None,
        },
    });
    TrafficDocument {
        schema_version: TRAFFIC_SCHEMA_VERSION.to_owned(),
        verb: "traffic".to_owned(),
        study: word(&plan.study),
        tool_version: fact_text(journal.hosts.tool.get("version")),
        host: host_line(&journal.hosts),
        seed: plan.seed,
        link_up: link.up,
        link_down: link.down,
        started_at: EventRecord::started_at(&journal.events).map(str::to_owned),
        finished_at: EventRecord::finished_at(&journal.events).map(str::to_owned),
        complete: analysis.complete,
        mu_bit_s: analysis.mu.map(|mu| mu.value),
        mu_ci95_bit_s: analysis.mu.and_then(bounds),
        knee,
        delay_knee: analysis.delay_knee.map(|knee| DelayKneeResult {
            idle_s: knee.idle_s,
            queueing_s: knee.queueing_s,
            doubled_at_rho: knee.doubled_at,
            most_power_at_rho: knee.most_power_at,
            bends_at_rho: knee.bends_at,
        }),
        scaling: analysis.scaling.map(|scaling| ScalingResult {
            single_bit_s: scaling.single,
            contention: scaling.contention,
            coherence: scaling.coherence,
            most_at_sessions: scaling.most_at,
            shared_link: scaling.is_shared_link,
        }),
        method: method::method(plan, &analysis.findings),
        cells: analysis.cells.iter().map(cell).collect(),
        run_totals: journal.runs().map(run::run).collect(),
        clusters: journal.runs().flat_map(run::clusters).collect(),
        flows: journal.runs().flat_map(|run| flows(journal, analysis, run)).collect(),
        connections: connection::connections(journal),
        clocks: journal.runs().flat_map(flow::clocks).collect(),
        classes: analysis.classes.iter().map(class).collect(),
        sheet: analysis.sheet.iter().map(sheet::line).collect(),
        notices: faults::notices(journal),
        unverified_models: unverified::models(journal),
    }
}

fn bounds(estimate: Estimate) -> Option<[f64; 2]> {
    estimate.interval.map(|bounds| [bounds.low, bounds.high])
}

/// How far the delays of these flows may be off between two hosts, seconds: as the worst of them.
fn largest_bound<'a>(flows: impl Iterator<Item = &'a FlowSample>) -> Option<f64> {
    flows.filter_map(FlowSample::delay_bound_s).max_by(f64::total_cmp)
}

/// The word of a study or of a group, as plans have it.
pub(crate) fn word(named: &impl Serialize) -> String {
    serde_json::to_value(named).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

impl TrafficDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    #[test]
    fn every_key_that_may_be_null_has_its_reason_and_no_other() {
        schema::tests::check::<TrafficDocument>(REASONS);
    }
}
