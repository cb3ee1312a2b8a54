//! What a plan asks of the engine in one run, wherever its black boxes are.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_control::AloneRun;
use btu_control::CellRun;
use btu_core::run::cell::Flow;
use btu_core::run::plan::Amount;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Work;
use btu_core::sample::ActivitySample;
use btu_engine::Place;
use btu_engine::activity;
use btu_engine::activity::Stint;
use btu_engine::cellrun::Load;
use btu_engine::comm;
use btu_engine::comm::Pinning;
use btu_engine::comm::Terms;
use btu_engine::transport::TRANSPORTS;

use super::local::activities::Activities;

/// What both sides of a cell agree on.
pub(super) fn terms(plan: &Plan, run: &CellRun, flows: &[Flow], cancel: &Arc<AtomicBool>) -> Terms {
    let message = run.cell.application.message_bytes;
    let connections = u64::try_from(flows.len()).unwrap_or(1);
    let amount = match plan.amount {
        Amount::Fixed(amount) => comm::Amount::of_bits(amount.bits(), connections, message),
        Amount::Window(window) => comm::Amount::Window(window),
    };
    let mut terms = Terms::new(TRANSPORTS[0], message, amount, plan.time_cap());
    terms.calls = plan.comm;
    terms.pinning = Pinning::of(plan.placement, first_cpu(plan));
    terms.cancel = Arc::clone(cancel);
    terms
}

/// Whose turn is first of the CPUs of each host. On real hosts the seed says so: the first CPU is the one of most
/// interrupts, and must not be every run's. On the local testbed the CPUs of the hosts are chosen already.
fn first_cpu(plan: &Plan) -> u16 {
    if plan.testbed_class.is_local() {
        return 0;
    }
    u16::try_from(plan.seed % (u64::from(u16::MAX) + 1)).unwrap_or(0)
}

/// What accompanies COMM in a cell; `None` for a baseline.
pub(super) fn load<'a>(plan: &Plan, run: &CellRun, activities: &'a Activities) -> Option<Load<'a>> {
    let activity = activities.named(&run.cell.activity)?;
    let stint = match (plan.work, run.fixed_units) {
        (Work::Calibrated, Some(units)) => Stint::Fixed { units },
        _ => Stint::Steady { lead_in: plan.lead_in },
    };
    Some(Load { activity, stint })
}

/// An activity without COMM; `None` where it was interrupted.
pub(super) fn alone(
    plan: &Plan,
    run: &AloneRun,
    activities: &Activities,
    place: &Place,
    cancel: &AtomicBool,
) -> Option<ActivitySample> {
    let activity = activities.named(&run.activity)?;
    match run.calibrate_to {
        None => activity::alone(activity, place, plan.lead_in, plan.alone_window, cancel),
        Some(target) => activity::alone_calibrated(activity, place, target, cancel),
    }
}

#[cfg(test)]
mod tests {
    use btu_core::run::plan::Choices;
    use btu_core::run::plan::TestbedClass;
    use btu_core::run::plan::Vocabulary;

    use super::*;

    #[test]
    fn the_seed_chooses_the_cpus_of_real_hosts_alone() {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let first = |testbed_class, seed| {
            let choices = Choices { testbed_class, seed: Some(seed), ..Choices::default() };
            first_cpu(&Plan::resolve(&choices, &words, 1).unwrap())
        };
        let lab = Some(TestbedClass::Lab);
        assert_eq!([first(None, 5), first(lab, 5), first(lab, (3 << 16) + 7)], [0, 5, 7]);
    }
}
