//! Each connection of a scenario over its passes, with intervals.

use btu_core::traffic::analysis::Connection;
use btu_core::traffic::analysis::Estimate;
use btu_core::traffic::analysis::connections;
use btu_core::traffic::figures::flow::Delays;
use btu_core::traffic::sample::FlowSample;
use btu_core::traffic::sample::RunSample;

use super::super::Seen;
use super::super::rate;
use super::super::span;
use super::MOST_ROWS;
use super::named;
use super::table;
use crate::document::Block;
use crate::number;

/// A row for each connection of the cell of `run`; nothing where that was run once.
pub(super) fn compose(seen: &Seen<'_>, run: &RunSample) -> Option<Block> {
    let of_cell = connections(seen.journal).into_iter().filter(|one| one.cell == run.cell);
    let of_cell: Vec<Connection<'_>> = of_cell.filter(|one| one.flows.len() > 1).collect();
    let rows: Vec<Vec<String>> = named(seen, run)
        .iter()
        .filter_map(|named| {
            // By the flow itself: names may be alike.
            let is_same = |flow: &&&FlowSample| std::ptr::eq(**flow, named.flow);
            let one = of_cell.iter().find(|one| one.flows.iter().any(|flow| is_same(&flow)))?;
            Some(row(&named.name, one))
        })
        .take(MOST_ROWS)
        .collect();
    let columns = ["a", "d", "W window", "p50", "p99", "lost %", "passes"];
    let title = "Connections over the passes: means, with 95 % intervals from three on";
    (!rows.is_empty()).then(|| table(title, &columns, rows))
}

fn row(name: &str, one: &Connection<'_>) -> Vec<String> {
    let blocks =
        |of: fn(&Delays) -> f64| one.delay(move |flow| flow.figures.delay.as_ref().map(of));
    let time = |seconds: f64| span(Some(seconds));
    let arrival = one.over_passes(|flow| Some(flow.figures.arrival_rate_bit_s));
    vec![
        name.to_owned(),
        told(arrival, rate),
        told(one.over_passes(|flow| Some(flow.figures.departure_rate_bit_s)), rate),
        told(one.delay(|flow| flow.figures.window_delay_s), time),
        told(blocks(|delay| delay.p50_s), time),
        told(blocks(|delay| delay.p99_s), time),
        told(one.share(|flow| flow.figures.loss.map(|loss| loss.lost_share)), |share| {
            number::measured(share * 100.0, "")
        }),
        arrival.map_or(0, |found| found.passes).to_string(),
    ]
}

/// `1.70 Mb/s (1.69 Mb/s to 1.71 Mb/s)`
fn told(found: Option<Estimate>, form: impl Fn(f64) -> String) -> String {
    let Some(found) = found else { return number::NONE.to_owned() };
    let value = form(found.value);
    match found.interval {
        Some(bounds) => format!("{value} ({} to {})", form(bounds.low), form(bounds.high)),
        None => value,
    }
}
