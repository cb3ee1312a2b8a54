//! The sheet of a path: what it carries, how long things wait, and how many sessions of each class it bears.

use btu_core::traffic::analysis::figures::Delays;
use btu_core::traffic::class;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::RunSample;
use btu_core::traffic::study::Carried;
use btu_core::traffic::study::Measured;
use btu_core::traffic::study::Totals;

use super::Seen;
use super::calls;
use super::rate;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Pair;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.study != Study::Qos {
        return Vec::new();
    }
    let mut blocks = vec![Block::Facts { rows: path(seen) }];
    blocks.extend(agreement(seen));
    blocks.extend(around_the_knee(seen));
    blocks.push(sessions(seen));
    let runs = || seen.analysis.classes.iter().flat_map(|carried| &carried.at.runs);
    if runs().any(|run| run.delay_p99_bound().is_some()) {
        blocks.push(Block::paragraph(AT_LEAST.to_owned()));
    }
    if runs().any(|run| run.reordered.is_some()) {
        blocks.push(Block::paragraph(REORDERED.to_owned()));
    }
    blocks.extend(calls::compose(seen));
    blocks.extend(phases(seen));
    blocks.push(limits(seen));
    let marked = |carried: &Carried| {
        class::by_name(&carried.class).is_some_and(|class| class.source.contains("(?)"))
    };
    if seen.analysis.classes.iter().any(marked) {
        blocks.push(Block::paragraph(UNVERIFIED.to_owned()));
    }
    blocks
}

fn path(seen: &Seen<'_>) -> Vec<Pair> {
    let analysis = seen.analysis;
    let mut rows = Vec::new();
    if let Some(mu) = analysis.mu {
        let bounds = mu.interval.map_or_else(String::new, |bounds| {
            format!(", 95 % interval {} to {}", rate(bounds.low), rate(bounds.high))
        });
        rows.push(Pair::new("mu, one full stream", rate(mu.value) + &bounds));
    }
    if let Some(knee) = analysis.knee {
        let bounds = knee.interval.map_or_else(String::new, |bounds| {
            format!(", 95 % interval {} to {}", rate(bounds.low), rate(bounds.high))
        });
        rows.push(Pair::new("knee of throughput", rate(knee.knee) + &bounds));
    }
    if let Some(knee) = analysis.delay_knee {
        rows.push(Pair::new("W0, idle path", span(Some(knee.idle_s))));
        let doubled = number::ratio_or_none(knee.doubled_at);
        rows.push(Pair::new("delay has doubled at rho", doubled));
    }
    if let Some(stream) = analysis.stream {
        rows.extend([
            Pair::new("smallest round trip", span(Some(stream.least_rtt_s))),
            Pair::new(
                "round trips per minute under one full stream, by TCP's RTT",
                number::fixed(stream.loaded_rpm, 0),
            ),
            Pair::new(
                "TCP efficiency (RFC 6349)",
                format!("{} %", number::figure(stream.efficiency_percent)),
            ),
            Pair::new(
                "buffer delay (RFC 6349)",
                format!("{} %", number::figure(stream.buffer_delay_percent)),
            ),
        ]);
    }
    for rho in [1.5, 2.0] {
        // A fluid at rho makes its last byte wait T (rho - 1).
        let name = format!("overload of {rho} mu until 150 ms are reached (computed)");
        rows.push(Pair::new(name, span(Some(0.15 / (rho - 1.0)))));
    }
    rows
}

/// How well delays between two hosts are known, in the worst run.
fn agreement(seen: &Seen<'_>) -> Option<Block> {
    let flows = || seen.journal.runs().flat_map(RunSample::flows);
    let worst = flows().filter_map(FlowSample::delay_bound_s).max_by(f64::total_cmp)?;
    Some(Block::paragraph(format!(
        "Delays of one way are read on two clocks, which are known to agree within {}: delays below \
         that may be anything between nothing and it.",
        span(Some(worst))
    )))
}

/// Delays at shares of the knee, each measured there.
fn around_the_knee(seen: &Seen<'_>) -> Option<Block> {
    let columns = vec![
        Column::left("load"),
        Column::right("a"),
        Column::right("W"),
        Column::right("p50"),
        Column::right("p95"),
        Column::right("p99"),
        Column::right("p99.9"),
        Column::right("PDV"),
        Column::right("passes"),
    ];
    let cells = seen.analysis.group(Group::Load).filter(|cell| cell.cell.series.is_some());
    let rows: Vec<Vec<String>> = cells.map(|cell| load(seen, cell)).collect();
    let title = "Delay of blocks around the knee".to_owned();
    let table = || Block::Table(Table { title, columns, rows: rows.clone(), summary_rows: 0 });
    (!rows.is_empty()).then(table)
}

