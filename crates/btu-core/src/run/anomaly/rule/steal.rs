//! The hypervisor took CPU time from the test host.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::percent;
use crate::sample::HostSample;
use crate::words::beyond;

pub(in crate::run::anomaly) const RULE: Rule = Rule {
    name: "steal",
    about: "the hypervisor stole more than 1 % of the window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

pub(in crate::run::anomaly) fn judge(host: &HostSample) -> Option<String> {
    let stolen = percent(host.steal_ns?, host.elapsed_ns).filter(|stolen| *stolen > MOST)?;
    Some(format!("the hypervisor stole {} of the window", beyond(stolen, '>', MOST, 1, " %")))
}

pub(crate) const MOST: f64 = 1.0;
