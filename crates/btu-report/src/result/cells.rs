//! The lists of `result.json`: runs, cells, activities, remarks.

use std::collections::BTreeMap;

use btu_core::run::analysis::AloneRun;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::CellSummary;
use btu_core::run::analysis::ScoredRun;
use btu_core::run::cell::Cell;
use btu_core::sample::Flag;
use btu_core::stats::geometric_mean;
use btu_core::words::several;

use super::ActivityResult;
use super::CellResult;
use super::CellSummaryResult;
use super::Remark;
use super::build::finite_pair;
use super::build::why_no;

pub(super) fn cells(analysis: &Analysis) -> Vec<CellResult> {
    analysis.runs.iter().map(|run| cell(run, &analysis.activity_runs)).collect()
}

fn cell(run: &ScoredRun, bases: &[AloneRun]) -> CellResult {
    CellResult {
        case: run.cell.case.name().to_owned(),
        application: run.cell.application.name.clone(),
        activity: run.cell.activity.as_str().to_owned(),
        repeat: run.pass,
        bits: run.bits,
        seconds: run.elapsed.seconds(),
        goodput_mbps: run.goodput_mbps,
        slowdown: run.slowdown,
        slowdown_reason: why_no(run.slowdown, no_slowdown(run, bases)),
        activity_rate_per_s: run.activity_rate_per_s,
        activity_rate_per_s_reason: why_no(run.activity_rate_per_s, no_rate(&run.cell)),
        attempts: run.attempts,
        flags: names(&run.flags),
    }
}

pub(super) fn summary(cell: &CellSummary) -> CellSummaryResult {
    let [min, median, max] = cell.goodput_range;
    let goodput_ci95_mbps = finite_pair(cell.goodput_ci95);
    let few = several(cell.n, "pass");
    CellSummaryResult {
        case: cell.cell.case.name().to_owned(),
        application: cell.cell.application.name.clone(),
        activity: cell.cell.activity.as_str().to_owned(),
        n: cell.n,
        seconds: cell.seconds,
        goodput_mbps: cell.goodput_mbps,
        goodput_ci95_mbps,
        goodput_ci95_mbps_reason: why_no(goodput_ci95_mbps, &format!("{few}, no interval")),
        goodput_min_mbps: min,
        goodput_median_mbps: median,
        goodput_p95_mbps: cell.goodput_p95_mbps,
        goodput_max_mbps: max,
        cv: cell.cv,
        cv_reason: why_no(cell.cv, &format!("{few}, no spread")),
        robust_cv: cell.robust_cv,
        slowdown: cell.slowdown,
        slowdown_reason: why_no(cell.slowdown, no_slowdown_of_cell(&cell.cell)),
        retransmissions: cell.retransmissions,
        retransmissions_reason: why_no(cell.retransmissions, NO_TCP_INFO),
        writes_per_segment: cell.writes_per_segment,
        writes_per_segment_reason: why_no(cell.writes_per_segment, NO_TCP_INFO),
        cpu_s_per_gb: cell.cpu_s_per_gb,
        cpu_s_per_gb_reason: why_no(cell.cpu_s_per_gb, NO_CPU_TIME),
        black_boxes_cpu_s_per_gb: cell.black_boxes_cpu_s_per_gb,
        black_boxes_cpu_s_per_gb_reason: why_no(cell.black_boxes_cpu_s_per_gb, NO_CPU_TIME),
        flags: names(&cell.flags),
    }
}

fn no_slowdown(run: &ScoredRun, bases: &[AloneRun]) -> &'static str {
    if run.activity_rate_per_s.is_none() {
        return no_rate(&run.cell);
    }
    let base = AloneRun::of(bases, run.pass, &run.cell.activity);
    if base.is_some_and(AloneRun::has_failed) { FAILED_BASE } else { NO_BASE }
}

fn no_slowdown_of_cell(cell: &Cell) -> &'static str {
    if cell.activity.is_none() {
        BASELINE
    } else {
        "no pass has a rate of the activity both alone and beside COMM"
    }
}

fn no_rate(cell: &Cell) -> &'static str {
    if cell.activity.is_none() { BASELINE } else { "the activity beside COMM was not measured" }
}

const BASELINE: &str = "a baseline has no activity";

const NO_BASE: &str = "the activity alone was not measured in this pass";

const FAILED_BASE: &str = "the activity alone failed in this pass";

const NO_TCP_INFO: &str = "no kernel told the segments of this cell";

const NO_CPU_TIME: &str = "no run told the CPU time of these threads and carried anything";

pub(super) fn activity(run: &AloneRun) -> ActivityResult {
    ActivityResult {
        activity: run.activity.as_str().to_owned(),
        repeat: run.pass,
        units: run.units,
        seconds: run.elapsed.seconds(),
        rate_per_s: run.rate_per_s,
        rate_per_s_reason: why_no(run.rate_per_s, &no_base_rate(run)),
    }
}

fn no_base_rate(run: &AloneRun) -> String {
    match run.failures.as_slice() {
        [] => "it did nothing in its window".to_owned(),
        failures => format!("it failed: {}", failures.join("; ")),
    }
}

/// The rate of each activity alone: geometric mean of its passes.
pub(super) fn bases(runs: &[AloneRun]) -> BTreeMap<String, f64> {
    let mut rates: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in runs {
        rates.entry(run.activity.as_str().to_owned()).or_default().extend(run.rate_per_s);
    }
    let mean = |(activity, rates): (String, Vec<f64>)| Some((activity, geometric_mean(&rates)?));
    rates.into_iter().filter_map(mean).collect()
}

pub(super) fn remarks(analysis: &Analysis) -> Vec<Remark> {
    let of_run = analysis.warnings.iter().map(|flag| remark(None, flag));
    let of_cells = analysis
        .cells
        .iter()
        .flat_map(|cell| cell.flags.iter().map(|flag| remark(Some(cell.cell.id()), flag)));
    of_run.chain(of_cells).collect()
}

fn remark(cell: Option<String>, flag: &Flag) -> Remark {
    let cell_reason = why_no(cell.as_ref(), "it is about the run as a whole");
    Remark { cell, cell_reason, name: flag.name.clone(), detail: flag.detail.clone() }
}

/// The names, each once, in order.
fn names(flags: &[Flag]) -> Vec<String> {
    let mut names: Vec<String> = flags.iter().map(|flag| flag.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}