/// The mean over passes of each percentile.
fn load(seen: &Seen<'_>, cell: &Measured) -> Vec<String> {
    let runs = seen.journal.runs().filter(|run| run.cell == cell.cell.id);
    let delays: Vec<Delays> =
        runs.flat_map(RunSample::flows).filter_map(|flow| flow.figures.delay).collect();
    let mean = |of: fn(&Delays) -> f64| {
        let values: Vec<f64> = delays.iter().map(of).collect();
        span(btu_core::stats::arithmetic_mean(&values))
    };
    vec![
        cell.cell.label.clone(),
        cell.arrival.map_or_else(|| number::NONE.to_owned(), |found| rate(found.value)),
        span(cell.window_delay.map(|found| found.value)),
        mean(|delay| delay.p50_s),
        mean(|delay| delay.p95_s),
        mean(|delay| delay.p99_s),
        mean(|delay| delay.p999_s),
        mean(|delay| delay.pdv_p99_s),
        cell.runs.len().to_string(),
    ]
}

fn sessions(seen: &Seen<'_>) -> Block {
    let columns = vec![
        Column::left("class"),
        Column::right("sessions"),
        Column::right("p50"),
        Column::right("p99"),
        Column::right("PDV"),
        Column::right("lost %"),
        Column::right("reordered %"),
        Column::left("more fail by"),
    ];
    let rows = seen.analysis.classes.iter().map(row).collect();
    let title = "Sessions that the path carries within the limits of the class".to_owned();
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
}

fn row(carried: &Carried) -> Vec<String> {
    let runs = &carried.at.runs;
    let worst = |of: fn(&Totals) -> Option<f64>| runs.iter().filter_map(of).max_by(f64::total_cmp);
    vec![
        carried.class.clone(),
        carried.most.map_or_else(|| "none".to_owned(), |most| most.to_string()),
        span(worst(|run| run.delay_p50)),
        slowest(runs),
        span(worst(|run| run.pdv_p99)),
        percent(worst(|run| run.worst_loss)),
        percent(worst(|run| run.reordered)),
        carried
            .fails_at
            .as_ref()
            .map_or_else(|| "none tried".to_owned(), |(at, why)| format!("{at}: {why}")),
    ]
}

/// The worst 99th percentile, and whether it is a lower bound.
fn slowest(runs: &[Totals]) -> String {
    let worst = |of: fn(&Totals) -> Option<f64>| runs.iter().filter_map(of).max_by(f64::total_cmp);
    let (read, least) = (worst(|run| run.delay_p99), worst(Totals::delay_p99_bound));
    match least.filter(|least| read.is_none_or(|read| *least > read)) {
        Some(least) => format!("at least {}", span(Some(least))),
        None => span(read),
    }
}

/// A share; a dash where there is none.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| number::NONE.to_owned(), |share| number::measured(share * 100.0, ""))
}

/// Sessions that all began at once would fill a queue by themselves.
fn phases(seen: &Seen<'_>) -> Option<Block> {
    let drawn = seen.journal.runs().flat_map(RunSample::flows).any(|flow| flow.phase_ns.is_some());
    let said =
        "Sessions of a class with a constant period begin at random parts of it, each at its own.";
    drawn.then(|| Block::paragraph(said.to_owned()))
}

/// The limits are data: whoever has others can judge by them.
fn limits(seen: &Seen<'_>) -> Block {
    let rows = seen.analysis.classes.iter().filter_map(|carried| class::by_name(&carried.class));
    let rows = rows.map(|class| {
        let limits = class.limits;
        let texts = [
            limits.delay_p99_s.map(|most| format!("p99 <= {}", span(Some(most)))),
            limits.pdv_p99_s.map(|most| format!("PDV <= {}", span(Some(most)))),
            limits.loss.map(|most| format!("loss <= {} %", number::tick(most * 100.0))),
            limits.slowdown.map(|most| format!("p99 <= {} times the least", number::tick(most))),
            limits.carried.map(|least| format!("carried >= {} %", number::tick(least * 100.0))),
            limits.share.map(|least| format!(">= {} of mu/N", number::tick(least))),
        ];
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        Pair::new(class.name, format!("{}; {} ({})", class.about, texts.join(", "), class.source))
    });
    Block::Facts { rows: rows.collect() }
}

const AT_LEAST: &str = "At least: blocks that nobody had read at the end had waited longer than those that were read took. \
    They count with that; p50 and PDV are of blocks that were read.";
const REORDERED: &str =
    "Reordered is the share of datagrams that came after a later one (RFC 4737, 3.4).";
const UNVERIFIED: &str =
    "(?) marks figures of the literature that were not compared with the text they are from.";
