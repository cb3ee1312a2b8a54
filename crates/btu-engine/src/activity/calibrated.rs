//! Work of an activity that alone takes a given time (maly1996, 4.3: times that are comparable).

use std::sync::atomic::AtomicBool;

use btu_core::sample::ActivitySample;
use btu_core::units::Nanos;

use super::Prepared;
use super::running::alone;
use super::running::alone_fixed;
use super::running::fixed;
use crate::place::Place;

/// The amount of work whose time alone is 0.8 to 1.25 times `target`, done alone and timed to its end;
/// `None` where it was cancelled.
///
/// Where no such amount is found, or the activity fails meanwhile, the sample says so among its
/// failures: it is that of the last estimate, or of an activity that did nothing.
pub fn alone_calibrated(
    activity: &dyn Prepared,
    place: &Place,
    target: Nanos,
    cancel: &AtomicBool,
) -> Option<ActivitySample> {
    let mut sample = probe(activity, place, target, cancel)?;
    let Some(mut units) = amount(&sample, target) else { return Some(nothing_done(sample)) };
    let mut failures = std::mem::take(&mut sample.failures);
    let mut is_found = false;
    for _ in 0..TRIES {
        let (mut sample, _) = fixed(activity, place, units, target * 4, cancel)?;
        failures.append(&mut sample.failures);
        is_found = (0.8..=1.25).contains(&share(&sample, target));
        let Some(next) = amount(&sample, target).filter(|_| !is_found) else { break };
        units = next;
    }
    if !is_found && failures.is_empty() {
        failures.push(not_found(target));
    }
    let mut sample = alone_fixed(activity, place, units, target * 20, cancel)?;
    failures.append(&mut sample.failures);
    // The same is said once.
    failures.dedup();
    Some(ActivitySample { failures, ..sample })
}

/// The activity at full rate for a quarter of the time, and for longer where that is less than a unit
/// takes: one file of `ftp` on a slow path counts when it has arrived.
fn probe(
    activity: &dyn Prepared,
    place: &Place,
    target: Nanos,
    cancel: &AtomicBool,
) -> Option<ActivitySample> {
    let mut window = Nanos::new((target.count() / 4).clamp(50_000_000, 2_000_000_000));
    let longest = (target * 4).max(Nanos::from_secs(2));
    loop {
        let sample = alone(activity, place, LEAD_IN, window, cancel)?;
        let is_early = sample.units <= 0.0 && sample.failures.is_empty() && window < longest;
        if !is_early {
            return Some(sample);
        }
        window = window * 4;
    }
}

/// What would take so long at the rate of this sample; `None` where it did nothing.
fn amount(sample: &ActivitySample, target: Nanos) -> Option<f64> {
    let units = sample.rate_per_s()? * target.seconds();
    (units > 0.0).then_some(units)
}

fn share(sample: &ActivitySample, target: Nanos) -> f64 {
    sample.elapsed_ns.seconds() / target.seconds()
}

fn nothing_done(mut sample: ActivitySample) -> ActivitySample {
    if sample.failures.is_empty() {
        sample.failures.push("not calibrated: it finished no work".to_owned());
    }
    sample
}

fn not_found(target: Nanos) -> String {
    let wanted = target.millis();
    format!(
        "not calibrated: no amount of work was found that takes 0.8 to 1.25 times {wanted:.1} ms alone"
    )
}

/// How long the activity works before its rate is first read.
const LEAD_IN: Nanos = Nanos::from_millis(30);

const TRIES: u32 = 5;
