//! Ranks that were left behind, whose threads still take CPUs.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Nanos;

use crate::error::EngineError;
use crate::time::now;

/// Those of every launch of this process.
pub(super) static LEFT: Left = Left(Mutex::new(Vec::new()));

/// Threads that nobody waits for, but whoever needs their CPUs.
#[derive(Debug)]
pub(super) struct Left(Mutex<Vec<JoinHandle<()>>>);

impl Left {
    pub(super) fn add(&self, thread: JoinHandle<()>) {
        self.threads().push(thread);
    }

    /// Waits until all have ended, as they do with their next message; `longest` at most, and not once `stop` is set.
    pub(super) fn wait(&self, longest: Nanos, stop: &AtomicBool) -> Result<(), EngineError> {
        let deadline = now().saturating_add(longest);
        while let Some(name) = self.still_there() {
            if stop.load(Relaxed) {
                return Ok(());
            }
            if now() >= deadline {
                return Err(EngineError::Refused(format!(
                    "{name} of an earlier launch still computes, and would share a CPU with this one"
                )));
            }
            thread::sleep(TURN);
        }
        Ok(())
    }

    fn still_there(&self) -> Option<String> {
        let mut threads = self.threads();
        threads.retain(|thread| !thread.is_finished());
        threads.first().map(|thread| thread.thread().name().unwrap_or("a rank").to_owned())
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const TURN: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::threads;

    #[test]
    fn a_launch_waits_for_a_rank_that_was_left_behind_and_not_for_ever() {
        let (left, no_stop) = (Left(Mutex::default()), AtomicBool::new(false));
        let (end, until_end) = channel::<()>();
        left.wait(Nanos::ZERO, &no_stop).unwrap();
        left.add(threads::start("rank-3", move || until_end.recv().unwrap_or_default()).unwrap());
        let refused = left.wait(Nanos::from_millis(1), &no_stop).unwrap_err().to_string();
        let told =
            "rank-3 of an earlier launch still computes, and would share a CPU with this one";
        assert_eq!(refused, told);
        left.wait(Nanos::from_secs(60), &AtomicBool::new(true)).unwrap();
        drop(end);
        left.wait(Nanos::from_secs(60), &no_stop).unwrap();
    }
}
