//! Programs that are not ours took CPU time from the test host.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::percent;
use crate::sample::HostSample;
use crate::units::Nanos;
use crate::words::beyond;

pub(in crate::run::anomaly) const RULE: Rule = Rule {
    name: "foreign-cpu",
    about: "other programs used 5 ms and more than 2 % of a CPU during the run",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

pub(in crate::run::anomaly) fn judge(host: &HostSample) -> Option<String> {
    let foreign = host.foreign_cpu_ns.filter(|foreign| *foreign >= A_FEW_TURNS)?;
    let used = percent(foreign, host.elapsed_ns).filter(|used| *used > MOST)?;
    Some(format!("other programs used {} of a CPU", beyond(used, '>', MOST, 1, " %")))
}

pub(crate) const MOST: f64 = 2.0;
/// Less is what wakes up on every host, however short the run.
const A_FEW_TURNS: Nanos = Nanos::from_millis(5);
