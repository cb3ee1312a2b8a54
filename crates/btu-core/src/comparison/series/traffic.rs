//! Traffic by pass: rates, delays, losses and costs of each cell, rates and delays of each of its flows.

use std::collections::BTreeMap;

use super::Better;
use super::ByRound;
use super::Series;
use super::part;
use crate::traffic::analysis::Analysis;
use crate::traffic::analysis::Measured;
use crate::traffic::analysis::Totals;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;

impl ByRound {
    /// Traffic; what a part of the flows had is no rate of a cell, and a delay that two clocks hide is none.
    pub fn of_traffic(journal: &Journal, analysis: &Analysis) -> Self {
        let mut known = BTreeMap::new();
        let series = analysis.cells.iter().flat_map(|measured| {
            let name = name(measured, &mut known);
            let cell = FIGURES.iter().filter_map(|figure| figure.of(&name, measured));
            cell.chain(flows(journal, measured, &name)).collect::<Vec<_>>()
        });
        Self {
            series: series.collect(),
            rules: &["agents", "course.name", "link", "scale", "study"],
            legal: "cell.GROUP/SERIES/CELL.rate (or .delay_p50, .delay_p99, .mean_delay, .loss, .fairness, .sender_cpu, \
                    .receiver_cpu), flow.GROUP/SERIES/CELL/CLUSTER/TEST/SESSION/FROM/TO.rate (or .delay_p50, .delay_p99)",
        }
    }
}

/// A figure of a cell.
struct Figure {
    name: &'static str,
    unit: &'static str,
    better: Better,
    of: fn(&Totals) -> Option<f64>,
}

const FIGURES: &[Figure] = &[
    Figure {
        name: "rate",
        unit: "bit/s",
        better: Better::Higher,
        of: |run| (!run.is_partial).then_some(run.departure),
    },
    Figure {
        name: "delay_p50",
        unit: "s",
        better: Better::Lower,
        of: |run| run.known(run.delay_p50),
    },
    Figure {
        name: "delay_p99",
        unit: "s",
        better: Better::Lower,
        of: |run| run.known(run.delay_p99),
    },
    Figure {
        name: "mean_delay",
        unit: "s",
        better: Better::Lower,
        of: |run| run.known(run.window_delay),
    },
    Figure { name: "loss", unit: "share", better: Better::Lower, of: |run| run.loss },
    Figure { name: "fairness", unit: "index", better: Better::Higher, of: |run| run.fairness },
    Figure {
        name: "sender_cpu",
        unit: "s/GB",
        better: Better::Lower,
        of: |run| run.cpu_s_per_gb.map(|cpu| cpu.0),
    },
    Figure {
        name: "receiver_cpu",
        unit: "s/GB",
        better: Better::Lower,
        of: |run| run.cpu_s_per_gb.map(|cpu| cpu.1),
    },
];

impl Figure {
    fn of(&self, cell: &str, measured: &Measured) -> Option<Series> {
        let rounds = measured.runs.iter().filter_map(self.of).collect();
        Series::of(format!("cell.{cell}.{}", self.name), self.unit, self.better, rounds)
    }
}

/// `scenario/-/80_ms`; a name that is there already has its number behind it.
fn name(measured: &Measured, known: &mut BTreeMap<String, u32>) -> String {
    let cell = &measured.cell;
    let group = format!("{:?}", cell.group).to_lowercase();
    let series = cell.series.as_deref().map_or_else(|| "-".to_owned(), part);
    let name = format!("{group}/{series}/{}", part(&cell.label));
    let times = known.entry(name.clone()).or_default();
    *times += 1;
    if *times == 1 { name } else { format!("{name}_{times}") }
}

/// Each flow of a cell over its passes; one that did not come to its end has no figure of that pass.
fn flows(journal: &Journal, measured: &Measured, cell: &str) -> Vec<Series> {
    let runs = journal.runs().filter(|run| run.cell == measured.cell.id);
    let whole = runs.flat_map(RunSample::flows_by_cluster);
    let mut flows: BTreeMap<String, Vec<&FlowSample>> = BTreeMap::new();
    for (cluster, flow) in whole.filter(|(_, flow)| flow.outcome.is_complete()) {
        let [test, from, to] = [&flow.test, flow.from.name(), flow.to.name()].map(part);
        let name = format!("{}/{test}/{}/{from}/{to}", part(cluster), flow.session);
        flows.entry(format!("flow.{cell}/{name}")).or_default().push(flow);
    }
    flows.iter().flat_map(|(name, passes)| figures_of_flow(name, passes)).collect()
}

fn figures_of_flow(name: &str, passes: &[&FlowSample]) -> impl Iterator<Item = Series> {
    let rates = passes.iter().map(|flow| flow.figures.departure_rate_bit_s).collect();
    let delay = |figure: &str, of: fn(&FlowSample) -> Option<f64>| {
        let delays = passes.iter().filter_map(|flow| of(flow)).collect();
        Series::of(format!("{name}.{figure}"), "s", Better::Lower, delays)
    };
    let rate = Series::of(format!("{name}.rate"), "bit/s", Better::Higher, rates);
    let median = delay("delay_p50", |flow| known(flow, flow.figures.delay?.p50_s));
    let tail = delay("delay_p99", |flow| known(flow, flow.figures.delay?.p99_s));
    rate.into_iter().chain(median).chain(tail)
}

/// A delay of one way, where the clocks of both ends are known well enough to say it.
fn known(flow: &FlowSample, delay_s: f64) -> Option<f64> {
    flow.delay_bound_s().is_none_or(|bound| delay_s >= bound).then_some(delay_s)
}
