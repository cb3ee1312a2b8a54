//! The flows of a scenario: rates, delays, where the queue stood, and how well the sender kept time.

mod over_passes;
mod receipts;
mod slowdowns;

use std::collections::BTreeMap;

use btu_core::traffic::figures::flow::Pacing;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::RunSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Seen;
use super::clocks;
use super::rate;
use super::span;
use super::unverified;
use crate::document::Block;
use crate::document::Column;
use crate::document::CurveLine;
use crate::document::CurvePlace;
use crate::document::LineChart;
use crate::document::Origin;
use crate::document::Scale;
use crate::document::ScaleKind;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.study != Study::Scenario {
        return Vec::new();
    }
    let Some(run) = seen.journal.runs().last() else { return Vec::new() };
    let flows = named(seen, run);
    let flows = &flows[..flows.len().min(MOST_ROWS)];
    let mut blocks: Vec<Block> = over_passes::compose(seen, run).into_iter().collect();
    blocks.extend(which(seen, run));
    blocks.extend([rates(flows), delays(flows)]);
    blocks.extend(receipts::compose(flows));
    blocks.extend(slowdowns::compose(run));
    blocks.extend(silent(flows));
    blocks.extend(clocks::compose(run));
    blocks.extend(places(flows));
    blocks.extend(datagrams(flows));
    blocks.extend(noticed(flows));
    blocks.push(pacing(flows));
    blocks.push(cpu(run));
    blocks.extend(unread(run));
    let items = unverified::models(seen.journal);
    blocks.extend((!items.is_empty()).then_some(Block::List { items }));
    blocks.extend(curves(flows));
    let left_out = run.flows().count().saturating_sub(MOST_ROWS);
    if left_out > 0 {
        blocks.push(Block::paragraph(format!(
            "{left_out} more flows stand in result.json and in the CSV form."
        )));
    }
    blocks
}

/// Which of several runs the tables are of.
fn which(seen: &Seen<'_>, run: &RunSample) -> Option<Block> {
    let runs = seen.journal.runs().count();
    let label = seen.journal.plan.cell(run.cell).map_or("", |cell| cell.label.as_str());
    let said = || {
        let pass = run.pass;
        format!("Of the last of {runs} runs, {label}, pass {pass}; all stand in the CSV form.")
    };
    (runs > 1).then(|| Block::paragraph(said()))
}

/// A flow, and what it is called in every table.
struct Named<'a> {
    name: String,
    flow: &'a FlowSample,
    /// a / mu.
    rho: Option<f64>,
}

/// `a`, or `a 3` for one of many sessions; `cluster/a` where there are several clusters; and where that is
/// still another's name, `a (2)`.
fn named<'a>(seen: &Seen<'_>, run: &'a RunSample) -> Vec<Named<'a>> {
    let several = run.clusters.len() > 1;
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    let mut flows = Vec::new();
    for cluster in &run.clusters {
        for flow in &cluster.flows {
            let rho = seen.analysis.rho_of(seen.journal, run.cell, (&cluster.name, flow));
            let cluster = if several { format!("{}/", cluster.name) } else { String::new() };
            let session =
                if flow.session > 1 { format!(" {}", flow.session) } else { String::new() };
            let name = format!("{cluster}{}{session}", flow.test);
            let times = known.entry(name.clone()).and_modify(|times| *times += 1).or_insert(1);
            let name = if *times > 1 { format!("{name} ({times})") } else { name };
            flows.push(Named { name, flow, rho });
        }
    }
    flows
}

/// `burstq` of `burstq(blocksize=1 kB)`.
fn kind(flow: &FlowSample) -> String {
    flow.traffic.split('(').next().unwrap_or_default().to_owned()
}

