//! The start and the end of a group of threads: all ready, all off, all done.

use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use crate::time::now;
use btu_core::units::Nanos;

/// Counts threads through a run. A thread that fails counts as ready and done, so that nobody waits for it.
#[derive(Debug, Default)]
pub(crate) struct Lineup {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: usize,
    done: usize,
    start: Start,
}

/// Whether the run has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    /// It will not take place.
    Cancelled,
    /// Off.
    Given,
    /// Not yet.
    #[default]
    Pending,
}

impl Lineup {
    /// A thread is ready and waits for the start.
    pub(crate) fn wait_for_start(&self) -> Start {
        self.count_ready();
        let state = self.lock();
        let waited = self.changed.wait_while(state, |state| state.start == Start::Pending);
        waited.unwrap_or_else(PoisonError::into_inner).start
    }

    /// A thread is ready and needs no start.
    pub(crate) fn count_ready(&self) {
        self.lock().ready += 1;
        self.changed.notify_all();
    }

    /// A thread has ended.
    pub(crate) fn count_done(&self) {
        self.lock().done += 1;
        self.changed.notify_all();
    }

    /// Waits until `threads` are ready; false where the deadline came first.
    pub(crate) fn wait_ready(&self, threads: usize, deadline: Nanos) -> bool {
        self.wait(deadline, |state| state.ready >= threads)
    }

    /// True where a thread ended before there was a start.
    pub(crate) fn has_ended_early(&self) -> bool {
        let state = self.lock();
        state.done > 0 && state.start == Start::Pending
    }

    /// Waits until `threads` are done; false where the deadline came first.
    pub(crate) fn wait_done(&self, threads: usize, deadline: Nanos) -> bool {
        self.wait(deadline, |state| state.done >= threads)
    }

    /// Waits until somebody decided on the start.
    pub(crate) fn wait_decided(&self) -> Start {
        let state = self.lock();
        let waited = self.changed.wait_while(state, |state| state.start == Start::Pending);
        waited.unwrap_or_else(PoisonError::into_inner).start
    }

    /// Starts or cancels the run; the first decision stands.
    pub(crate) fn decide(&self, start: Start) {
        let mut state = self.lock();
        if state.start == Start::Pending {
            state.start = start;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn wait(&self, deadline: Nanos, reached: impl Fn(&State) -> bool) -> bool {
        let now = now();
        let limit = Duration::from(deadline.since(now));
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |state| !reached(state));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        reached(&state)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
