//! What the rules look at: the runs that count, and the same runs by cell.

use std::collections::BTreeMap;

use super::Finding;
use super::Subject;
use crate::run::analysis::CountedRun;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::stats::Comparison;
use crate::stats::Dispersion;
use crate::stats::geometric_mean;
use crate::stats::logs;
use crate::stats::mean_and_sd;
use crate::stats::robust_cv;
use crate::stats::welch_on_logs;
use crate::units::Nanos;

/// The runs of a journal that count.
#[derive(Debug)]
pub struct Evidence<'e> {
    /// The plan.
    pub plan: &'e Plan,
    /// Every run, in order of pass and position.
    pub runs: &'e [CountedRun<'e>],
    /// The cells that have runs, in the order of the plan.
    pub cells: Vec<CellRuns<'e>>,
}

/// One cell with its runs.
#[derive(Clone, Debug)]
pub struct CellRuns<'e> {
    /// The cell.
    pub cell: &'e Cell,
    /// Places of its runs in [`Evidence::runs`].
    pub runs: Vec<usize>,
    /// Their goodputs, Mb/s, in the same order.
    pub goodputs: Vec<f64>,
    /// Geometric mean of the goodputs.
    pub goodput_mbps: f64,
    /// The slowdowns of its passes.
    pub slowdowns: Vec<f64>,
    /// Their geometric mean.
    pub slowdown: Option<f64>,
    /// Robust coefficient of variation of the goodputs; `None` of a single run.
    spread: Option<f64>,
    /// Standard deviation of their logarithms.
    deviation: Option<f64>,
}

impl<'e> Evidence<'e> {
    /// Sorts the runs by cell.
    pub fn new(plan: &'e Plan, runs: &'e [CountedRun<'e>]) -> Self {
        let mut places: BTreeMap<&Cell, Vec<usize>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            places.entry(&run.scored.cell).or_default().push(at);
        }
        let in_plan = plan.cells();
        let found = in_plan.iter().filter_map(|cell| places.remove_entry(cell));
        let cells = found.filter_map(|(cell, places)| CellRuns::of(cell, places, runs)).collect();
        Self { plan, runs, cells }
    }

    /// A finding for each run of which `judge` has something to say.
    pub(super) fn each_run(
        &self,
        judge: impl Fn(&CountedRun<'_>) -> Option<String>,
    ) -> Vec<Finding> {
        let of = |(at, run)| Some(Finding { subject: Subject::Run(at), detail: judge(run)? });
        self.runs.iter().enumerate().filter_map(of).collect()
    }

    /// A finding for each cell of which `judge` has something to say.
    pub(super) fn each_cell(
        &self,
        judge: impl Fn(&CellRuns<'_>) -> Option<String>,
    ) -> Vec<Finding> {
        let of = |(at, cell)| Some(Finding { subject: Subject::Cell(at), detail: judge(cell)? });
        self.cells.iter().enumerate().filter_map(of).collect()
    }

    /// True where repeats are many and long enough to judge their spread: under 5 runs, or in windows
    /// under a second, every tool spreads 15 to 30 %.
    pub(super) fn is_well_measured(&self, cell: &CellRuns<'_>) -> bool {
        let long = |at: &usize| self.runs[*at].scored.elapsed >= Nanos::from_secs(1);
        cell.runs.len() >= 5 && cell.runs.iter().all(long)
    }

    /// What chance may do to the repeats of a cell: three times what those of the other cells of this
    /// machine vary by, and more where cells differ in that. A cell that varies as some do is not abnormal
    /// for varying more than most.
    pub(super) fn chance_of_others(&self, cell: &CellRuns<'_>) -> f64 {
        let others = self.cells.iter().filter(|other| other.cell != cell.cell);
        let others: Vec<f64> = others.filter_map(|other| other.deviation).collect();
        Dispersion::of(&others, cell.runs.len()).map_or(0.0, |others| others.bound(3.0))
    }
}

impl<'e> CellRuns<'e> {
    fn of(cell: &'e Cell, places: Vec<usize>, runs: &[CountedRun<'_>]) -> Option<Self> {
        let scored = || places.iter().map(|at| &runs[*at].scored);
        let goodputs: Vec<f64> = scored().map(|run| run.goodput_mbps).collect();
        let slowdowns: Vec<f64> = scored().filter_map(|run| run.slowdown).collect();
        let (goodput_mbps, slowdown) = (geometric_mean(&goodputs)?, geometric_mean(&slowdowns));
        let spread = robust_cv(&goodputs);
        let deviation = logs(&goodputs).and_then(|logs| mean_and_sd(&logs)).map(|(_, sd)| sd);
        Some(Self {
            cell,
            runs: places,
            goodputs,
            goodput_mbps,
            slowdowns,
            slowdown,
            spread,
            deviation,
        })
    }

    /// Robust coefficient of variation of the goodputs.
    pub(super) const fn spread(&self) -> Option<f64> {
        self.spread
    }

    /// True for a cell of the same case and activity: it differs by its application alone.
    pub(super) fn is_sibling_of(&self, other: &CellRuns<'_>) -> bool {
        let same = self.cell.case == other.cell.case && self.cell.activity == other.cell.activity;
        same && self.cell.application != other.cell.application
    }
}

/// How the second repeats compare with the first (Welch's test on logs): `None` under 3 of each, which say
/// little of what chance does.
pub(super) fn compared(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let many = first.len().min(second.len()) >= LEAST_REPEATS;
    many.then(|| welch_on_logs(first, second)).flatten()
}

const LEAST_REPEATS: usize = 3;

/// `part` of `whole` in percent; `None` for no time.
pub(super) fn percent(part: Nanos, whole: Nanos) -> Option<f64> {
    (whole > Nanos::ZERO).then(|| 100.0 * part.seconds() / whole.seconds())
}
