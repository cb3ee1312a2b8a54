//! The threads of an activity: started together, stopped together, timed step by step.

use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::run::verdict::LONGEST_STANDSTILL;
use btu_core::sample::ActivitySample;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::cpu;

use super::Prepared;
use super::Worker;
use super::is_cancelled;
use super::trail::Point;
use super::trail::Trail;
use super::trail::Trails;
use crate::error::EngineError;
use crate::lineup::Lineup;
use crate::lineup::Start;
use crate::place::Place;
use crate::standstill::Standstill;
use crate::time::now;

/// An activity whose threads exist. Dropped, it stops.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Result<Way, EngineError>>>,
    unit: String,
}

/// What the threads of an activity and their owner share.
#[derive(Default)]
struct Shared {
    lineup: Lineup,
    stop: AtomicBool,
    breakers: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

/// What a thread leaves behind.
#[derive(Debug)]
struct Way {
    trail: Trail,
    failure: Option<String>,
}

impl Running {
    /// Makes the threads and waits until each is ready to work. They work once [`Running::release`]
    /// is called, until they are stopped or have done their share of `units`.
    ///
    /// # Errors
    /// A thread cannot be made, or is not ready in time: what is measured then is not beside the activity.
    pub fn start(
        activity: &dyn Prepared,
        place: &Place,
        units: Option<f64>,
    ) -> Result<Self, EngineError> {
        Self::ready_within(BEGIN_LIMIT, activity, place, units)
    }

    fn ready_within(
        limit: Nanos,
        activity: &dyn Prepared,
        place: &Place,
        units: Option<f64>,
    ) -> Result<Self, EngineError> {
        let workers = activity.workers()?;
        let count = workers.len();
        let mut running =
            Self { shared: Arc::default(), threads: Vec::new(), unit: activity.unit() };
        let share = units.map(|units| units / count_as_float(count));
        for worker in workers {
            let shared = Arc::clone(&running.shared);
            let work = move || Ok(live(worker, &shared, share));
            running.threads.push(place.spawn("activity", work)?);
        }
        let is_ready = running.shared.lineup.wait_ready(count, within(limit));
        if is_ready { Ok(running) } else { Err(not_ready(limit)) }
    }

    /// Off.
    pub fn release(&self) {
        self.shared.lineup.decide(Start::Given);
    }

    /// Waits until every thread has done its share; false where the deadline came first.
    pub fn wait_done(&self, deadline: Nanos) -> bool {
        self.shared.lineup.wait_done(self.threads.len(), deadline)
    }

    /// Lets every thread end its step, and tells what they did.
    pub fn stop(mut self) -> Trails {
        self.tell_to_stop();
        let ways = self.threads.drain(..).map(|thread| {
            let ended = thread.join().unwrap_or_else(|_| Err(panicked()));
            ended.unwrap_or_else(|cause| Way::failed(&cause))
        });
        let mut trails = Trails { unit: self.unit.clone(), ..Trails::default() };
        for way in ways {
            trails.failures.extend(way.failure);
            trails.workers.push(way.trail);
        }
        trails
    }

