//! One cell of a traffic measurement over its passes.

use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::Measured;
use serde::Deserialize;
use serde::Serialize;

use super::bounds;
use super::word;

/// One cell over its passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficCellResult {
    /// Its number in the plan.
    pub cell: u32,
    /// The curve that it belongs to.
    pub group: String,
    /// What it is called.
    pub label: String,
    /// Which of several curves of its group it belongs to, such as a frame size; empty where there is one.
    pub series: String,
    /// The application class that loads the path; empty without one.
    pub application_class: String,
    /// Where it stands on the axis of its group.
    pub x: f64,
    /// Sessions of each test.
    pub sessions: u32,
    /// Runs.
    pub runs: u64,
    /// a, bit/s.
    pub arrival_rate_bit_s: Option<f64>,
    /// Its 95 % interval; null below three passes.
    pub arrival_ci95_bit_s: Option<[f64; 2]>,
    /// d, bit/s.
    pub departure_rate_bit_s: Option<f64>,
    /// The 95 % interval of d; null below three passes.
    pub departure_ci95_bit_s: Option<[f64; 2]>,
    /// d, and what was only under way at the end, bit/s: what knee and mu are found from.
    pub carried_rate_bit_s: Option<f64>,
    /// Its 95 % interval.
    pub carried_ci95_bit_s: Option<[f64; 2]>,
    /// Payload acknowledged within the duration, bit/s; null for datagrams.
    pub transmitted_rate_bit_s: Option<f64>,
    /// a / d.
    pub offered_ratio: Option<f64>,
    /// Its 95 % interval.
    pub offered_ratio_ci95: Option<[f64; 2]>,
    /// a / mu by the way of its flows; null where mu is not known, for full streams, and where flows go several ways.
    pub rho: Option<f64>,
    /// Little's delay within the duration, of what was not lost on the way, seconds.
    pub window_delay_s: Option<f64>,
    /// Its 95 % interval.
    pub window_delay_ci95_s: Option<[f64; 2]>,
    /// The same until the queues were empty, seconds; of the runs in which they were.
    pub drained_delay_s: Option<f64>,
    /// Delays of whole blocks over the runs.
    pub delays: TrafficDelaysResult,
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
    /// True where the generator and not the network limited a flow of a run. False says that of the flows that had a time to
    /// keep none fell behind: nothing where `timed_flows` is 0, as of full streams.
    pub host_limited: bool,
    /// How many flows of all its runs had a time to keep.
    pub timed_flows: u64,
}

/// Delays of whole blocks that were read, of the worst flow of each run: means over the runs with 95 % intervals, null below three.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficDelaysResult {
    /// The median, mean of all flows, seconds.
    pub delay_p50_s: Option<f64>,
    /// Its 95 % interval.
    pub delay_p50_ci95_s: Option<[f64; 2]>,
    /// The 95th percentile.
    pub delay_p95_s: Option<f64>,
    /// Its 95 % interval.
    pub delay_p95_ci95_s: Option<[f64; 2]>,
    /// The 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// Its 95 % interval.
    pub delay_p99_ci95_s: Option<[f64; 2]>,
    /// The 99.9th percentile.
    pub delay_p999_s: Option<f64>,
    /// Its 95 % interval.
    pub delay_p999_ci95_s: Option<[f64; 2]>,
    /// The 99th percentile less the smallest delay (RFC 5481).
    pub pdv_p99_s: Option<f64>,
    /// Its 95 % interval.
    pub pdv_p99_ci95_s: Option<[f64; 2]>,
    /// How far delays may be off between two hosts, seconds; null where one clock measured them.
    pub delay_bound_s: Option<f64>,
}

pub(super) fn cell(measured: &Measured) -> TrafficCellResult {
    let cell = &measured.cell;
    let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
    let runs = &measured.runs;
    let losses: Vec<f64> = runs.iter().filter_map(|run| run.loss).collect();
    TrafficCellResult {
        cell: cell.id,
        group: word(&cell.group),
        label: cell.label.clone(),
        series: cell.series.clone().unwrap_or_default(),
        application_class: cell.class.clone().unwrap_or_default(),
        x: cell.x,
        sessions: cell.sessions,
        runs: u64::try_from(runs.len()).unwrap_or(u64::MAX),
        arrival_rate_bit_s: value(measured.arrival),
        arrival_ci95_bit_s: measured.arrival.and_then(bounds),
        departure_rate_bit_s: value(measured.departure),
        departure_ci95_bit_s: measured.departure.and_then(bounds),
        carried_rate_bit_s: value(measured.carried),
        carried_ci95_bit_s: measured.carried.and_then(bounds),
        transmitted_rate_bit_s: value(measured.transmitted),
        offered_ratio: value(measured.offered_ratio),
        offered_ratio_ci95: measured.offered_ratio.and_then(bounds),
        rho: measured.rho,
        window_delay_s: value(measured.window_delay),
        window_delay_ci95_s: measured.window_delay.and_then(bounds),
        drained_delay_s: value(measured.drained_delay),
        delays: delays(measured),
        lost_share: value(Estimate::of_shares(&losses)),
        missed_blocks: runs.iter().map(|run| run.missed).sum(),
        fairness: value(measured.fairness),
        sender_cpu_s_per_gb: value(measured.sender_cpu_s_per_gb),
        receiver_cpu_s_per_gb: value(measured.receiver_cpu_s_per_gb),
        host_limited: runs.iter().any(|run| run.host_limited > 0),
        timed_flows: runs.iter().map(|run| u64::try_from(run.timed).unwrap_or(u64::MAX)).sum(),
    }
}

fn delays(measured: &Measured) -> TrafficDelaysResult {
    let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
    let p50 = measured.delay(|run| run.delay_p50);
    let p95 = measured.delay(|run| run.delay_p95);
    let p99 = measured.delay(|run| run.delay_p99);
    let p999 = measured.delay(|run| run.delay_p999);
    let pdv = measured.over_passes(|run| run.pdv_p99);
    TrafficDelaysResult {
        delay_p50_s: value(p50),
        delay_p50_ci95_s: p50.and_then(bounds),
        delay_p95_s: value(p95),
        delay_p95_ci95_s: p95.and_then(bounds),
        delay_p99_s: value(p99),
        delay_p99_ci95_s: p99.and_then(bounds),
        delay_p999_s: value(p999),
        delay_p999_ci95_s: p999.and_then(bounds),
        pdv_p99_s: value(pdv),
        pdv_p99_ci95_s: pdv.and_then(bounds),
        delay_bound_s: measured.delay_bound_s(),
    }
}
