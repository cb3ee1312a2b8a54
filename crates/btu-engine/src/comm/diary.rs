//! What is noted of a data thread while it runs: by itself between two calls, and by its supervisor
//! where it stands still in one.
//!
//! A thread of its own that wakes a hundred times a second to read the counters takes 2 to 5 % of the
//! rate from a pair of data threads that fill their CPUs (docs/decisions/0067).

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::sample::Series;
use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::cpu::Whereabouts;

use super::end::Shared;
use super::lookout::Lookout;
use super::series::PERIOD;
use super::series::Sampler;
use super::stream::Observer;
use crate::time::now;

/// The notes of one end.
#[derive(Debug, Default)]
pub(super) struct Diary {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    lookout: Lookout,
    sampler: Sampler,
    /// The thread is at its end: what its connection does from now on is not its work.
    closed: bool,
}

/// What the notes come to.
#[derive(Debug)]
pub(super) struct Notes {
    /// Readings of the connection; nothing for a run too short for any.
    pub(super) series: Option<Series>,
    /// CPUs on which the thread was seen.
    pub(super) cpus: Vec<u32>,
    /// The longest time in which no byte moved, as far as it was seen.
    pub(super) longest_pause: Option<Nanos>,
}

impl Diary {
    /// Makes room for the readings of `longest`; without, there are none.
    pub(super) fn reserve(&self, longest: Nanos) {
        self.open().sampler = Sampler::reserve(longest);
    }

    /// The run begins at `now`.
    pub(super) fn begin(&self, now: Nanos) {
        self.open().lookout.begin(now);
    }

    /// What was noted.
    pub(super) fn notes(&self) -> Notes {
        let pages = self.open();
        Notes {
            series: pages.sampler.series(),
            cpus: pages.sampler.cpus().to_vec(),
            longest_pause: pages.sampler.longest_pause().max(pages.lookout.longest_pause()),
        }
    }

    /// Nothing in the notes can be half done: a thread that panicked is told of elsewhere.
    fn open(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// The supervisor's turn at `now`: reads the counters of an end that stands still. True if it does.
    /// It waits for nobody: a thread that is at its notes does not stand still, and one that somebody
    /// waits for would have to wake him, with a call of its own between two messages.
    pub(super) fn check(&self, now: Nanos) -> bool {
        let Ok(mut pages) = self.diary.pages.try_lock() else { return false };
        let runs = self.started().is_some() && !pages.closed;
        let stands = runs && pages.lookout.quiet_for(now) > PERIOD * 2;
        if stands {
            if pages.sampler.is_due(now) {
                let cpu = self.whereabouts.get().and_then(Whereabouts::cpu);
                pages.sampler.take(self, now, cpu);
            }
            if pages.lookout.is_slow(self.progress.calls()) {
                // Whatever it had planned, it looks up after the next call.
                self.progress.look_at(0);
            }
        }
        stands
    }

    /// The data thread's last turn: a last reading, and no further one.
    pub(super) fn close_diary(&self) {
        let mut pages = self.diary.open();
        pages.sampler.take(self, now(), cpu::current());
        pages.closed = true;
    }
}

impl Observer for Shared {
    /// The data thread's turn. It waits for nobody: where the supervisor is at the notes, it comes
    /// back after the next call.
    #[cold]
    fn look(&self) {
        let Ok(mut pages) = self.diary.pages.try_lock() else { return };
        let now = now();
        let next = pages.lookout.look(now, self.progress.calls());
        self.progress.look_at(next);
        if pages.sampler.is_due(now) {
            pages.sampler.take(self, now, cpu::current());
        }
    }
}
