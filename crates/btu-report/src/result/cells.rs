//! The lists of `result.json`: runs, cells, activities, remarks.

use std::collections::BTreeMap;

use btu_core::analysis::AloneRun;
use btu_core::analysis::Analysis;
use btu_core::analysis::CellSummary;
use btu_core::analysis::ScoredRun;
use btu_core::sample::Flag;
use btu_core::stats::geometric_mean;

use super::ActivityResult;
use super::CellResult;
use super::CellSummaryResult;
use super::Remark;

pub(super) fn cell(run: &ScoredRun) -> CellResult {
    CellResult {
        case: run.cell.case.name().to_owned(),
        application: run.cell.application.name.clone(),
        activity: run.cell.activity.as_str().to_owned(),
        repeat: run.pass,
        bits: run.bits,
        seconds: run.elapsed.seconds(),
        goodput_mbps: run.goodput_mbps,
        slowdown: run.slowdown,
        activity_rate_per_s: run.activity_rate_per_s,
        attempts: run.attempts,
        flags: names(&run.flags),
    }
}

pub(super) fn summary(cell: &CellSummary) -> CellSummaryResult {
    let [min, median, max] = cell.goodput_range;
    CellSummaryResult {
        case: cell.cell.case.name().to_owned(),
        application: cell.cell.application.name.clone(),
        activity: cell.cell.activity.as_str().to_owned(),
        n: cell.n,
        seconds: cell.seconds,
        goodput_mbps: cell.goodput_mbps,
        goodput_ci95_mbps: cell.goodput_ci95,
        goodput_min_mbps: min,
        goodput_median_mbps: median,
        goodput_max_mbps: max,
        robust_cv: cell.robust_cv,
        slowdown: cell.slowdown,
        retransmissions: cell.retransmissions,
        writes_per_segment: cell.writes_per_segment,
        cpu_s_per_gb: cell.cpu_s_per_gb,
        flags: names(&cell.flags),
    }
}

pub(super) fn activity(run: &AloneRun) -> ActivityResult {
    ActivityResult {
        activity: run.activity.as_str().to_owned(),
        repeat: run.pass,
        units: run.units,
        seconds: run.elapsed.seconds(),
        rate_per_s: run.rate_per_s,
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
    Remark { cell, name: flag.name.clone(), detail: flag.detail.clone() }
}

/// The names, each once, in order.
fn names(flags: &[Flag]) -> Vec<String> {
    let mut names: Vec<String> = flags.iter().map(|flag| flag.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}
