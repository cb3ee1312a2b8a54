//! One row per flow and run, for spreadsheets and statistics programs.

use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::study::Analysis;

use crate::result::traffic::ended;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal, analysis: &Analysis) -> Vec<Vec<String>> {
    let head = COLUMNS.map(ToOwned::to_owned).to_vec();
    let mut rows = vec![head];
    for run in journal.runs() {
        let label = journal.plan.cell(run.cell).map_or("", |cell| cell.label.as_str());
        for cluster in &run.clusters {
            rows.extend(cluster.flows.iter().map(|flow| {
                let rho = analysis.rho_of(journal, run.cell, flow);
                row((label, rho), run, cluster, flow)
            }));
        }
    }
    rows
}

const COLUMNS: [&str; 35] = [
    "cell",
    "pass",
    "cluster",
    "test",
    "session",
    "from",
    "to",
    "transport",
    "traffic",
    "duration_s",
    "arrived_bytes",
    "lost_bytes",
    "departed_bytes",
    "delivered_bytes",
    "acknowledged_bytes",
    "arrival_rate_bit_s",
    "departure_rate_bit_s",
    "carried_rate_bit_s",
    "offered_ratio",
    "rho_of_way",
    "window_delay_s",
    "drained_delay_s",
    "delay_p50_s",
    "delay_p99_s",
    "delay_bound_s",
    "blocks_due",
    "blocks_missed",
    "lost_share",
    "pacing_p99_us",
    "host_limited",
    "ended",
    "asking_cpu_s",
    "answering_cpu_s",
    "noticed",
    "notices",
];

fn row(
    (label, rho): (&str, Option<f64>),
    run: &RunSample,
    cluster: &ClusterSample,
    flow: &FlowSample,
) -> Vec<String> {
    let figures = &flow.figures;
    let or_empty = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        label.to_owned(),
        run.pass.to_string(),
        cluster.name.clone(),
        flow.test.clone(),
        flow.session.to_string(),
        flow.from.to_string(),
        flow.to.to_string(),
        flow.transport.clone(),
        flow.traffic.clone(),
        flow.duration_ns.seconds().to_string(),
        figures.arrived_bytes.count().to_string(),
        figures.lost_bytes.count().to_string(),
        figures.departed_bytes.count().to_string(),
        figures.delivered_bytes.count().to_string(),
        flow.acknowledged_bytes.map_or_else(String::new, |bytes| bytes.count().to_string()),
        figures.arrival_rate_bit_s.to_string(),
        figures.departure_rate_bit_s.to_string(),
        or_empty(figures.carried_rate_bit_s),
        or_empty(figures.offered_ratio),
        or_empty(rho),
        or_empty(flow.one_way(figures.window_delay_s)),
        or_empty(flow.one_way(figures.drained_delay_s)),
        or_empty(flow.one_way(figures.delay.map(|delay| delay.p50_s))),
        or_empty(flow.one_way(figures.delay.map(|delay| delay.p99_s))),
        or_empty(flow.delay_bound_s()),
        figures.blocks.due.to_string(),
        (figures.blocks.missed + figures.blocks.interrupted).to_string(),
        or_empty(figures.loss.map(|loss| loss.lost_share)),
        or_empty(figures.pacing.map(|pacing| pacing.p99_us)),
        figures.pacing.map_or_else(String::new, |pacing| pacing.host_limited.to_string()),
        ended(&flow.outcome),
        or_empty(flow.cpu_ns.map(|[asking, _]| asking.seconds())),
        or_empty(flow.cpu_ns.map(|[_, answering]| answering.seconds())),
        joined(flow.noticed.iter().map(|(what, value)| format!("{what} = {value}"))),
        joined(run.flags.iter().map(|flag| flag.detail.clone())),
    ]
}

/// Several texts in one field.
fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("; ")
}
