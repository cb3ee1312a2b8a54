//! How far apart two CPUs of the host are: what a cache line takes from one to the other and back. A hypervisor moves virtual
//! CPUs between cores without a word; what COMM carries follows.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;
use std::thread;

use btu_core::sample::HostSample;
use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;

use super::Figure;
use super::Probe;
use super::Reading;
use crate::files::Files;
use crate::threads;
use crate::time::now;

/// The probe `cpu-distance`.
#[derive(Debug)]
pub(super) struct CpuDistance;

impl Probe for CpuDistance {
    fn name(&self) -> &'static str {
        "cpu-distance"
    }

    fn summary(&self) -> &'static str {
        "what a cache line takes from one CPU to another and back"
    }

    fn read(&self, files: &Files) -> Reading {
        let distance = if files.is_host() { distance_ns() } else { None };
        distance.map(|ns| (DISTANCE.to_owned(), Figure::Count(ns))).into_iter().collect()
    }

    /// The mean of both: whoever moved in between was here and there.
    fn fold(&self, before: &Reading, after: &Reading, sample: &mut HostSample) {
        let of = |reading: &Reading| match reading.get(DISTANCE) {
            Some(Figure::Count(ns)) => u64::try_from(*ns).ok(),
            _ => None,
        };
        let both = of(before).zip(of(after));
        sample.cpu_distance_ns = both.map(|(before, after)| Nanos::new(before.midpoint(after)));
    }
}

/// Between the first two CPUs that this thread may use; nothing where there is one alone, or one that others do not leave.
fn distance_ns() -> Option<i64> {
    let cpus = cpu::allowed().ok()?;
    let mut cpus = cpus.iter();
    let [near, far] = [cpus.next()?, cpus.next()?].map(|cpu| CpuSet::of([cpu]));
    let ball = Ball::default();
    thread::scope(|scope| {
        let partner = threads::start_in(scope, "distance-far", || ball.give_back(&far)).ok()?;
        let timed = threads::start_in(scope, "distance-near", || ball.time(&near));
        let time = timed.ok().and_then(|timed| timed.join().ok().flatten());
        // Where nobody began, too: its partner waits for the end.
        ball.state.store(OVER, Release);
        partner.join().ok()?.then_some(time).flatten()
    })
}

/// A cache line that one thread gives to another, which gives it back.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Ball {
    state: AtomicU32,
}

impl Ball {
    /// True where it was on its CPU.
    fn give_back(&self, cpu: &CpuSet) -> bool {
        let is_there = cpu::pin(cpu).is_ok();
        loop {
            // No pause between two looks: hypervisors take a CPU that pauses often away.
            match self.state.load(Acquire) {
                // Only what was given is given back: the end may come in between, and stays.
                GIVEN => drop(self.state.compare_exchange(GIVEN, BACK, Release, Relaxed)),
                OVER => return is_there,
                _ => {}
            }
        }
    }

    /// The time of a throw and its return, in the batch in the middle.
    fn time(&self, cpu: &CpuSet) -> Option<i64> {
        cpu::pin(cpu).ok()?;
        let deadline = now().saturating_add(PATIENCE);
        let mut times = Vec::with_capacity(BATCHES);
        while times.len() < BATCHES {
            let start = now();
            (0..THROWS).all(|_| self.throw(deadline)).then_some(())?;
            times.push(now().since(start).count() / THROWS);
        }
        times.sort_unstable();
        i64::try_from(times[BATCHES / 2]).ok()
    }

    /// True where it came back in time.
    fn throw(&self, deadline: Nanos) -> bool {
        self.state.store(GIVEN, Release);
        loop {
            for _ in 0..LOOKS {
                if self.state.load(Acquire) == BACK {
                    return true;
                }
            }
            if now() > deadline {
                return false;
            }
        }
    }
}

const BACK: u32 = 0;
const GIVEN: u32 = 1;
const OVER: u32 = 2;
const DISTANCE: &str = "distance";
/// Some microseconds each: most of them are not interrupted.
const THROWS: u64 = 64;
const BATCHES: usize = 31;
/// A hundred times what it takes; another program of a higher priority may be on one of the CPUs.
const PATIENCE: Nanos = Nanos::from_millis(20);
/// Between two looks at the clock.
const LOOKS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_line_takes_some_time_between_two_cpus_or_nobody_says_so() {
        let cpus = cpu::allowed().unwrap();
        let found = distance_ns();
        assert!(cpus.len() > 1 || found.is_none(), "{found:?}");
        assert!(found.is_none_or(|ns| ns > 0), "{found:?}");
        assert_eq!(cpu::allowed().unwrap(), cpus, "this thread stays where it was");
    }

    #[test]
    fn a_run_has_the_mean_of_before_and_after_and_none_without_both() {
        let reading = |ns| Reading::from([(DISTANCE.to_owned(), Figure::Count(ns))]);
        let folded = |before: &Reading, after: &Reading| {
            let mut sample = HostSample::default();
            CpuDistance.fold(before, after, &mut sample);
            sample.cpu_distance_ns
        };
        assert_eq!(folded(&reading(80), &reading(560)), Some(Nanos::new(320)));
        assert_eq!(folded(&reading(80), &Reading::new()), None);
    }

    #[test]
    fn one_cpu_has_no_distance_and_a_partner_that_does_not_come_ends_it() {
        let alone = thread::spawn(|| {
            let first = cpu::allowed().unwrap().iter().next().unwrap();
            cpu::pin(&CpuSet::of([first])).unwrap();
            distance_ns()
        });
        assert_eq!(alone.join().unwrap(), None);
        assert!(!Ball::default().throw(now()));
    }

    /// The end may come just when the partner gives back, and is not lost: it would wait for ever.
    #[test]
    fn who_gives_up_in_the_middle_of_a_throw_ends_its_partner() {
        let cpus = cpu::allowed().unwrap();
        for _ in 0..2000 {
            let ball = Ball::default();
            thread::scope(|scope| {
                scope.spawn(|| ball.give_back(&cpus));
                ball.state.store(GIVEN, Release);
                ball.state.store(OVER, Release);
            });
        }
    }
}
