//! Programs that are not ours took CPU time from the test host.

use super::Rule;
use super::Weight;
use super::evidence::percent;
use crate::sample::HostSample;

pub(super) const RULE: Rule = Rule {
    name: "foreign-cpu",
    about: "other programs used more than 2 % of a CPU during the run",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

pub(super) fn judge(host: &HostSample) -> Option<String> {
    let used = percent(host.foreign_cpu_ns?, host.elapsed_ns).filter(|used| *used > MOST)?;
    Some(format!("other programs used {used:.1} % > 2 % of a CPU"))
}

const MOST: f64 = 2.0;
