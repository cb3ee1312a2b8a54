//! Traffic for the checks of the emulation: the engine's, asked for by the testbed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_control::When;
use btu_core::role::Role;
use btu_core::run::cell::Impairment;
use btu_core::run::plan::Amount;
use btu_core::run::plan::Elements;
use btu_core::run::plan::Plan;
use btu_core::sample::VerificationSample;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_engine::prober::Path as Walk;
use btu_testbed::check::Check;
use btu_testbed::check::Effort;
use btu_testbed::check::Fault;
use btu_testbed::check::Prober;
use btu_testbed::check::Way;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

/// Checks every emulated link that the plan uses, unless somebody wants an early end.
pub(super) fn verify(
    plan: &Plan,
    testbed: &LocalTestbed,
    when: When,
    cancel: &Arc<AtomicBool>,
) -> Option<Vec<VerificationSample>> {
    let mut boxes: Vec<Role> = plan
        .cases
        .iter()
        .filter(|case| plan.is_emulated(**case))
        .flat_map(|c| c.flows())
        .map(|f| f.peer)
        .collect();
    boxes.sort();
    boxes.dedup();
    let checked = boxes.into_iter().map(|black_box| {
        let sample = check(plan, when, Traffic { testbed, black_box, cancel });
        // What was cut short says nothing about the link.
        (!cancel.load(Relaxed)).then_some(sample)
    });
    checked.collect()
}

fn check(plan: &Plan, when: When, mut traffic: Traffic<'_>) -> VerificationSample {
    let of = |wanted, elements: &Elements| {
        let used = plan.cases.iter().any(|case| case.impairment() == wanted);
        if used { elements.clone() } else { Elements::default() }
    };
    let link = LocalTestbed::link_name(traffic.black_box);
    let check = Check {
        when: when.name(),
        link: &link,
        delay: of(Impairment::Delay, &plan.link.delay),
        drop: of(Impairment::Drop, &plan.link.drop),
        always: plan.link.rate.clone(),
        seed: plan.seed,
        effort: effort(plan),
    };
    traffic.testbed.check_link(&mut traffic, &check)
}

/// A run of a minute cannot spend seconds on a check.
fn effort(plan: &Plan) -> Effort {
    match plan.amount {
        Amount::Window(window) if window < Nanos::from_secs(1) => Effort::QUICK,
        Amount::Fixed(_) | Amount::Window(_) => Effort::OFFICIAL,
    }
}

/// The engine's traffic between the test host and one black box.
struct Traffic<'a> {
    testbed: &'a LocalTestbed,
    black_box: Role,
    cancel: &'a Arc<AtomicBool>,
}

impl Traffic<'_> {
    /// The path from the end at which traffic of this way starts.
    fn walk(&self, way: Way) -> Result<Walk, Fault> {
        if self.cancel.load(Relaxed) {
            return Err("an early end was asked for".into());
        }
        let path = if way == Way::Direct { Path::Direct } else { Path::Emulated };
        let walk = Walk {
            near: super::place(self.testbed, Role::Test),
            near_address: self.testbed.test_address(self.black_box, path),
            far: super::place(self.testbed, self.black_box),
            far_address: self.testbed.address(self.black_box, path),
            cancel: Arc::clone(self.cancel),
        };
        Ok(if way == Way::Down { walk.reversed() } else { walk })
    }
}

impl Prober for Traffic<'_> {
    fn round_trips(
        &mut self,
        way: Way,
        count: u32,
        patience: Nanos,
    ) -> Result<Vec<Option<Nanos>>, Fault> {
        Ok(self.walk(way)?.round_trips(count, patience)?)
    }

    fn missing_packets(&mut self, way: Way, count: u64) -> Result<Vec<u64>, Fault> {
        Ok(self.walk(way)?.counted_packets(count, SPACING, PATIENCE)?.missing)
    }

    fn bulk_rate(&mut self, way: Way, time: Nanos) -> Result<BitRate, Fault> {
        Ok(self.walk(way)?.bulk_rate(time)?)
    }
}

/// Between counted packets: short, but no burst that fills a socket buffer.
const SPACING: Nanos = Nanos::from_micros(20);

/// How long a late packet is waited for.
const PATIENCE: Nanos = Nanos::from_millis(100);
