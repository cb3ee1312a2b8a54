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
    let probe = Nanos::new((target.count() / 4).clamp(50_000_000, 2_000_000_000));
    let mut sample = alone(activity, place, LEAD_IN, probe, cancel)?;
    let mut failures = std::mem::take(&mut sample.failures);
    let mut tries = 0..TRIES;
    let units = loop {
        let Some(units) = amount(&sample, target) else {
            return Some(nothing_done(sample, failures));
        };
        if tries.next().is_none() {
            failures.push(not_found(&sample, target));
            break units;
        }
        sample = fixed(activity, place, units, target * 4, cancel)?.0;
        failures.append(&mut sample.failures);
        if (0.8..=1.25).contains(&share(&sample, target)) {
            break units;
        }
    };
    let mut sample = alone_fixed(activity, place, units, target * 20, cancel)?;
    failures.append(&mut sample.failures);
    Some(with(sample, failures))
}

/// What would take so long at the rate of this sample; `None` where it did nothing.
fn amount(sample: &ActivitySample, target: Nanos) -> Option<f64> {
    let units = sample.rate_per_s()? * target.seconds();
    (units > 0.0).then_some(units)
}

fn share(sample: &ActivitySample, target: Nanos) -> f64 {
    sample.elapsed_ns.seconds() / target.seconds()
}

fn nothing_done(sample: ActivitySample, mut failures: Vec<String>) -> ActivitySample {
    if failures.is_empty() {
        failures.push("not calibrated: it finished no work".to_owned());
    }
    with(sample, failures)
}

fn not_found(sample: &ActivitySample, target: Nanos) -> String {
    let (took, wanted) = (sample.elapsed_ns.millis(), target.millis());
    format!(
        "not calibrated: no amount of work took 0.8 to 1.25 times {wanted:.1} ms in {TRIES} tries, the \
         last took {took:.1} ms"
    )
}

/// The sample with what went wrong until its end. The same is said once.
fn with(sample: ActivitySample, mut failures: Vec<String>) -> ActivitySample {
    failures.dedup();
    ActivitySample { failures, ..sample }
}

/// How long the activity works before its rate is first read.
const LEAD_IN: Nanos = Nanos::from_millis(30);

const TRIES: u32 = 5;
