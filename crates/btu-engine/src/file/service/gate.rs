//! Where clients wait until all of them may go on.

use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::units::Nanos;

/// A barrier that somebody else opens.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    CalledOff,
    #[default]
    Closed,
    OpenSince(Nanos),
}

impl Gate {
    /// Lets all go on that wait, and all that come.
    pub(super) fn open(&self, at: Nanos) {
        self.set(State::OpenSince(at));
    }

    /// Sends all away. A gate that is open stays so.
    pub(super) fn call_off(&self) {
        let is_closed = matches!(*self.lock(), State::Closed);
        if is_closed {
            self.set(State::CalledOff);
        }
    }

    /// When the gate was opened, once it is; `None` where it never will be.
    pub(super) fn wait(&self) -> Option<Nanos> {
        let is_closed = |state: &mut State| matches!(state, State::Closed);
        let state = self.bell.wait_while(self.lock(), is_closed);
        match *state.unwrap_or_else(PoisonError::into_inner) {
            State::OpenSince(at) => Some(at),
            State::CalledOff | State::Closed => None,
        }
    }

    fn set(&self, state: State) {
        *self.lock() = state;
        self.bell.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
