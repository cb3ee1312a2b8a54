//! The sheet of a path: what it carries, how long things wait, and how many sessions of each class it bears.

use btu_core::traffic::class;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::study::Carried;

use super::Seen;
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
    vec![Block::Facts { rows: path(seen) }, sessions(seen), limits(seen)]
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
        rows.push(Pair::new("knee of throughput", rate(knee.knee)));
        for share in [0.5, 0.8, 0.95] {
            let name = format!("W at {:.0} % of the knee", share * 100.0);
            rows.push(Pair::new(name, span(delay_at(seen, share * knee.knee))));
        }
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

/// Little's delay at a load, between the loads that were measured.
fn delay_at(seen: &Seen<'_>, load: f64) -> Option<f64> {
    let mut points: Vec<(f64, f64)> = seen
        .analysis
        .group(Group::Load)
        .filter_map(|cell| Some((cell.arrival?.value, cell.window_delay?.value)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let above = points.iter().position(|(at, _)| *at >= load)?;
    let (high, low) = (points[above], *points.get(above.checked_sub(1)?)?);
    Some(low.1 + (high.1 - low.1) * (load - low.0) / (high.0 - low.0))
}

fn sessions(seen: &Seen<'_>) -> Block {
    let columns = vec![
        Column::left("class"),
        Column::right("sessions"),
        Column::right("p50"),
        Column::right("p99"),
        Column::right("PDV"),
        Column::right("lost %"),
        Column::left("more fail by"),
    ];
    let rows = seen.analysis.classes.iter().map(row).collect();
    let title = "Sessions that the path carries within the limits of the class".to_owned();
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
}

fn row(carried: &Carried) -> Vec<String> {
    let runs = &carried.at.runs;
    let worst = |of: fn(&btu_core::traffic::study::Totals) -> Option<f64>| {
        runs.iter().filter_map(of).max_by(f64::total_cmp)
    };
    vec![
        carried.class.clone(),
        carried.most.map_or_else(|| "none".to_owned(), |most| most.to_string()),
        span(worst(|run| run.delay_p50)),
        span(worst(|run| run.delay_p99)),
        span(worst(|run| run.pdv_p99)),
        number::figure_or_none(worst(|run| run.worst_loss).map(|loss| loss * 100.0)),
        carried
            .fails_at
            .as_ref()
            .map_or_else(|| "none tried".to_owned(), |(at, why)| format!("{at}: {why}")),
    ]
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
            limits.share.map(|least| format!(">= {} of mu/N", number::tick(least))),
        ];
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        Pair::new(class.name, format!("{}; {} ({})", class.about, texts.join(", "), class.source))
    });
    Block::Facts { rows: rows.collect() }
}