fn table(title: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Block {
    let first = std::iter::once(Column::left("flow"));
    let columns = first.chain(columns.iter().map(|title| Column::right(*title))).collect();
    Block::Table(Table { title: title.to_owned(), columns, rows, summary_rows: 0 })
}

/// Flows whose rows would else say nothing but zero.
fn silent(flows: &[Named<'_>]) -> Option<Block> {
    let own = flows.iter().filter(|named| named.flow.is_silent());
    let told: Vec<String> = own
        .map(|named| {
            format!("{} within {}", named.name, span(Some(named.flow.duration_ns.seconds())))
        })
        .collect();
    let text = || format!("Nothing fell due of {}.", told.join(", "));
    (!told.is_empty()).then(|| Block::paragraph(text()))
}

fn rates(flows: &[Named<'_>]) -> Block {
    let row = |Named { name, flow, rho }: &Named<'_>| {
        let figures = &flow.figures;
        vec![
            name.clone(),
            kind(flow),
            format!("{} -> {}", flow.from, flow.to),
            flow.transport.clone(),
            rate(figures.arrival_rate_bit_s),
            rate(figures.departure_rate_bit_s),
            number::ratio_or_none(figures.offered_ratio),
            number::ratio_or_none(*rho),
            figures.blocks.due.to_string(),
            (figures.blocks.missed + figures.blocks.interrupted).to_string(),
        ]
    };
    let columns = ["type", "path", "over", "a", "d", "a/d", "rho", "due", "missed"];
    table("Rates", &columns, flows.iter().map(row).collect())
}

fn delays(flows: &[Named<'_>]) -> Block {
    let apart = flows.iter().any(|named| named.flow.clocks.is_some());
    let row = |Named { name, flow, .. }: &Named<'_>| {
        let (figures, delay) = (&flow.figures, flow.figures.delay);
        let known = |seconds: Option<f64>| span(flow.one_way(seconds));
        let mut cells = vec![
            name.clone(),
            known(figures.window_delay_s),
            known(figures.drained_delay_s),
            known(delay.map(|delay| delay.p50_s)),
            known(delay.map(|delay| delay.p95_s)),
            known(delay.map(|delay| delay.p99_s)),
            known(delay.map(|delay| delay.max_s)),
        ];
        cells.extend(apart.then(|| span(flow.delay_bound_s())));
        cells
    };
    let mut columns = vec!["W window", "W drained", "p50", "p95", "p99", "max"];
    columns.extend(apart.then_some("all +-"));
    table("Delay of blocks", &columns, flows.iter().map(row).collect())
}

fn places(flows: &[Named<'_>]) -> Option<Block> {
    let rows: Vec<Vec<String>> = flows
        .iter()
        .filter_map(|Named { name, flow, .. }| {
            let places = flow.places?;
            let bytes = |value: f64| number::fixed(value, 0);
            Some(vec![
                name.clone(),
                bytes(places.queue_bytes),
                bytes(places.application_bytes),
                bytes(places.socket_bytes),
                bytes(places.network_bytes),
                bytes(places.receiver_bytes),
                span(Some(places.queueing_s)),
            ])
        })
        .collect();
    let columns = ["L", "application", "socket", "network", "receiver", "RTT above least"];
    (!rows.is_empty()).then(|| table("Where the queue stood, mean bytes", &columns, rows))
}

fn datagrams(flows: &[Named<'_>]) -> Option<Block> {
    let rows: Vec<Vec<String>> = flows
        .iter()
        .filter_map(|Named { name, flow, .. }| {
            let loss = flow.figures.loss?;
            Some(vec![
                name.clone(),
                loss.sent.to_string(),
                loss.received.to_string(),
                number::measured(loss.lost_share * 100.0, ""),
                loss.reordered.to_string(),
                loss.duplicated.to_string(),
                span(loss.jitter_s),
            ])
        })
        .collect();
    let columns = ["sent", "came", "lost %", "reordered", "twice", "mean |IPDV|"];
    (!rows.is_empty()).then(|| table("Datagrams", &columns, rows))
}

/// What the users of conversations noticed, figure by figure.
fn noticed(flows: &[Named<'_>]) -> Option<Block> {
    let rows = flows.iter().flat_map(|Named { name, flow, .. }| {
        let told = flow.noticed.iter();
        told.map(|(what, value)| vec![name.clone(), what.clone(), number::figure(*value)])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let columns = vec![Column::left("flow"), Column::left("what"), Column::right("value")];
    let title = "What users noticed".to_owned();
    (!rows.is_empty()).then_some(Block::Table(Table { title, columns, rows, summary_rows: 0 }))
}

fn pacing(flows: &[Named<'_>]) -> Block {
    let row = |Named { name, flow, .. }: &Named<'_>| {
        let pacing = flow.figures.pacing;
        let between = pacing.and_then(Pacing::between_bursts);
        let micros = |value: Option<f64>| span(value.map(|micros| micros / 1e6));
        vec![
            name.clone(),
            flow.pace.clone(),
            micros(between.map(|pacing| pacing.period_us)),
            micros(between.map(|pacing| pacing.p50_us)),
            micros(between.map(|pacing| pacing.p99_us)),
            micros(between.map(|pacing| pacing.max_us)),
            pacing.map_or(number::NONE, |p| if p.host_limited { "host" } else { "no" }).to_owned(),
        ]
    };
    let columns = ["waits by", "period", "p50", "p99", "max", "limited"];
    table("Inter-departure error of the generator", &columns, flows.iter().map(row).collect())
}

fn cpu(run: &RunSample) -> Block {
    let rows = run.clusters.iter().map(|cluster| {
        let bytes: u64 = cluster.flows.iter().map(|f| f.figures.delivered_bytes.count()).sum();
        #[expect(clippy::cast_precision_loss, reason = "statistics; 53 bits are enough")]
        let per_gb = |cpu: f64| (bytes > 0).then(|| cpu * 1e9 / bytes as f64);
        let [sender, receiver] =
            [cluster.sender_cpu_ns, cluster.receiver_cpu_ns].map(Nanos::seconds);
        // Nobody reads the time of threads on another host that answer.
        let read = cluster.sender_threads > 0;
        let per_gb = |cpu| number::figure_or_none(per_gb(cpu).filter(|_| read));
        let asked = cluster.flows.iter().filter(|flow| flow.is_uncounted()).count();
        vec![
            cluster.name.clone(),
            cluster.sender_threads.to_string(),
            span(Some(sender).filter(|_| read)),
            span(Some(receiver).filter(|_| read)),
            if asked == 0 { per_gb(sender) } else { number::NONE.to_owned() },
            if asked == 0 { per_gb(receiver) } else { number::NONE.to_owned() },
            if asked == 0 { number::NONE.to_owned() } else { asked.to_string() },
        ]
    });
    let columns = ["threads", "sender", "receiver", "sender s/GB", "receiver s/GB", "not counted"];
    let Block::Table(mut made) = table("CPU time of both ends", &columns, rows.collect()) else {
        unreachable!("a table is a table")
    };
    made.columns[0] = Column::left("cluster");
    Block::Table(made)
}

/// Why some CPU times are missing.
fn unread(run: &RunSample) -> Option<Block> {
    let said = "Flows of conversations, which wait for answers from another host, are not counted: the CPU time of \
                the threads that answer is not told.";
    run.flows().any(FlowSample::is_uncounted).then(|| Block::paragraph(said.to_owned()))
}

/// A(t) and D(t) of the first flows; a full stream has no A(t) of its own.
fn curves(flows: &[Named<'_>]) -> Option<Block> {
    let flows = &flows[..flows.len().min(MOST_CURVES)];
    let (unit, per_byte) = unit_of(flows);
    let curves: Vec<CurveLine> = flows.iter().flat_map(|flow| curves_of(flow, per_byte)).collect();
    (!curves.is_empty()).then(|| {
        Block::Lines(LineChart {
            name: "arrival-departure",
            title: "Arrivals A(t) and departures D(t)".to_owned(),
            description: "Bytes that had arrived and bytes that had been read, over time."
                .to_owned(),
            x: Scale { title: "s".to_owned(), kind: ScaleKind::Linear },
            y: Scale { title: unit.to_owned(), kind: ScaleKind::Linear },
            curves,
            ranges: Vec::new(),
            reading: format!(
                "The distance upwards between the two curves of a flow is its queue, the distance sideways \
                 the delay of a byte.{}",
                if flows.iter().any(has_lost) { LOST } else { "" }
            ),
            table: rates_of_curves(flows),
        })
    })
}

fn has_lost(named: &Named<'_>) -> bool {
    named.flow.figures.loss.is_some_and(|loss| loss.lost_share > 0.0)
}

/// What the axis counts in, so that its numbers are short.
fn unit_of(flows: &[Named<'_>]) -> (&'static str, f64) {
    let last = |named: &Named<'_>| {
        named.flow.curves.points().last().map(|(_, arrived, read)| (*arrived).max(*read))
    };
    let most = flows.iter().filter_map(last).max().unwrap_or_default();
    match most.count() {
        0..10_000 => ("bytes", 1.0),
        10_000..10_000_000 => ("kB", 1e-3),
        10_000_000..10_000_000_000 => ("MB", 1e-6),
        _ => ("GB", 1e-9),
    }
}

fn curves_of(Named { name, flow, .. }: &Named<'_>, per_byte: f64) -> Vec<CurveLine> {
    let points = flow.curves.points();
    let line = |label: &str, origin, bytes: fn(&Moment) -> Bytes| CurveLine {
        label: format!("{name} {label}"),
        origin,
        points: points.iter().map(|moment| place(moment.0, bytes(moment), per_byte)).collect(),
    };
    let departures = line("D(t)", Origin::Own, |moment| moment.2);
    if flow.curves.arrived_bytes.iter().all(|bytes| *bytes == 0) {
        return vec![departures];
    }
    vec![line("A(t)", Origin::Foreign, |moment| moment.1), departures]
}

/// A time, what had arrived, what had been read.
type Moment = (Nanos, Bytes, Bytes);

#[expect(clippy::cast_precision_loss, reason = "coordinates of a picture")]
fn place(at: Nanos, bytes: Bytes, per_byte: f64) -> CurvePlace {
    CurvePlace { at: [at.seconds(), bytes.count() as f64 * per_byte], interval: None }
}

fn rates_of_curves(flows: &[Named<'_>]) -> Table {
    match rates(flows) {
        Block::Table(table) => table,
        _ => Table::default(),
    }
}

const LOST: &str =
    " Datagrams that were lost stay between the curves and are no queue: W is without them.";
const MOST_ROWS: usize = 40;
const MOST_CURVES: usize = 4;
