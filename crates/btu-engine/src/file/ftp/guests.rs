//! Who is at an FTP server: those that are logged in have a place, all others may be asked to make room.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::thread::JoinHandle;
use std::thread::ThreadId;

use btu_core::units::Nanos;
use btu_sys::cpu;
use btu_sys::socket;

/// The sessions of a server.
#[derive(Debug, Default)]
pub(super) struct Guests(Mutex<Vec<Guest>>);

/// A session, by its control connection.
#[derive(Debug)]
struct Guest {
    /// Its session closes it.
    control: Weak<TcpStream>,
    thread: JoinHandle<()>,
    standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    In,
    Outside,
    /// It had to make room.
    SentAway,
}

impl Guests {
    /// Takes in who has just come, in a thread that `begin` starts; false where all of `places` are taken, or where
    /// there is no thread. Of too many that are not logged in, the first has had its time: it is closed
    /// without a word.
    pub(super) fn take_in(
        &self,
        places: usize,
        control: &Arc<TcpStream>,
        begin: impl FnOnce() -> Option<JoinHandle<()>>,
    ) -> bool {
        let mut all = self.lock();
        all.retain(|guest| !guest.thread.is_finished());
        if count(&all, Standing::In) >= places {
            return false;
        }
        if count(&all, Standing::Outside) >= places.max(LEAST_OUTSIDE)
            && let Some(first) = all.iter_mut().find(|guest| guest.standing == Standing::Outside)
        {
            first.standing = Standing::SentAway;
            first.control.upgrade().iter().for_each(|control| socket::abort(&**control));
        }
        let Some(thread) = begin() else { return false };
        let control = Arc::downgrade(control);
        all.push(Guest { control, thread, standing: Standing::Outside });
        true
    }

    /// Gives one of `places` to a session that has logged in; false where none is left.
    pub(super) fn seat(&self, places: usize, control: &Arc<TcpStream>) -> bool {
        let mut all = self.lock();
        let taken = count(&all, Standing::In);
        let own = all.iter_mut().find(|guest| guest.control.as_ptr() == Arc::as_ptr(control));
        match own {
            Some(own) if own.standing == Standing::In => true,
            Some(own) if own.standing == Standing::Outside && taken < places => {
                own.standing = Standing::In;
                true
            }
            _ => false,
        }
    }

    /// What the thread of each session that goes on has used so far.
    pub(super) fn used(&self) -> Vec<(ThreadId, Nanos)> {
        let used = |guest: &Guest| {
            let used = Nanos::new(cpu::cpu_ns_of(&guest.thread)?);
            Some((guest.thread.thread().id(), used))
        };
        self.lock().iter().filter_map(used).collect()
    }

    /// Waits until all are gone.
    pub(super) fn join(&self) {
        let all = std::mem::take(&mut *self.lock());
        for guest in all {
            // A thread that panicked has said so on its own.
            let _ = guest.thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Guest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Those whose session goes on.
fn count(all: &[Guest], standing: Standing) -> usize {
    let all = all.iter().filter(|guest| !guest.thread.is_finished());
    all.filter(|guest| guest.standing == standing).count()
}

/// Sessions that are not logged in may be as many as there are places, and always so many: whoever knows how
/// logs in at once.
const LEAST_OUTSIDE: usize = 16;
