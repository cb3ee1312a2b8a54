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
    let failures = each_once(failures);
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
    let mut last = None;
    for window in windows(target) {
        let sample = alone(activity, place, LEAD_IN, window, cancel)?;
        if sample.units > 0.0 || !sample.failures.is_empty() {
            return Some(sample);
        }
        last = Some(sample);
    }
    last
}

/// How long it works, try by try: four times the target at most, and two seconds of a short one.
fn windows(target: Nanos) -> impl Iterator<Item = Nanos> {
    let first = Nanos::new((target.count() / 4).clamp(50_000_000, 2_000_000_000));
    let longest = (target * 4).max(Nanos::from_secs(2));
    let next = move |window: &Nanos| (*window < longest).then(|| (*window * 4).min(longest));
    std::iter::successors(Some(first), next)
}

/// The same is said once, in the order of the first times.
fn each_once(failures: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for failure in failures {
        if !once.contains(&failure) {
            once.push(failure);
        }
    }
    once
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_lasts_four_times_the_target_at_most() {
        for (target_ms, tries_ms) in [
            (10, vec![50, 200, 800, 2000]),
            (900, vec![225, 900, 3600]),
            (100_000, vec![2000, 8000, 32_000, 128_000, 400_000]),
        ] {
            let found: Vec<Nanos> = windows(Nanos::from_millis(target_ms)).collect();
            let wanted: Vec<Nanos> = tries_ms.into_iter().map(Nanos::from_millis).collect();
            assert_eq!(found, wanted, "{target_ms} ms");
        }
    }

    #[test]
    fn a_failure_that_comes_back_after_another_is_said_once() {
        let said = ["a", "b", "a", "a", "c", "b"].map(str::to_owned);
        assert_eq!(each_once(said.into()), ["a", "b", "c"]);
    }
}
