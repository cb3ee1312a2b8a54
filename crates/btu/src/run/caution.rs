//! What a user should know before a long run, not after it.

use btu_core::plan::Plan;
use btu_core::words::several;

use crate::progress::span;

/// What a budget does that is over before the passes that are made in any case.
pub(super) fn short_budget(plan: &Plan) -> Option<String> {
    let (budget, min) = (plan.passes.budget, plan.passes.min);
    let sure = plan.pass_time().saturating_mul(u64::from(min));
    (budget < sure).then(|| {
        format!(
            "note: passes.budget = {budget} is over before the {} of passes.min, about {}: they are made \
             all the same, and none beyond them",
            several(min, "pass"),
            span(sure)
        )
    })
}

/// Why a result of this preset will hardly be rankable on a machine of so many CPUs.
pub(super) fn caution(preset: &str, cpus: usize) -> Option<String> {
    (preset == "official" && cpus < OWN_CPU_FROM).then(|| {
        format!(
            "note: on {cpus} CPUs the emulator shares one with the black boxes: long runs with \
             small messages over a delay will be late and invalid, and the result not rankable. \
             From {OWN_CPU_FROM} CPUs on the emulator has one for itself."
        )
    })
}

/// The CPUs from which the local testbed gives the emulator one of its own.
const OWN_CPU_FROM: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_official_run_on_few_cpus_is_cautioned() {
        assert!(caution("official", 2).unwrap().contains("on 2 CPUs"));
        assert_eq!(caution("official", 4), None);
        assert_eq!(caution("quick", 1), None);
    }
}
