//! Figures of a run that is still going on: the score so far, and whether more passes are needed.

use super::count;
use super::fold::complete_passes;
use super::fold::figures_of;
use crate::journal::Record;
use crate::run::cell::Cell;
use crate::run::plan::Plan;
use crate::run::score::Figure;
use crate::run::score::score;
use crate::stats::student_on_logs;
use crate::units::Ratio;

/// The score of each complete pass, Mb/s, in order.
pub fn pass_composites(plan: &Plan, records: &[Record]) -> Vec<f64> {
    let runs = count::counted_runs(plan, records, &[]);
    let passes = complete_passes(plan, &runs);
    passes.iter().filter_map(|pass| score(&figures_of(&runs, *pass)).btu_mbps).collect()
}

/// The relative half width of the 95 % interval over these composites; `None` under 3 passes.
pub fn composite_half_width(composites: &[f64]) -> Option<Ratio> {
    let interval = student_on_logs(composites).filter(|_| composites.len() >= 3)?;
    Some(Ratio::new(interval.half_width()))
}

/// The share of cells whose own interval is within `half_width`; `None` before every cell has 3 runs.
pub fn settled_cells(plan: &Plan, records: &[Record], half_width: Ratio) -> Option<Ratio> {
    let runs = count::counted_runs(plan, records, &[]);
    let cells = plan.cells();
    let width = |cell: &Cell| {
        let of_cell = runs.iter().filter(|run| run.scored.cell == *cell);
        composite_half_width(&of_cell.map(|run| run.scored.goodput_mbps).collect::<Vec<f64>>())
    };
    let widths: Vec<Ratio> = cells.iter().map(width).collect::<Option<_>>()?;
    let settled = widths.iter().filter(|width| width.share() <= half_width.share()).count();
    Some(Ratio::new(crate::stats::count(settled) / crate::stats::count(widths.len().max(1))))
}

/// True where more passes would tell little: the score's half width is within the plan's, and so are
/// those of 90 % of the cells.
pub fn is_settled(plan: &Plan, records: &[Record]) -> bool {
    let goal = plan.passes.half_width;
    let within = |found: Option<Ratio>| found.is_some_and(|found| found.share() <= goal.share());
    within(composite_half_width(&pass_composites(plan, records)))
        && settled_cells(plan, records, goal).is_some_and(|share| share.share() >= 0.9)
}

/// The score over all runs so far, Mb/s; `None` before the first loaded cell.
pub fn running_score(plan: &Plan, records: &[Record]) -> Option<f64> {
    let runs = count::counted_runs(plan, records, &[]);
    let figures: Vec<Figure> = runs.iter().map(count::CountedRun::figure).collect();
    score(&figures).btu_mbps
}
