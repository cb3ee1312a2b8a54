//! `result.json` of traffic: every cell with its figures, every flow of every run, units in the keys.

mod class;
mod flow;
mod method;

use btu_core::traffic::analysis::knee::Shape;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::study::Analysis;
use btu_core::traffic::study::Estimate;
use btu_core::traffic::study::Measured;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::host::fact_text;
use super::host_line;
use super::silence;
use super::silence::Reasons;
use super::version::TRAFFIC_SCHEMA_VERSION;
use crate::traffic::faults;
use crate::traffic::unverified;
use class::class;
use flow::flows;

pub(crate) use flow::ended;

pub use class::TrafficClassResult;
pub use flow::NoticedResult;
pub use flow::TrafficClockResult;
pub use flow::TrafficFlowResult;
pub use method::BackToBackResult;
pub use method::CapacityResult;
pub use method::FrameResult;
pub use method::LossResult;
pub use method::MethodResult;
pub use method::ResponsivenessResult;
pub use method::TransferResult;

/// The result of one traffic measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// How delay grows below that knee.
    pub delay_knee: Option<DelayKneeResult>,
    /// How the total depends on the number of full streams.
    pub scaling: Option<ScalingResult>,
    /// What standard methods found; null where none was run.
    pub method: Option<MethodResult>,
    /// The cells, curve by curve.
    pub cells: Vec<TrafficCellResult>,
    /// Every flow of every run.
    pub flows: Vec<TrafficFlowResult>,
    /// The clocks of other hosts, run by run; empty on the local testbed.
    pub clocks: Vec<TrafficClockResult>,
    /// What the path carries of each application class; empty but in a sheet.
    pub classes: Vec<TrafficClassResult>,
    /// What did not come to its end, and what a policy or the generator held back, run by run.
    pub notices: Vec<String>,
    /// Models that were used although their parameters were not compared with their source, and what is missing.
    pub unverified_models: Vec<String>,
}

/// A knee of throughput.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeResult {
    /// The knee, bit/s.
    pub knee_bit_s: f64,
    /// Its 95 % interval over passes; null below three.
    pub knee_ci95_bit_s: Option<[f64; 2]>,
    /// Passes with a knee of their own.
    pub passes: u64,
    /// `hinge`, `not_a_hinge` or `unknown`.
    pub shape: String,
    /// The chance of so large a misfit on a hinge; null unless it is none.
    pub p: Option<f64>,
}

/// A knee of delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingResult {
    /// What one stream gets alone, bit/s.
    pub single_bit_s: f64,
    /// Contention.
    pub contention: f64,
    /// Coherence.
    pub coherence: f64,
    /// The number of streams with the greatest total; null on a shared link.
    pub most_at_sessions: Option<f64>,
    /// True where the total does not depend on the number.
    pub shared_link: bool,
}

/// One cell over its passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficCellResult {
    /// Its number in the plan.
    pub cell: u32,
    /// The curve that it belongs to.
    pub group: String,
    /// What it is called.
    pub label: String,
    /// Where it stands on the axis of its group.
    pub x: f64,
    /// Sessions of each test.
    pub sessions: u32,
    /// Runs.
    pub runs: u64,
    /// a, bit/s.
    pub arrival_rate_bit_s: Option<f64>,
    /// d, bit/s.
    pub departure_rate_bit_s: Option<f64>,
    /// The 95 % interval of d; null below three passes.
    pub departure_ci95_bit_s: Option<[f64; 2]>,
    /// d, and what was only under way at the end, bit/s: what knee and mu are found from.
    pub carried_rate_bit_s: Option<f64>,
    /// Payload acknowledged within the duration, bit/s; null for datagrams.
    pub transmitted_rate_bit_s: Option<f64>,
    /// a / d.
    pub offered_ratio: Option<f64>,
    /// a / mu; null where mu is not known.
    pub rho: Option<f64>,
    /// Little's delay within the duration, of what was not lost on the way, seconds.
    pub window_delay_s: Option<f64>,
    /// The same until the queues were empty, seconds; of the runs in which they were.
    pub drained_delay_s: Option<f64>,
    /// Share of datagrams lost, mean over the runs.
    pub lost_share: Option<f64>,
    /// Blocks missed or interrupted, all runs.
    pub missed_blocks: u64,
    /// Jain's index between the flows, mean over the runs.
    pub fairness: Option<f64>,
    /// CPU seconds of the sender per 10^9 bytes, mean over the runs.
    pub sender_cpu_s_per_gb: Option<f64>,
    /// CPU seconds of the receiver per 10^9 bytes, mean over the runs.
    pub receiver_cpu_s_per_gb: Option<f64>,
    /// True where the generator and not the network limited a run.
    pub host_limited: bool,
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
        started_at: journal.moment("started").map(str::to_owned),
        finished_at: journal.moment("finished").map(str::to_owned),
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
        cells: analysis.cells.iter().map(|measured| cell(analysis, measured)).collect(),
        flows: journal.runs().flat_map(|run| flows(journal, analysis, run)).collect(),
        clocks: journal.runs().flat_map(flow::clocks).collect(),
        classes: analysis.classes.iter().map(class).collect(),
        notices: faults::notices(journal),
        unverified_models: unverified::models(journal),
    }
}

