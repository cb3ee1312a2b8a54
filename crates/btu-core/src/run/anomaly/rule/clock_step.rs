//! The clock of the day was set while a run lasted.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::HostSample;

pub(super) const RULE: Rule = Rule {
    name: "clock-step",
    about: "the clock of the day on the test host was set by more than 50 ms within the window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

/// Every time of a run is a difference of the monotonic clock, which nobody sets: figures stand. What stamps its packets or
/// its log lines by the other clock does not fit the run, and whoever sets a clock by so much may set more.
fn judge(host: &HostSample) -> Option<String> {
    let step_ns = host.clock_step_ns.filter(|step| step.unsigned_abs() > MOST_NS)?;
    let (way, ms) =
        (if step_ns < 0 { "back" } else { "forward" }, step_ns.unsigned_abs() / 1_000_000);
    Some(format!(
        "the clock of the day was set {way} by {ms} ms: times of logs and of captures by others do not fit this run"
    ))
}

/// Who slews a clock moves the monotonic one as well (`adjtimex(2)`, `clock_gettime(2)`); less than this is no step that
/// anybody would look for.
const MOST_NS: u64 = 50_000_000;
