//! What all flows of a run had together.

use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::Nanos;

/// The rate of all flows together, bit/s: all bits that they had, over the time in which any of them ran. So what ran
/// at once adds up, and what ran one after the other counts for as long as it lasted.
pub(super) fn rate_of(run: &RunSample, of: impl Fn(&FlowSample) -> f64) -> f64 {
    let all = together(run).seconds();
    let share = |flow: &FlowSample| if all > 0.0 { flow.duration_ns.seconds() / all } else { 0.0 };
    run.flows().map(|flow| of(flow) * share(flow)).sum()
}

/// The time in which any flow ran, what lies between them left out.
fn together(run: &RunSample) -> Nanos {
    let of_flow = |cluster: &ClusterSample, flow: &FlowSample| {
        let from = cluster.began_ns.saturating_add(flow.start_ns);
        (from, from.saturating_add(flow.duration_ns))
    };
    let clusters = run.clusters.iter();
    let mut spans: Vec<(Nanos, Nanos)> = clusters
        .flat_map(|cluster| cluster.flows.iter().map(move |flow| of_flow(cluster, flow)))
        .collect();
    spans.sort_unstable();
    let (mut all, mut until) = (Nanos::ZERO, Nanos::ZERO);
    for (from, to) in spans {
        all = all.saturating_add(to.since(from.max(until)));
        until = until.max(to);
    }
    all
}

/// What was carried; `None` in results that are older than this figure.
pub(super) fn carried(run: &RunSample) -> Option<f64> {
    run.flows()
        .all(|flow| flow.figures.carried_rate_bit_s.is_some())
        .then(|| rate_of(run, |flow| flow.figures.carried()))
}

/// What was acknowledged in the time of each flow; `None` where somebody does not say.
pub(super) fn transmitted(run: &RunSample) -> Option<f64> {
    let of = |flow: &FlowSample| over(flow, flow.acknowledged_bytes.map(|b| float(b.bits())));
    run.flows().all(|flow| of(flow).is_some()).then(|| rate_of(run, |flow| of(flow).unwrap_or(0.0)))
}

/// All that was read, what came after T included.
pub(super) fn delivered(run: &RunSample) -> f64 {
    let bits = |flow: &FlowSample| float(flow.figures.delivered_bytes.bits());
    rate_of(run, |flow| over(flow, Some(bits(flow))).unwrap_or(0.0))
}

/// Bits over the time of a flow.
fn over(flow: &FlowSample, bits: Option<f64>) -> Option<f64> {
    let seconds = flow.duration_ns.seconds();
    Some(bits.filter(|_| seconds > 0.0)? / seconds)
}
