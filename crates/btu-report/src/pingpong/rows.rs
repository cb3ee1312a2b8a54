//! One row per visit, every attempt included, for spreadsheets and statistics programs.

use btu_core::pingpong::analysis::Analysis;
use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::journal::Journal;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Line;
use btu_core::pingpong::sample::VisitSample;
use btu_core::units::Nanos;

/// The head and the rows.
pub(crate) fn csv_rows(journal: &Journal, analysis: &Analysis) -> Vec<Vec<String>> {
    let curves: Vec<&Measured> = analysis.curves.iter().chain(&analysis.reference).collect();
    let head = COLUMNS.map(ToOwned::to_owned).to_vec();
    let rows = journal.lines.iter().filter_map(|line| {
        let Line::PingPongVisit(sample) = line else { return None };
        let curve = curves.iter().find(|curve| curve.id == sample.configuration)?;
        Some(row(curve, sample))
    });
    std::iter::once(head).chain(rows).collect()
}

const COLUMNS: [&str; 19] = [
    "curve",
    "transport",
    "wait",
    "bytes",
    "round",
    "position",
    "attempt",
    "connection",
    "exchanges",
    "timed_units",
    "median_us",
    "mean_us",
    "min_us",
    "max_us",
    "p99_us",
    "verified_exchanges",
    "run_delay_ns",
    "ended",
    "flags",
];

fn row(curve: &Measured, sample: &VisitSample) -> Vec<String> {
    let (times, mode) = (&sample.times, curve.configuration.mode);
    let us = |ns: f64| {
        if times.is_empty() { String::new() } else { mode.time_us(ns, times.batch).to_string() }
    };
    let whole = |ns: Nanos| us(ns.micros() * 1e3);
    let flags: Vec<&str> = sample.flags.iter().map(|flag| flag.name.as_str()).collect();
    vec![
        curve.label.clone(),
        curve.configuration.transport.clone(),
        curve.configuration.wait.to_string(),
        sample.size_bytes.count().to_string(),
        sample.round.to_string(),
        sample.position.to_string(),
        sample.attempt.to_string(),
        sample.connection.to_string(),
        times.exchanges().to_string(),
        times.n.to_string(),
        us(times.p50_ns),
        times.mean_ns().map_or_else(String::new, us),
        whole(times.min_ns),
        whole(times.max_ns),
        us(times.p99_ns),
        sample.verified.to_string(),
        sample.host.run_delay_ns.map_or_else(String::new, |delay| delay.count().to_string()),
        ended(&sample.ended),
        flags.join(" "),
    ]
}

fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Complete => "complete".to_owned(),
        Ended::Early { cause } => format!("early: {cause:?}").to_lowercase(),
        Ended::Failed { detail, .. } => format!("failed: {detail}"),
    }
}
