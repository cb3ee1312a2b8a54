//! A cell whose interval stayed wider than the stop rule wants.

use crate::run::anomaly::Evidence;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::CellRuns;
use crate::stats::student_on_logs;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "noisy",
    about: "the 95 % half width of a cell of at least 5 repeats of at least 1 s is above that of the \
            stop rule",
    weight: Weight::Remark,
    find: |evidence| evidence.each_cell(|cell| judge(evidence, cell)),
};

fn judge(evidence: &Evidence<'_>, cell: &CellRuns<'_>) -> Option<String> {
    let goal = evidence.plan.passes.half_width.percent();
    let interval = student_on_logs(&cell.goodputs).filter(|_| evidence.is_well_measured(cell))?;
    let half = interval.half_width() * 100.0;
    (half > goal).then(|| {
        let beyond = beyond(half, '>', goal, 1, " %");
        format!("known to {beyond} (95 % half width)")
    })
}
