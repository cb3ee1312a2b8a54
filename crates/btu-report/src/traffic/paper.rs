//! The paper's own numbers beside ours, and where its text and its arithmetic disagree.

use btu_core::traffic::analysis::Measured;
use btu_core::traffic::figures::delay;
use btu_core::traffic::language::recipe::burst_period_s;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;

use super::Seen;
use super::rate;
use super::span;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    if seen.journal.plan.study != Study::Viseum {
        return Vec::new();
    }
    let columns = vec![
        Column::left("figure"),
        Column::left("napier"),
        Column::left("expected"),
        Column::left("measured"),
    ];
    let rows = [main_finding(seen), figures(seen), others(seen)].concat();
    let title = "Numbers of the paper and of this run".to_owned();
    let table = Table { title, columns, rows, summary_rows: 0 };
    let items = DISAGREEMENTS.iter().map(|text| (*text).to_owned()).collect();
    vec![
        Block::Table(table),
        Block::paragraph("Where the paper's text and its arithmetic disagree:"),
        Block::List { items },
    ]
}

fn line(what: &str, paper: &str, expected: String, measured: String) -> Vec<String> {
    vec![what.to_owned(), paper.to_owned(), expected, measured]
}

/// Rates and times as the paper has them: a quick form is ten times as fast.
fn scale(seen: &Seen<'_>) -> f64 {
    f64::from(seen.journal.plan.scale)
}

fn rate_of(cell: Option<&Measured>) -> String {
    let found = cell.and_then(|cell| cell.departure);
    found.map_or_else(|| number::NONE.to_owned(), |found| rate(found.value))
}

fn main_finding(seen: &Seen<'_>) -> Vec<Vec<String>> {
    let scale = scale(seen);
    let capacity = seen.analysis.group(Group::Capacity).next();
    let slow = seen.analysis.group(Group::SlowLine).next();
    let ratio = capacity.and_then(|c| c.departure).zip(slow.and_then(|c| c.departure));
    vec![
        line("full stream", "1.75, 1.7 Mb/s", rate(1.7e6 * scale), rate_of(capacity)),
        line("the other line", "0.45 Mb/s", rate(0.45e6 * scale), rate_of(slow)),
        line(
            "ratio of the two",
            "3.9",
            number::ratio(1.7 / 0.45),
            number::ratio_or_none(ratio.map(|(fast, slow)| fast.value / slow.value)),
        ),
    ]
}

fn figures(seen: &Seen<'_>) -> Vec<Vec<String>> {
    let longest = seen.analysis.group(Group::Time).last();
    let rho = longest.and_then(|cell| cell.arrival).and_then(|a| seen.analysis.rho(a.value));
    let seconds = longest.map_or(0.0, |cell| cell.cell.x);
    let fluid = rho.map(|rho| delay::fluid_window(seconds, rho));
    let rows = vec![
        line(
            "4: spread over blocks",
            "slight",
            "within 2 %".to_owned(),
            percent(spread(seen.analysis.group(Group::BlockSize))),
        ),
        line(
            "4: Tx and Rx differ",
            "within 1 %",
            "within 1 %".to_owned(),
            percent(apart(seen.analysis.group(Group::BlockSize))),
        ),
        line(
            "5: CPU, largest block",
            "falls",
            "below 1 of smallest".to_owned(),
            number::ratio_or_none(cpu_ratio(seen)),
        ),
    ];
    let at_the_end = vec![
        line(
            "9: utilisation",
            "around 11",
            number::ratio_or_none(rho),
            number::ratio_or_none(longest.and_then(|c| c.offered_ratio).map(|found| found.value)),
        ),
        line(
            "10: delay at the end",
            "almost 60 s",
            span(fluid),
            span(longest.and_then(|cell| cell.window_delay).map(|found| found.value)),
        ),
    ];
    [rows, sessions(seen), vec![knee(seen)], shortest_period(seen), at_the_end].concat()
}

/// By how much what was acknowledged differs from what was read, of a block size, percent at the most.
fn apart<'a>(cells: impl Iterator<Item = &'a Measured>) -> Option<f64> {
    let both = cells.filter_map(|cell| cell.transmitted.zip(cell.departure));
    let shares = both
        .filter(|(_, read)| read.value > 0.0)
        .map(|(sent, read)| 100.0 * (sent.value / read.value - 1.0).abs());
    shares.max_by(f64::total_cmp)
}

/// Where bursts begin to wait.
fn knee(seen: &Seen<'_>) -> Vec<String> {
    let ms = |knee: f64| format!("{} ms", number::figure(burst_period_s(knee) * 1e3));
    let found = seen.analysis.knee.map(|found| ms(found.knee));
    let measured = found.unwrap_or_else(|| number::NONE.to_owned());
    line("7: knee", "about 80 ms", ms(1.7e6 * scale(seen)), measured)
}

fn percent(found: Option<f64>) -> String {
    found.map_or_else(|| number::NONE.to_owned(), |found| format!("{} %", number::figure(found)))
}

