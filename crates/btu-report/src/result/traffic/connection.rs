//! Each connection over the passes of its cell.

use btu_core::traffic::analysis::Connection;
use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::connections as over_passes;
use btu_core::traffic::figures::flow::Delays;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use serde::Deserialize;
use serde::Serialize;

use super::bounds;
use super::largest_bound;

/// One connection over the passes of its cell: means with their 95 % intervals, null below three passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficConnectionResult {
    /// The cell.
    pub cell: u32,
    /// The cluster.
    pub cluster: String,
    /// The test.
    pub test: String,
    /// Which of its sessions.
    pub session: u32,
    /// Which of the flows that are called alike, from 1: a test may have parts.
    pub part: u32,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// What it sends.
    pub traffic: String,
    /// Passes.
    pub passes: u64,
    /// a, bit/s.
    pub arrival_rate_bit_s: Option<f64>,
    /// Its interval.
    pub arrival_ci95_bit_s: Option<[f64; 2]>,
    /// d, bit/s.
    pub departure_rate_bit_s: Option<f64>,
    /// Its interval.
    pub departure_ci95_bit_s: Option<[f64; 2]>,
    /// d, and what was only under way at the end, bit/s.
    pub carried_rate_bit_s: Option<f64>,
    /// Its interval.
    pub carried_ci95_bit_s: Option<[f64; 2]>,
    /// Little's delay within the duration, seconds.
    pub window_delay_s: Option<f64>,
    /// Its interval.
    pub window_delay_ci95_s: Option<[f64; 2]>,
    /// Median delay of whole blocks, seconds.
    pub delay_p50_s: Option<f64>,
    /// Its interval.
    pub delay_p50_ci95_s: Option<[f64; 2]>,
    /// 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// Its interval.
    pub delay_p99_ci95_s: Option<[f64; 2]>,
    /// 99th percentile less the smallest (RFC 5481).
    pub pdv_p99_s: Option<f64>,
    /// Its interval.
    pub pdv_p99_ci95_s: Option<[f64; 2]>,
    /// How far delays may be off between two hosts, seconds; null where one clock measured them.
    pub delay_bound_s: Option<f64>,
    /// Share of datagrams that never came (RFC 7680).
    pub lost_share: Option<f64>,
    /// Its interval.
    pub lost_ci95_share: Option<[f64; 2]>,
}

pub(super) fn connections(journal: &Journal) -> Vec<TrafficConnectionResult> {
    if journal.runs().all(|run| run.pass <= 1) {
        return Vec::new();
    }
    over_passes(journal).iter().filter_map(connection).collect()
}

fn connection(one: &Connection<'_>) -> Option<TrafficConnectionResult> {
    let flow = one.flows.first()?;
    let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
    let of_blocks =
        |of: fn(&Delays) -> f64| move |flow: &FlowSample| flow.figures.delay.as_ref().map(of);
    let arrival = one.over_passes(|flow| Some(flow.figures.arrival_rate_bit_s));
    let departure = one.over_passes(|flow| Some(flow.figures.departure_rate_bit_s));
    let carried = one.over_passes(|flow| flow.figures.carried_rate_bit_s);
    let window = one.delay(|flow| flow.figures.window_delay_s);
    let (p50, p99) = (one.delay(of_blocks(|d| d.p50_s)), one.delay(of_blocks(|d| d.p99_s)));
    let pdv = one.over_passes(of_blocks(|delay| delay.pdv_p99_s));
    let lost = one.share(|flow| flow.figures.loss.map(|loss| loss.lost_share));
    Some(TrafficConnectionResult {
        cell: one.cell,
        cluster: one.cluster.to_owned(),
        test: flow.test.clone(),
        session: flow.session,
        part: one.part,
        from: flow.from.to_string(),
        to: flow.to.to_string(),
        traffic: flow.traffic.clone(),
        passes: arrival.map_or(0, |found| u64::try_from(found.passes).unwrap_or(u64::MAX)),
        arrival_rate_bit_s: value(arrival),
        arrival_ci95_bit_s: arrival.and_then(bounds),
        departure_rate_bit_s: value(departure),
        departure_ci95_bit_s: departure.and_then(bounds),
        carried_rate_bit_s: value(carried),
        carried_ci95_bit_s: carried.and_then(bounds),
        window_delay_s: value(window),
        window_delay_ci95_s: window.and_then(bounds),
        delay_p50_s: value(p50),
        delay_p50_ci95_s: p50.and_then(bounds),
        delay_p99_s: value(p99),
        delay_p99_ci95_s: p99.and_then(bounds),
        pdv_p99_s: value(pdv),
        pdv_p99_ci95_s: pdv.and_then(bounds),
        delay_bound_s: largest_bound(one.flows.iter().copied()),
        lost_share: value(lost),
        lost_ci95_share: lost.and_then(bounds),
    })
}
