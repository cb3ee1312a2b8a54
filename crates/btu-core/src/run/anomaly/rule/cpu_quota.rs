//! A CPU quota stopped the programs of the test host.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::percent;
use crate::sample::HostSample;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "cpu-quota",
    about: "the CPU quota of a control group stopped the test host for more than 1 % of the window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

/// What the host gives under its quota is what its users get: it is told, and no run is repeated for it.
fn judge(host: &HostSample) -> Option<String> {
    let stopped = percent(host.throttled_ns?, host.elapsed_ns).filter(|stopped| *stopped > MOST)?;
    let stopped = beyond(stopped, '>', MOST, 1, " %");
    Some(format!(
        "a CPU quota stopped the host's programs for {stopped} of the window, all CPUs together"
    ))
}

pub(crate) const MOST: f64 = 1.0;
