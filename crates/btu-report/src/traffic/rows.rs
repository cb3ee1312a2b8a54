//! One row per flow and run, for spreadsheets and statistics programs.

use btu_core::traffic::analysis::Analysis;
use btu_core::traffic::figures::flow::Delays;
use btu_core::traffic::figures::flow::Loss;
use btu_core::traffic::figures::flow::Pacing;
use btu_core::traffic::figures::flow::ReceiptDelays;
use btu_core::traffic::figures::flow::Receipts;
use btu_core::traffic::figures::places::Places;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::sample::ClusterSample;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::RunSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::result::traffic::word;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal, analysis: &Analysis) -> Vec<Vec<String>> {
    let mut rows = vec![COLUMNS.iter().map(|Column(name, _)| (*name).to_owned()).collect()];
    for run in journal.runs() {
        let cell = journal.plan.cell(run.cell);
        for cluster in &run.clusters {
            rows.extend(cluster.flows.iter().map(|flow| {
                let rho = analysis.rho_of(journal, run.cell, (&cluster.name, flow));
                let row = Row { cell, run, cluster, flow, rho };
                COLUMNS.iter().map(|Column(_, of)| of(&row)).collect()
            }));
        }
    }
    rows
}

/// A flow with all that it belongs to.
struct Row<'a> {
    cell: Option<&'a Cell>,
    run: &'a RunSample,
    cluster: &'a ClusterSample,
    flow: &'a FlowSample,
    rho: Option<f64>,
}

impl Row<'_> {
    fn delay(&self, of: fn(&Delays) -> f64) -> String {
        or_empty(self.flow.one_way(self.flow.figures.delay.as_ref().map(of)))
    }

    fn loss(&self, of: fn(&Loss) -> String) -> String {
        self.flow.figures.loss.as_ref().map_or_else(String::new, of)
    }

    fn pacing(&self, of: fn(&Pacing) -> String) -> String {
        self.flow.figures.pacing.as_ref().map_or_else(String::new, of)
    }

    fn between_bursts(&self, of: fn(Pacing) -> f64) -> String {
        or_empty(self.flow.figures.pacing.and_then(Pacing::between_bursts).map(of))
    }

    fn receipts(&self, of: fn(&Receipts) -> u64) -> String {
        or_empty(self.flow.figures.receipts.as_ref().map(of))
    }

    fn receipt(&self, of: fn(&ReceiptDelays) -> f64) -> String {
        let receipts = self.flow.figures.receipts;
        or_empty(receipts.and_then(|receipts| receipts.delay).as_ref().map(of))
    }

    fn place(&self, of: fn(&Places) -> f64) -> String {
        or_empty(self.flow.places.as_ref().map(of))
    }

    /// Nobody reads the time of threads on another host that answer.
    fn cpu(&self, of: fn(&ClusterSample) -> Nanos) -> String {
        or_empty((self.cluster.sender_threads > 0).then(|| of(self.cluster).seconds()))
    }
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Several texts in one field.
fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("; ")
}

/// A column: its name, and what a row has there.
struct Column(&'static str, fn(&Row<'_>) -> String);

