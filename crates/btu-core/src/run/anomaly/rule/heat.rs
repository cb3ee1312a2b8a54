//! The processor of the test host was too hot for its clock.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::HostSample;
use crate::units::Nanos;
use crate::words::several;

pub(super) const RULE: Rule = Rule {
    name: "heat",
    about: "a core or package of the test host was too hot for its clock",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

/// A host that grows hot under its own work gives its users no more than that, so no run is repeated for it. The
/// kernel counts a spell as it begins and its time as it ends, so one may have either alone.
pub(super) fn judge(host: &HostSample) -> Option<String> {
    let spells = host.hot_spells.filter(|spells| *spells > 0);
    let spells = spells.map(|spells| format!("{} began", several(spells, "spell")));
    let time = host.hot_ns.filter(|time| *time > Nanos::ZERO);
    let time = time.map(|time| format!("{} ms of such spells ended", time.count() / NANOS_PER_MS));
    let found: Vec<String> = [spells, time].into_iter().flatten().collect();
    let found = (!found.is_empty()).then(|| found.join(", "))?;
    Some(format!("the processor was too hot for its clock ({found} in the window)"))
}

const NANOS_PER_MS: u64 = 1_000_000;
