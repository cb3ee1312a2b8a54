//! Whether the clock of the day was set meanwhile: by how much it moved against the clock that
//! goes on while the machine sleeps.

use btu_core::sample::HostSample;
use btu_sys::clock::boottime_ns;
use btu_sys::clock::realtime_ns;

use super::Figure;
use super::Probe;
use super::Reading;
use super::moved;
use crate::files::Files;

/// The probe `clock`.
#[derive(Debug)]
pub(super) struct DayClock;

impl Probe for DayClock {
    fn name(&self) -> &'static str {
        "clock"
    }

    fn summary(&self) -> &'static str {
        "by how much the clock of the day was set (CLOCK_REALTIME less CLOCK_BOOTTIME)"
    }

    fn read(&self, _files: &Files) -> Reading {
        let told = distance_ns(|| [boottime_ns(), realtime_ns(), boottime_ns()]);
        told.map(|distance| (DISTANCE.to_owned(), Figure::Count(distance))).into_iter().collect()
    }

    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        sample.clock_step_ns = moved(DISTANCE, before, after);
    }
}

/// How far the clock of the day is ahead: of some readings, each between two of the other clock, the one that they
/// enclose most closely. A thread that waits for a CPU between two clocks would look like a step.
fn distance_ns(read: impl Fn() -> [u64; 3]) -> Option<i64> {
    let readings = std::iter::repeat_with(read).take(READINGS);
    let [before, day, after] = readings.min_by_key(|[before, _, after]| after.abs_diff(*before))?;
    let middle = before + after.saturating_sub(before) / 2;
    i64::try_from(i128::from(day) - i128::from(middle)).ok()
}

const DISTANCE: &str = "ahead_ns";
const READINGS: usize = 3;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_clock_that_was_set_moved_by_as_much_and_one_that_was_not_did_not() {
        let reading = |ahead| Reading::from([(DISTANCE.to_owned(), Figure::Count(ahead))]);
        let folded = |before: &Reading, after: &Reading| {
            let mut sample = HostSample::default();
            DayClock.fold(before, after, &mut sample);
            sample.clock_step_ns
        };
        assert_eq!(folded(&reading(1_000), &reading(-60_000_000)), Some(-60_001_000));
        assert_eq!(folded(&reading(7), &reading(7)), Some(0));
        assert_eq!(folded(&Reading::new(), &reading(7)), None);
        let files = Files::host();
        let (before, after) = (DayClock.read(&files), DayClock.read(&files));
        assert!(folded(&before, &after).is_some_and(|step| step.abs() < 50_000_000));
    }

    #[test]
    fn a_thread_that_waits_between_two_clocks_sees_no_step() {
        let at = Cell::new(0);
        let interrupted = [[100, 90_001_000, 90_000_100], [200, 1_250, 300], [400, 50_000, 90_000]];
        let read = || {
            at.set(at.get() + 1);
            interrupted[at.get() - 1]
        };
        assert_eq!(distance_ns(read), Some(1_000));
    }
}
