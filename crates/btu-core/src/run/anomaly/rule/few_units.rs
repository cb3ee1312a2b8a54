//! A window with so few work units that its rate is coarse.

use crate::run::analysis::CountedRun;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;

pub(super) const RULE: Rule = Rule {
    name: "few-units",
    about: "fewer than 5 work units of the activity in COMM's window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(judge),
};

fn judge(run: &CountedRun<'_>) -> Option<String> {
    let work = run.sample.activity_sample.as_ref().filter(|work| work.units < FEWEST)?;
    let (units, window) = (work.units, work.elapsed_ns.millis());
    Some(format!("{} did {units:.1} < 5 units in {window:.0} ms", run.scored.cell.activity))
}

const FEWEST: f64 = 5.0;
