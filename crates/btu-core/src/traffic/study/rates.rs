//! What all flows of a run had together.

use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;
use crate::units::Nanos;

/// The rate of all flows: those of clusters that ran at once add up, and what one after the other had counts
/// for as long as it lasted.
pub(super) fn rate_of(run: &RunSample, of: impl Fn(&FlowSample) -> f64) -> f64 {
    let mut clusters: Vec<&ClusterSample> = run.clusters.iter().collect();
    clusters.sort_by_key(|cluster| cluster.began_ns);
    // The sum of each series' member, how long it lasts, and when the last of it ends.
    let mut series: Vec<(f64, f64, Nanos)> = Vec::new();
    for cluster in clusters {
        let rate: f64 = cluster.flows.iter().map(&of).sum();
        let lasts = cluster.flows.iter().map(|flow| flow.duration_ns.seconds()).fold(0.0, f64::max);
        let ends = cluster.began_ns.saturating_add(cluster.elapsed_ns);
        match series.last_mut().filter(|(.., last)| cluster.began_ns <= *last) {
            Some((sum, longest, last)) => {
                *sum += rate;
                (*longest, *last) = (longest.max(lasts), ends.max(*last));
            }
            None => series.push((rate, lasts, ends)),
        }
    }
    if let [(alone, ..)] = series[..] {
        return alone;
    }
    let all: f64 = series.iter().map(|(_, lasts, _)| lasts).sum();
    let bits: f64 = series.iter().map(|(rate, lasts, _)| rate * lasts).sum();
    if all > 0.0 { bits / all } else { 0.0 }
}

/// What was carried; `None` in results that are older than this figure.
pub(super) fn carried(run: &RunSample) -> Option<f64> {
    run.flows()
        .all(|flow| flow.figures.carried_rate_bit_s.is_some())
        .then(|| rate_of(run, |flow| flow.figures.carried()))
}

/// What was acknowledged in the time of each flow; `None` where somebody does not say.
pub(super) fn transmitted(run: &RunSample) -> Option<f64> {
    let of = |flow: &FlowSample| {
        let seconds = flow.duration_ns.seconds();
        flow.acknowledged_bytes.filter(|_| seconds > 0.0).map(|b| float(b.bits()) / seconds)
    };
    run.flows().all(|flow| of(flow).is_some()).then(|| rate_of(run, |flow| of(flow).unwrap_or(0.0)))
}