fn cell(analysis: &Analysis, measured: &Measured) -> TrafficCellResult {
    let cell = &measured.cell;
    let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
    let runs = &measured.runs;
    let losses: Vec<f64> = runs.iter().filter_map(|run| run.loss).collect();
    TrafficCellResult {
        cell: cell.id,
        group: word(&cell.group),
        label: cell.label.clone(),
        x: cell.x,
        sessions: cell.sessions,
        runs: u64::try_from(runs.len()).unwrap_or(u64::MAX),
        arrival_rate_bit_s: value(measured.arrival),
        departure_rate_bit_s: value(measured.departure),
        departure_ci95_bit_s: measured.departure.and_then(bounds),
        carried_rate_bit_s: value(measured.carried),
        transmitted_rate_bit_s: value(measured.transmitted),
        offered_ratio: value(measured.offered_ratio),
        rho: measured.arrival.and_then(|arrival| analysis.rho(arrival.value)),
        window_delay_s: value(measured.window_delay),
        drained_delay_s: value(measured.drained_delay),
        lost_share: btu_core::stats::arithmetic_mean(&losses),
        missed_blocks: runs.iter().map(|run| run.missed).sum(),
        fairness: value(measured.fairness),
        sender_cpu_s_per_gb: value(measured.sender_cpu_s_per_gb),
        receiver_cpu_s_per_gb: value(measured.receiver_cpu_s_per_gb),
        host_limited: runs.iter().any(|run| run.host_limited > 0),
    }
}

fn bounds(estimate: Estimate) -> Option<[f64; 2]> {
    estimate.interval.map(|bounds| [bounds.low, bounds.high])
}