/// Every column. New ones come last: whoever reads by number goes on reading the same.
static COLUMNS: &[Column] = &[
    Column("cell", |row| row.cell.map_or_else(String::new, |cell| cell.label.clone())),
    Column("pass", |row| row.run.pass.to_string()),
    Column("cluster", |row| row.cluster.name.clone()),
    Column("test", |row| row.flow.test.clone()),
    Column("session", |row| row.flow.session.to_string()),
    Column("from", |row| row.flow.from.to_string()),
    Column("to", |row| row.flow.to.to_string()),
    Column("transport", |row| row.flow.transport.clone()),
    Column("traffic", |row| row.flow.traffic.clone()),
    Column("duration_s", |row| row.flow.duration_ns.seconds().to_string()),
    Column("arrived_bytes", |row| row.flow.figures.arrived_bytes.count().to_string()),
    Column("departed_bytes", |row| row.flow.figures.departed_bytes.count().to_string()),
    Column("delivered_bytes", |row| row.flow.figures.delivered_bytes.count().to_string()),
    Column("acknowledged_bytes", |row| or_empty(row.flow.acknowledged_bytes.map(Bytes::count))),
    Column("arrival_rate_bit_s", |row| row.flow.figures.arrival_rate_bit_s.to_string()),
    Column("departure_rate_bit_s", |row| row.flow.figures.departure_rate_bit_s.to_string()),
    Column("offered_ratio", |row| or_empty(row.flow.figures.offered_ratio)),
    Column("window_delay_s", |row| or_empty(row.flow.one_way(row.flow.figures.window_delay_s))),
    Column("drained_delay_s", |row| or_empty(row.flow.one_way(row.flow.figures.drained_delay_s))),
    Column("delay_p50_s", |row| row.delay(|delay| delay.p50_s)),
    Column("delay_p99_s", |row| row.delay(|delay| delay.p99_s)),
    Column("delay_bound_s", |row| or_empty(row.flow.delay_bound_s())),
    Column("blocks_due", |row| row.flow.figures.blocks.due.to_string()),
    Column("blocks_missed", |row| {
        let blocks = row.flow.figures.blocks;
        (blocks.missed + blocks.interrupted).to_string()
    }),
    Column("lost_share", |row| row.loss(|loss| loss.lost_share.to_string())),
    Column("pacing_p99_us", |row| row.between_bursts(|pacing| pacing.p99_us)),
    Column("host_limited", |row| row.pacing(|pacing| pacing.host_limited.to_string())),
    Column("ended", |row| row.flow.outcome.to_string()),
    Column("asking_cpu_s", |row| or_empty(row.flow.cpu_ns.map(|[asking, _]| asking.seconds()))),
    Column("answering_cpu_s", |row| {
        or_empty(row.flow.cpu_ns.map(|[_, answering]| answering.seconds()))
    }),
    Column("noticed", |row| {
        joined(row.flow.noticed.iter().map(|(what, value)| format!("{what} = {value}")))
    }),
    Column("notices", |row| joined(row.run.flags.iter().map(|flag| flag.detail.clone()))),
    Column("lost_bytes", |row| row.flow.figures.lost_bytes.count().to_string()),
    Column("carried_rate_bit_s", |row| or_empty(row.flow.figures.carried_rate_bit_s)),
    Column("rho_of_way", |row| or_empty(row.rho)),
    Column("cell_id", |row| row.run.cell.to_string()),
    Column("group", |row| or_empty(row.cell.map(|cell| word(&cell.group)))),
    Column("x", |row| or_empty(row.cell.map(|cell| cell.x))),
    Column("phase_s", |row| or_empty(row.flow.phase_ns.map(Nanos::seconds))),
    Column("retransmitted_bytes", |row| or_empty(row.flow.retransmitted_bytes.map(Bytes::count))),
    Column("least_rtt_s", |row| or_empty(row.flow.least_rtt_ns.map(Nanos::seconds))),
    Column("rtt_above_least_s", |row| row.place(|places| places.queueing_s)),
    Column("blocks_sent", |row| row.flow.figures.blocks.sent.to_string()),
    Column("blocks_interrupted", |row| row.flow.figures.blocks.interrupted.to_string()),
    Column("blocks_unfinished", |row| row.flow.figures.blocks.unfinished.to_string()),
    Column("blocks_waiting", |row| row.flow.figures.blocks.waiting.to_string()),
    Column("mean_queue_bytes", |row| or_empty(row.flow.figures.mean_queue_bytes)),
    Column("queue_application_bytes", |row| row.place(|places| places.application_bytes)),
    Column("queue_socket_bytes", |row| row.place(|places| places.socket_bytes)),
    Column("queue_network_bytes", |row| row.place(|places| places.network_bytes)),
    Column("queue_receiver_bytes", |row| row.place(|places| places.receiver_bytes)),
    Column("delay_min_s", |row| row.delay(|delay| delay.min_s)),
    Column("delay_mean_s", |row| row.delay(|delay| delay.mean_s)),
    Column("delay_byte_mean_s", |row| row.delay(|delay| delay.byte_mean_s)),
    Column("delay_p95_s", |row| row.delay(|delay| delay.p95_s)),
    Column("delay_p99_at_least_s", |row| {
        or_empty(row.flow.one_way(row.flow.figures.delay_p99_at_least_s))
    }),
    Column("delay_p999_s", |row| row.delay(|delay| delay.p999_s)),
    Column("delay_max_s", |row| row.delay(|delay| delay.max_s)),
    Column("pdv_p99_s", |row| or_empty(row.flow.figures.delay.map(|delay| delay.pdv_p99_s))),
    Column("datagrams_sent", |row| row.loss(|loss| loss.sent.to_string())),
    Column("refused_datagrams", |row| row.flow.refused.to_string()),
    Column("reordered", |row| row.loss(|loss| loss.reordered.to_string())),
    Column("duplicated", |row| row.loss(|loss| loss.duplicated.to_string())),
    Column("jitter_s", |row| row.loss(|loss| or_empty(loss.jitter_s))),
    Column("pace", |row| row.flow.pace.clone()),
    Column("pacing_period_us", |row| row.between_bursts(|pacing| pacing.period_us)),
    Column("pacing_p50_us", |row| row.between_bursts(|pacing| pacing.p50_us)),
    Column("pacing_max_us", |row| row.between_bursts(|pacing| pacing.max_us)),
    Column("pacing_late_p99_us", |row| row.pacing(|pacing| pacing.late_p99_us.to_string())),
    Column("congestion", |row| or_empty(row.flow.sender_options.congestion.as_ref())),
    Column("cluster_began_s", |row| row.cluster.began_ns.seconds().to_string()),
    Column("cluster_elapsed_s", |row| row.cluster.elapsed_ns.seconds().to_string()),
    Column("cluster_sender_threads", |row| row.cluster.sender_threads.to_string()),
    Column("cluster_sender_cpu_s", |row| row.cpu(|cluster| cluster.sender_cpu_ns)),
    Column("cluster_receiver_cpu_s", |row| row.cpu(|cluster| cluster.receiver_cpu_ns)),
    Column("nodelay", |row| or_empty(row.flow.sender_options.nodelay)),
    Column("send_buffer_bytes", |row| or_empty(row.flow.sender_options.send_buffer_bytes)),
    Column("receive_buffer_bytes", |row| or_empty(row.flow.receiver_options.receive_buffer_bytes)),
    Column("mss_bytes", |row| or_empty(row.flow.sender_options.mss_bytes)),
    Column("window_clamp_bytes", |row| or_empty(row.flow.receiver_options.window_clamp_bytes)),
    Column("delay_hidden", |row| row.flow.delay_reason().unwrap_or_default()),
    Column("queue_gap_bytes", |row| row.place(|places| places.largest_gap_bytes)),
    Column("pacing_blocks", |row| row.pacing(|pacing| pacing.blocks.to_string())),
    Column("pacing_late_blocks", |row| row.pacing(|pacing| or_empty(pacing.late_blocks))),
    Column("blocks_answered", |row| row.receipts(|receipts| receipts.answered)),
    Column("receipts_came", |row| row.receipts(|receipts| receipts.came)),
    Column("receipts_missing", |row| row.receipts(Receipts::missing)),
    Column("receipt_delay_min_s", |row| row.receipt(|delay| delay.min_s)),
    Column("receipt_delay_p50_s", |row| row.receipt(|delay| delay.p50_s)),
    Column("receipt_delay_p95_s", |row| row.receipt(|delay| delay.p95_s)),
    Column("receipt_delay_p99_s", |row| row.receipt(|delay| delay.p99_s)),
    Column("receipt_delay_p999_s", |row| row.receipt(|delay| delay.p999_s)),
    Column("receipt_delay_max_s", |row| row.receipt(|delay| delay.max_s)),
];
