//! What full streams get alone, way by way: what the true utilisation of other flows is a share of.

use super::Estimate;
use super::Group;
use super::Totals;
use super::carrier::Carrier;
use super::carrier::Carriers;
use super::mu;
use crate::role::Role;
use crate::sample::HostSample;
use crate::traffic::Transport;
use crate::traffic::plan::Link;
use crate::traffic::sample::ClusterSample;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::units::Nanos;

/// mu of each way on which a full stream ran alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates {
    known: Vec<Known>,
    carriers: Carriers,
    /// The ways of the loads of which the knee is found.
    loaded: Vec<Way>,
}

/// What full streams got on a way.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    way: Way,
    carrier: Carrier,
    mu: Estimate,
}

/// From which host to which, over which link.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    from: Role,
    to: Role,
    link: Option<Link>,
}

/// A flow of a journal, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) journal: &'a Journal,
    pub(super) cell: u32,
    pub(super) cluster: &'a str,
    pub(super) flow: &'a FlowSample,
}

impl Rates {
    /// Those of a journal: cells that measure it, and clusters of scenarios that are nothing but one full stream
    /// beside which nothing ran.
    pub(super) fn of(journal: &Journal) -> Self {
        let carriers = Carriers::of(&journal.plan);
        let mut alone: Vec<(Way, Carrier, Vec<Totals>)> = Vec::new();
        for run in journal.runs() {
            let group = journal.plan.cell(run.cell).map(|cell| cell.group);
            if !matches!(group, Some(Group::Capacity | Group::Scenario)) {
                continue;
            }
            for (cluster, flow) in run.clusters.iter().filter_map(|cluster| lone(run, cluster)) {
                let place = Place { journal, cell: run.cell, cluster: &cluster.name, flow };
                let (way, carrier) = (Way::of(place), place.carrier(&carriers));
                let totals = Totals::of(&by_itself(run, cluster));
                match alone.iter_mut().find(|(own, by, _)| *own == way && *by == carrier) {
                    Some((.., all)) => all.push(totals),
                    None => alone.push((way, carrier, vec![totals])),
                }
            }
        }
        let known = alone
            .into_iter()
            .filter_map(|(way, carrier, all)| Some(Known { way, carrier, mu: mu(all.iter())? }));
        Self { known: known.collect(), carriers, loaded: loaded(journal) }
    }

    /// The rate of the only way there is; `None` where there are several, or several transports.
    pub(super) fn only(&self) -> Option<Estimate> {
        match self.known.as_slice() {
            [only] => Some(only.mu),
            _ => None,
        }
    }

    /// What a full stream gets on the way of a flow, bit/s: one over its own transport, with its settings. Where
    /// only one kind of streams went there, it is that for all others, too.
    pub(super) fn along(&self, place: Place<'_>) -> Option<f64> {
        let (way, carrier) = (Way::of(place), place.carrier(&self.carriers));
        let known: Vec<&Known> = self.known.iter().filter(|known| known.way == way).collect();
        let found =
            known.iter().find(|known| known.carrier == carrier).or(match known.as_slice() {
                [only] => Some(only),
                _ => None,
            });
        found.map(|known| known.mu.value)
    }

    /// Whether the knee is one of the way of a flow.
    pub(super) fn has_the_knee(&self, place: Place<'_>) -> bool {
        self.loaded.contains(&Way::of(place))
    }
}

impl Place<'_> {
    fn carrier(self, carriers: &Carriers) -> Carrier {
        carriers.carrier(self.cell, (self.cluster, &self.flow.test), &self.flow.transport)
    }
}

fn loaded(journal: &Journal) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for run in journal.runs() {
        let group = journal.plan.cell(run.cell).map(|cell| cell.group);
        if !matches!(group, Some(Group::Load | Group::Period)) {
            continue;
        }
        for (cluster, flow) in run.flows_by_cluster() {
            let way = Way::of(Place { journal, cell: run.cell, cluster, flow });
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    ways
}

impl Way {
    fn of(place: Place<'_>) -> Self {
        let plan = &place.journal.plan;
        let own = plan.cell(place.cell).and_then(|cell| cell.link.as_ref());
        let link = own.or(plan.link.as_ref()).cloned();
        Self { from: place.flow.from, to: place.flow.to, link }
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
    let flood = Transport::Udp.name();
    let is_stream = flow.is_full() && flow.transport != flood && flow.outcome.is_complete();
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
