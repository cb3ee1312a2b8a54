//! What full streams get alone, way by way: what the true utilisation of other flows is a share of.

use super::Estimate;
use super::Group;
use super::Totals;
use super::mu;
use crate::cell::Role;
use crate::sample::HostSample;
use crate::traffic::plan::Link;
use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::units::Nanos;

/// mu of each way on which a full stream ran alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates(Vec<(Way, Estimate)>);

/// From which host to which, over which link.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    from: Role,
    to: Role,
    link: Option<Link>,
}

impl Rates {
    /// Those of a journal: cells that measure it, and clusters of scenarios that are nothing but one full stream
    /// beside which nothing ran.
    pub(super) fn of(journal: &Journal) -> Self {
        let mut alone: Vec<(Way, Vec<Totals>)> = Vec::new();
        for run in journal.runs() {
            let group = journal.plan.cell(run.cell).map(|cell| cell.group);
            if !matches!(group, Some(Group::Capacity | Group::Scenario)) {
                continue;
            }
            for (cluster, flow) in run.clusters.iter().filter_map(|cluster| lone(run, cluster)) {
                let way = Way::of(journal, run.cell, flow);
                let totals = Totals::of(&by_itself(run, cluster));
                match alone.iter_mut().find(|(known, _)| *known == way) {
                    Some((_, all)) => all.push(totals),
                    None => alone.push((way, vec![totals])),
                }
            }
        }
        let known = alone.into_iter().filter_map(|(way, all)| Some((way, mu(all.iter())?)));
        Self(known.collect())
    }

    /// The rate of the only way there is; `None` where there are several.
    pub(super) fn only(&self) -> Option<Estimate> {
        match self.0.as_slice() {
            [(_, only)] => Some(*only),
            _ => None,
        }
    }

    /// What a full stream gets on the way of a flow, bit/s.
    pub(super) fn along(&self, journal: &Journal, cell: u32, flow: &FlowSample) -> Option<f64> {
        let way = Way::of(journal, cell, flow);
        self.0.iter().find(|(known, _)| *known == way).map(|(_, mu)| mu.value)
    }
}

impl Way {
    fn of(journal: &Journal, cell: u32, flow: &FlowSample) -> Self {
        let own = journal.plan.cell(cell).and_then(|cell| cell.link.as_ref());
        let link = own.or(journal.plan.link.as_ref()).cloned();
        Self { from: flow.from, to: flow.to, link }
    }
}

/// A cluster with its only flow, where that is a full stream beside which no other cluster ran. One of datagrams
/// is none: what it gets is what the path leaves of a flood.
fn lone<'a>(
    run: &RunSample,
    cluster: &'a ClusterSample,
) -> Option<(&'a ClusterSample, &'a FlowSample)> {
    let [flow] = cluster.flows.as_slice() else { return None };
    let overlaps = |other: &ClusterSample| {
        let (own, theirs) = (span(cluster), span(other));
        !std::ptr::eq(other, cluster) && own.0 < theirs.1 && theirs.0 < own.1
    };
    let is_stream = flow.is_full() && flow.transport != "udp" && flow.outcome.is_complete();
    (is_stream && !run.clusters.iter().any(overlaps)).then_some((cluster, flow))
}

/// A run of nothing but this cluster.
fn by_itself(run: &RunSample, cluster: &ClusterSample) -> RunSample {
    RunSample {
        cell: run.cell,
        pass: run.pass,
        started_at: run.started_at.clone(),
        clusters: vec![cluster.clone()],
        probe: None,
        emulation: Vec::new(),
        host: HostSample::default(),
        flags: Vec::new(),
    }
}

/// From when to when a cluster ran.
fn span(cluster: &ClusterSample) -> (Nanos, Nanos) {
    let lasts = cluster.flows.iter().map(FlowSample::lasts).fold(cluster.elapsed_ns, Nanos::max);
    (cluster.began_ns, cluster.began_ns.saturating_add(lasts))
}
