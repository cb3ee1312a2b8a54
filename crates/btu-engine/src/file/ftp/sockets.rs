//! The open sockets of one party, so that all its threads can be told to stop at once.

use std::fmt;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;

use btu_sys::socket;

/// Sockets that live as long as their owners keep them.
#[derive(Default)]
pub(super) struct Sockets(Mutex<State>);

#[derive(Default)]
struct State {
    closed: bool,
    open: Vec<Weak<dyn AsFd + Send + Sync>>,
}

impl Sockets {
    /// Watches over a socket; `None` once everything is closed, and the socket is gone.
    pub(super) fn admit<S: AsFd + Send + Sync + 'static>(&self, socket: S) -> Option<Arc<S>> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let socket = Arc::new(socket);
        let weak: Weak<S> = Arc::downgrade(&socket);
        state.open.retain(|other| other.strong_count() > 0);
        state.open.push(weak);
        Some(socket)
    }

    /// Ends every call that waits on one of the sockets, now and in the future. What was written and
    /// not yet sent is discarded: it would go on travelling after everything else has stopped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for socket in state.open.drain(..).filter_map(|socket| socket.upgrade()) {
            let socket = socket.as_fd();
            // Without this option the rest is sent late, which harms nothing but a measurement.
            let _ = socket::reset_on_close(&socket);
            socket::abort(&socket);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        out.debug_struct("Sockets")
            .field("closed", &state.closed)
            .field("open", &state.open.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn closing_ends_a_wait_and_admits_nothing_more() {
        let sockets = Arc::new(Sockets::default());
        let listener = sockets.admit(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        let waiting = std::thread::spawn(move || listener.accept().is_err());
        sockets.close();
        assert!(waiting.join().unwrap());
        assert!(sockets.admit(TcpListener::bind("127.0.0.1:0").unwrap()).is_none());
    }

    #[test]
    fn a_socket_that_its_owner_closed_is_forgotten() {
        let sockets = Sockets::default();
        for _ in 0..10 {
            sockets.admit(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        }
        assert_eq!(sockets.lock().open.len(), 1);
    }
}