/// The word of a study or of a group, as plans have it.
fn word(named: &impl Serialize) -> String {
    serde_json::to_value(named).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

impl TrafficDocument {
    /// The document as its file: pretty JSON, a reason after each null, and a newline.
    pub fn to_json(&self) -> String {
        silence::to_json(self, REASONS)
    }
}

/// JSON Schema (2020-12) of a traffic measurement's `result.json`, as published.
pub fn traffic_schema() -> serde_json::Value {
    silence::schema::<TrafficDocument>()
}

const FEW_PASSES: &str = "an interval needs three passes";
const NO_WAIT: &str = "no flow with a schedule: nothing waits behind a full stream; or nothing came, or two clocks hide it (delay_hidden)";
const NO_DRAIN: &str = "no flow with a schedule, or none whose queue was empty at the end; or two clocks hide it (delay_hidden)";
const NO_MU: &str = "mu is not known: no full stream ran alone that way, and there is no knee; or this is such a stream itself";
const NOT_SAMPLED: &str =
    "places are told apart on one host, where TCP follows a schedule and its socket was sampled";
const NO_BLOCK: &str = "no whole block arrived that was due at a known time";
const NO_DELAY: &str =
    "no whole block arrived that was due at a known time, or two clocks hide it (delay_hidden)";
const NO_CALL: &str = "the class is no call, or no delay of it is known";
const NO_DATAGRAM: &str = "no flow of datagrams";
const NOT_PACED: &str = "nothing that the generator alone could delay was sent";
const NO_RUN: &str = "no run of this cell was made";
const NO_STAMPS: &str = "the samples of the search do not say when its datagrams were sent";
const NO_LATENCY: &str = "the method measures no latency, no load without loss was found, or two clocks hide it \
                          (latency_bound_s)";
const NO_LOAD: &str = "no load without loss was found";
const NO_ASKER: &str = "flows share threads, and what answers on another host is not told of";
const NO_CPU: &str =
    "nothing was delivered, or by a conversation with another host, whose CPU time is not told";

/// Why each key may be null.
const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("mu_bit_s", "no full stream ran alone, or some did over different ways"),
    ("mu_ci95_bit_s", FEW_PASSES),
    ("knee", "most passes have no loads on both sides of a knee"),
    ("knee_ci95_bit_s", "fewer than three passes have a knee of their own"),
    ("p", "the curve was not found to be something else than a hinge"),
    ("delay_knee", "there are too few loads below the knee of throughput"),
    ("doubled_at_rho", "delay does not grow with the load"),
    ("most_power_at_rho", "no load below the knee was measured"),
    ("bends_at_rho", "too few loads below the knee were measured"),
    ("scaling", "full streams were not measured at three numbers of sessions"),
    ("most_at_sessions", "the total has no maximum over the number of sessions"),
    ("method", "the plan runs no standard method"),
    ("arrival_rate_bit_s", NO_RUN),
    ("departure_rate_bit_s", NO_RUN),
    ("departure_ci95_bit_s", FEW_PASSES),
    (
        "carried_rate_bit_s",
        "no run of this cell was made, or the journal is older than this figure",
    ),
    ("transmitted_rate_bit_s", "no flow over a transport that acknowledges"),
    ("acknowledged_bytes", "no kernel keeps an account of datagrams, nor of QUIC"),
    ("offered_ratio", "no flow delivered anything within the duration"),
    ("rho", NO_MU),
    ("rho_of_way", NO_MU),
    ("window_delay_s", NO_WAIT),
    ("drained_delay_s", NO_DRAIN),
    ("mean_queue_bytes", NO_WAIT),
    ("queue_application_bytes", NOT_SAMPLED),
    ("queue_socket_bytes", NOT_SAMPLED),
    ("queue_network_bytes", NOT_SAMPLED),
    ("queue_receiver_bytes", NOT_SAMPLED),
    ("delay_p50_s", NO_DELAY),
    ("delay_p95_s", NO_DELAY),
    ("delay_p99_s", NO_DELAY),
    (
        "delay_p99_at_least_s",
        "no block was due at a known time, two clocks cannot be compared, or the journal is older than this figure",
    ),
    ("delay_p999_s", NO_DELAY),
    ("delay_max_s", NO_DELAY),
    ("delay_bound_s", "one clock measured both ends, or two that cannot be compared"),
    ("pdv_p99_s", NO_BLOCK),
    ("most_sessions", "not even the fewest sessions that were tried met the limits"),
    ("fails_at_sessions", "every number of sessions that was tried met the limits"),
    ("reordered_share", "no datagram came"),
    ("call_r", NO_CALL),
    ("call_mos", NO_CALL),
    ("datagrams_sent", NO_DATAGRAM),
    ("lost_share", NO_DATAGRAM),
    ("reordered", NO_DATAGRAM),
    ("duplicated", NO_DATAGRAM),
    ("jitter_s", "jitter needs two datagrams that arrived"),
    ("fairness", "no flow received anything"),
    ("sender_cpu_s_per_gb", NO_CPU),
    ("receiver_cpu_s_per_gb", NO_CPU),
    ("asking_cpu_s", NO_ASKER),
    ("answering_cpu_s", NO_ASKER),
    ("pacing_p50_us", NOT_PACED),
    ("pacing_p99_us", NOT_PACED),
    ("pacing_max_us", NOT_PACED),
    ("throughput_frames_s", NO_LOAD),
    ("throughput_wire_bit_s", NO_LOAD),
    ("lossy_frames_s", "no load lost any frame"),
    ("latency_p50_s", NO_LATENCY),
    ("latency_p99_s", NO_LATENCY),
    (
        "latency_bound_s",
        "one clock measured both ends, two cannot be compared, or no latency was measured",
    ),
    ("buffer_frames", NO_LOAD),
    ("buffer_s", NO_LOAD),
    ("buffer_delay_percent", "round trips under load are sampled where both ends are on one host"),
    ("back_to_back", "the method sends no bursts back to back"),
    ("asked_bit_s", NO_STAMPS),
    ("sent_bit_s", NO_STAMPS),
    (
        "least_delay_s",
        "smaller than the clocks of both hosts are known to agree (least_delay_bound_s)",
    ),
    ("least_delay_bound_s", "one clock measured both ends"),
    ("idle_rpm", "no probe came back on the idle path"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_may_be_null_has_its_reason_and_no_other() {
        silence::tests::check::<TrafficDocument>(REASONS);
    }
}