/// CPU time of both ends per byte.
fn cpu_ratio(seen: &Seen<'_>) -> Option<f64> {
    let of = |cell: &Measured| {
        let all: Vec<f64> = cell.runs.iter().filter_map(|run| run.cpu_s_per_gb).map(sum).collect();
        btu_core::stats::arithmetic_mean(&all).filter(|cpu| *cpu > 0.0)
    };
    let smallest = seen.analysis.group(Group::BlockSize).next().and_then(of)?;
    Some(seen.analysis.group(Group::BlockSize).last().and_then(of)? / smallest)
}

fn sum((sender, receiver): (f64, f64)) -> f64 {
    sender + receiver
}

/// However many they are, together they get what one gets, and each the same.
fn sessions(seen: &Seen<'_>) -> Vec<Vec<String>> {
    let spread = spread(seen.analysis.group(Group::Sessions));
    let runs = seen.analysis.group(Group::Sessions).flat_map(|cell| &cell.runs);
    let fairness = runs.filter_map(|run| run.fairness).min_by(f64::total_cmp);
    let (expected, fair) = ("within 2 %".to_owned(), "at least 0.9".to_owned());
    vec![
        line("6: spread over sessions", "excellent", expected, percent(spread)),
        line("6: least fairness", number::NONE, fair, number::ratio_or_none(fairness)),
    ]
}

/// Where the utilisation is highest: over the run, and until the queue was empty.
fn shortest_period(seen: &Seen<'_>) -> Vec<Vec<String>> {
    let cell = seen.analysis.group(Group::Period).next();
    let rho = cell.and_then(|cell| cell.arrival).and_then(|a| seen.analysis.rho(a.value));
    let fluid = |of: fn(f64, f64) -> f64| span(rho.map(|rho| of(10.0 / scale(seen), rho)));
    let window = cell.and_then(|cell| cell.window_delay).map(|found| found.value);
    let drained = cell.and_then(|cell| cell.drained_delay).map(|found| found.value);
    vec![
        line("8: most delay in a run", "above 10 s", fluid(delay::fluid_window), span(window)),
        line("8: until it is empty", "above 10 s", fluid(delay::fluid_drained), span(drained)),
    ]
}

fn others(seen: &Seen<'_>) -> Vec<Vec<String>> {
    let datagrams = seen.analysis.group(Group::Datagrams).next();
    let lost: Vec<f64> =
        datagrams.iter().flat_map(|cell| &cell.runs).filter_map(|run| run.loss).collect();
    let lost = btu_core::stats::arithmetic_mean(&lost);
    let unqueued: Vec<&Measured> = seen.analysis.group(Group::Unqueued).collect();
    let missed: Vec<String> = unqueued
        .iter()
        .map(|cell| {
            let missed: u64 = cell.runs.iter().map(|run| run.missed).sum();
            format!("{} missed at {}", missed, cell.cell.label)
        })
        .collect();
    let mut rows = vec![line(
        "datagrams at 1.3 mu",
        "fatal errors",
        format!("{} % lost", number::figure(100.0 * (1.0 - 1.0 / 1.3))),
        percent(lost.map(|lost| lost * 100.0)),
    )];
    if !missed.is_empty() {
        rows.push(line(
            "unqueued bursts",
            "differ",
            "missed below knee".to_owned(),
            missed.join(", "),
        ));
    }
    rows
}

/// Largest less smallest of what departed, percent of the mean.
fn spread<'a>(cells: impl Iterator<Item = &'a Measured>) -> Option<f64> {
    let rates: Vec<f64> = cells.filter_map(|cell| cell.departure).map(|d| d.value).collect();
    let most = rates.iter().copied().max_by(f64::total_cmp)?;
    let least = rates.iter().copied().min_by(f64::total_cmp)?;
    let mean = btu_core::stats::arithmetic_mean(&rates)?;
    Some(100.0 * (most - least) / mean)
}

const DISAGREEMENTS: &[&str] = &[
    "Full streams carry 1.75 Mb/s in the findings and 1.7 Mb/s in section 5 b; here the line is made for 1.7.",
    "Bursts of 12500 B each 80 to 1000 ms (section 4 b) offer at most 1.25 Mb/s: utilisation never \
     reaches 1. Figure 8 needs periods below 58.8 ms, and those are measured here from 10 ms on.",
    "12500 B at 1.7 Mb/s take 58.8 ms; the text reads the knee as about 80 ms, where the utilisation is 0.735.",
    "Delays above 10 s in runs of 10 s (section 5 b) cannot come from Little's formula over the run, which \
     is bounded by half of it; until the queue is empty they can, from a utilisation of 3 on. Both are shown.",
    "Intervals between bursts are said to be exponential in section 4 and within 20 to 200 ms; uniform ones give the \
     utilisation of figure 9, exponential ones within these bounds do not. Uniform ones are sent here.",
    "The mean block is 256258 B in section 4 c and 254586 B in section 5 c; an exponential of the former, \
     clamped to its bounds, has 251977 B.",
];