    fn tell_to_stop(&self) {
        self.shared.stop.store(true, Relaxed);
        self.shared.lineup.decide(Start::Cancelled);
        for end_waiting in &*self.shared.breakers() {
            end_waiting();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tell_to_stop();
        for thread in self.threads.drain(..) {
            // Its work is of no use to anybody any more.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn breakers(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn Fn() + Send>>> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

impl Way {
    fn failed(cause: &EngineError) -> Self {
        Self { trail: Trail::default(), failure: Some(cause.sentence()) }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Shared").field("stop", &self.stop).finish_non_exhaustive()
    }
}

/// An activity alone, at full rate for `window` after `lead_in`; `None` where it was cancelled. A window in which
/// the program stood still is followed by another, once.
pub fn alone(
    activity: &dyn Prepared,
    place: &Place,
    lead_in: Nanos,
    window: Nanos,
    cancel: &AtomicBool,
) -> Option<ActivitySample> {
    let running = match Running::start(activity, place, None) {
        Ok(running) => running,
        Err(cause) => return Some(super::not_started(&cause)),
    };
    running.release();
    let _ = sleep(lead_in, cancel);
    let pass = || (now(), sleep(window, cancel), now());
    let (mut from, mut stood_still, mut to) = pass();
    if stood_still > LONGEST_STANDSTILL {
        (from, stood_still, to) = pass();
    }
    let mut sample = running.stop().over(from, to);
    if stood_still > LONGEST_STANDSTILL {
        sample.failures.push(format!("the program stood still for {:.0} ms", stood_still.millis()));
    }
    (!is_cancelled(cancel)).then_some(sample)
}

/// A fixed amount of work alone, timed to its end; `None` where it was cancelled. Work that is not
/// done after `cap` is cut there, and says so.
pub fn alone_fixed(
    activity: &dyn Prepared,
    place: &Place,
    units: f64,
    cap: Nanos,
    cancel: &AtomicBool,
) -> Option<ActivitySample> {
    let (sample, end) = fixed(activity, place, units, cap, cancel)?;
    Some(end.told(sample, units))
}

/// How a fixed amount of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was cut at its cap.
    Cut,
    /// Each thread came to its own.
    Done,
}

/// The same, with its end told apart from the failures.
pub(super) fn fixed(
    activity: &dyn Prepared,
    place: &Place,
    units: f64,
    cap: Nanos,
    cancel: &AtomicBool,
) -> Option<(ActivitySample, End)> {
    let running = match Running::start(activity, place, Some(units)) {
        Ok(running) => running,
        Err(cause) => return Some((super::not_started(&cause), End::Done)),
    };
    running.release();
    let ended = until_done(running, within(cap), cancel);
    (!is_cancelled(cancel)).then_some(ended)
}

/// Waits for the end of a fixed amount of work, until the deadline at most. Work that is cut there says so.
pub(crate) fn finish_fixed(
    running: Running,
    units: f64,
    deadline: Nanos,
    cancel: &AtomicBool,
) -> ActivitySample {
    let (sample, end) = until_done(running, deadline, cancel);
    end.told(sample, units)
}

fn until_done(running: Running, deadline: Nanos, cancel: &AtomicBool) -> (ActivitySample, End) {
    while !is_cancelled(cancel) && now() < deadline {
        if running.wait_done(within(PATIENCE).min(deadline)) {
            return (running.stop().whole(), End::Done);
        }
    }
    (running.stop().whole(), End::Cut)
}

impl End {
    fn told(self, mut sample: ActivitySample, units: f64) -> ActivitySample {
        if self == Self::Cut {
            sample
                .failures
                .push(format!("{:.1} of {units:.1} units done at the cap", sample.units));
        }
        sample
    }
}

/// The whole life of a worker's thread. Counts itself ready and done, whatever happens.
fn live(mut worker: Box<dyn Worker>, shared: &Shared, share: Option<f64>) -> Way {
    let mut trail = Trail::reserve();
    let begun = worker.begin();
    shared.breakers().extend(worker.breaker());
    let outcome = match (begun, shared.lineup.wait_for_start()) {
        (Ok(()), Start::Given) => work(&mut *worker, shared, share, &mut trail),
        (begun, _) => begun,
    };
    // Whatever a worker says once it was told to stop is no failure of the activity. Asked before
    // the owner hears of the end, which may stop the others then.
    let failure = outcome.err().filter(|_| !shared.is_stopped());
    shared.lineup.count_done();
    Way { trail, failure: failure.map(|cause| cause.sentence()) }
}

fn work(
    worker: &mut dyn Worker,
    shared: &Shared,
    share: Option<f64>,
    trail: &mut Trail,
) -> Result<(), EngineError> {
    let mut units = 0.0;
    let born = cpu::thread_cpu_ns();
    let point = |units| Point {
        at: now(),
        units,
        cpu: Nanos::new(cpu::thread_cpu_ns().saturating_sub(born)),
    };
    trail.note(point(0.0));
    while !shared.is_stopped() && share.is_none_or(|share| units < share) {
        units += worker.step()?;
        trail.note(point(units));
    }
    Ok(())
}

/// Sleeps in short pieces, until the time is over or somebody cancels. For how long the process stood still at the most.
pub(crate) fn sleep(time: Nanos, cancel: &AtomicBool) -> Nanos {
    let (end, mut still) = (within(time), Standstill::of_this_thread());
    while now() < end && !is_cancelled(cancel) {
        let wake = within(PATIENCE).min(end);
        clock::sleep_until(wake.count());
        still.woke(now().since(wake));
    }
    still.longest()
}

/// The moment that is `time` away.
fn within(time: Nanos) -> Nanos {
    now().saturating_add(time)
}

fn panicked() -> EngineError {
    EngineError::Refused("a thread of the activity panicked".to_owned())
}

fn not_ready(limit: Nanos) -> EngineError {
    let seconds = Duration::from(limit).as_secs();
    EngineError::Refused(format!("the activity was not ready to work within {seconds} s"))
}

fn count_as_float(count: usize) -> f64 {
    u32::try_from(count.max(1)).map_or(f64::MAX, f64::from)
}

/// How long a worker may take to get ready.
const BEGIN_LIMIT: Nanos = Nanos::from_secs(10);
/// How long a cancelled run goes on.
const PATIENCE: Nanos = Nanos::from_millis(20);

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use btu_core::role::Role;

    use super::*;

    /// An activity that takes its time to get ready.
    #[derive(Debug)]
    struct Sluggish;

    impl Prepared for Sluggish {
        fn unit(&self) -> String {
            "nothing".to_owned()
        }

        fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
            Ok(vec![Box::new(Self)])
        }
    }

    impl Worker for Sluggish {
        fn begin(&mut self) -> Result<(), EngineError> {
            // Nobody sends.
            let (_kept, nothing) = mpsc::channel::<()>();
            let _ = nothing.recv_timeout(Duration::from_millis(300));
            Ok(())
        }

        fn step(&mut self) -> Result<f64, EngineError> {
            Ok(1.0)
        }
    }

    #[test]
    fn nothing_is_measured_beside_an_activity_that_is_not_ready() {
        let place = Place::here(Role::Test);
        let told = Running::ready_within(Nanos::ZERO, &Sluggish, &place, None).unwrap_err();
        assert_eq!(told.sentence(), "the activity was not ready to work within 0 s");
        assert!(Running::ready_within(BEGIN_LIMIT, &Sluggish, &place, None).is_ok());
    }
}
