//! What a user should know of a plan before a long run, not after it.

use btu_core::run::plan::Plan;
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

/// Why a result of this plan will hardly be rankable on a machine of so many CPUs. Between real hosts the
/// emulator has a machine of its own.
pub(super) fn caution(plan: &Plan, cpus: u32) -> Option<String> {
    let is_here = plan.testbed_class.is_local() && plan.preset == "official";
    let [cause, remedy] = shared_emulator(cpus).filter(|_| is_here)?;
    Some(format!("note: {cause}; {remedy}"))
}

/// Why an official result of a machine of so many CPUs will probably not be ranked, and what to do.
pub(crate) fn shared_emulator(cpus: u32) -> Option<[String; 2]> {
    (cpus < OWN_CPU_FROM).then(|| {
        let count = several(cpus, "CPU");
        [
            format!(
                "on {count} the emulator shares one with the black boxes: long runs with small messages \
                 over a delay will be late and invalid, and an official result will probably not be ranked"
            ),
            format!("use a machine with {OWN_CPU_FROM} CPUs or more: there the emulator has one for itself"),
        ]
    })
}

/// The CPUs from which the local testbed gives the emulator one of its own.
const OWN_CPU_FROM: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use btu_core::run::plan::Choices;
    use btu_core::run::plan::TestbedClass;
    use btu_core::run::plan::Vocabulary;

    #[test]
    fn only_an_official_run_of_one_machine_with_few_cpus_is_cautioned() {
        let plan = |official, class| {
            let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
            let choices = Choices { official, testbed_class: Some(class), ..Choices::default() };
            Plan::resolve(&choices, &words, 1).unwrap()
        };
        let told = caution(&plan(true, TestbedClass::Local), 2).unwrap();
        assert!(told.starts_with("note: on 2 CPUs the emulator shares one"), "{told}");
        assert!(told.contains("probably not be ranked; use a machine with 4 CPUs"), "{told}");
        assert!(caution(&plan(true, TestbedClass::Local), 1).unwrap().contains("on 1 CPU the"));
        assert_eq!(caution(&plan(true, TestbedClass::Local), 4), None);
        assert_eq!(caution(&plan(true, TestbedClass::Lab), 2), None);
        assert_eq!(caution(&plan(false, TestbedClass::Local), 1), None);
    }
}
