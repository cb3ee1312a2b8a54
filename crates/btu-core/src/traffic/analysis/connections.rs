//! Each connection over the passes of its cell.

use std::collections::BTreeMap;

use super::Estimate;
use super::sheet::mean;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;

/// A connection, as the scenario names it, over the passes of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection<'a> {
    /// The number of the cell.
    pub cell: u32,
    /// The cluster.
    pub cluster: &'a str,
    /// Which of the flows of the cluster that are called alike, from 1: a test may have parts.
    pub part: u32,
    /// It in each pass, in order.
    pub flows: Vec<&'a FlowSample>,
}

/// Every connection of every cell, in the order of the first run.
pub fn connections(journal: &Journal) -> Vec<Connection<'_>> {
    let mut all: Vec<Connection<'_>> = Vec::new();
    let mut known = BTreeMap::new();
    for run in journal.runs() {
        for (cluster, part, flow) in named(run) {
            let key = (run.cell, cluster, &flow.test, flow.session, part);
            let at = *known.entry(key).or_insert(all.len());
            if at == all.len() {
                all.push(Connection { cell: run.cell, cluster, part, flows: Vec::new() });
            }
            all[at].flows.push(flow);
        }
    }
    all
}

/// The flows of a run, each with its cluster and which of those it is that are called alike.
fn named(run: &RunSample) -> Vec<(&str, u32, &FlowSample)> {
    let mut times = BTreeMap::new();
    run.flows_by_cluster()
        .map(|(cluster, flow)| {
            let part = times.entry((cluster, &flow.test, flow.session)).or_insert(0_u32);
            *part += 1;
            (cluster, *part, flow)
        })
        .collect()
}

impl Connection<'_> {
    /// The mean of a figure over the passes with its interval; `None` where no pass has it.
    pub fn over_passes(&self, of: impl Fn(&FlowSample) -> Option<f64>) -> Option<Estimate> {
        mean(&self.values(of))
    }

    /// The same of a share.
    pub fn share(&self, of: impl Fn(&FlowSample) -> Option<f64>) -> Option<Estimate> {
        Estimate::of_shares(&self.values(of))
    }

    /// A pass in which it failed before anything of it moved has no figures.
    fn values(&self, of: impl Fn(&FlowSample) -> Option<f64>) -> Vec<f64> {
        self.flows
            .iter()
            .filter(|flow| !flow.has_never_moved())
            .filter_map(|flow| of(flow))
            .collect()
    }

    /// The same of a delay of one way; `None`, too, where two clocks hide it in a pass.
    pub fn delay(&self, of: impl Fn(&FlowSample) -> Option<f64>) -> Option<Estimate> {
        let read = self.flows.iter().filter_map(|flow| Some((flow, of(flow)?)));
        let known: Option<Vec<f64>> = read.map(|(flow, value)| flow.one_way(Some(value))).collect();
        mean(&known?)
    }
}
