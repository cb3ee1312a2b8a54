//! The hypervisor took CPU time from the test host.

use super::Rule;
use super::Weight;
use super::evidence::percent;
use crate::sample::HostSample;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "steal",
    about: "the hypervisor stole more than 1 % of the window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

pub(super) fn judge(host: &HostSample) -> Option<String> {
    let stolen = percent(host.steal_ns?, host.elapsed_ns).filter(|stolen| *stolen > MOST)?;
    Some(format!("the hypervisor stole {} of the window", beyond(stolen, '>', MOST, 1, " %")))
}

pub(crate) const MOST: f64 = 1.0;
