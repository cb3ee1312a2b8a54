//! The open sockets of one party, so that all its threads can be told to stop at once.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::socket;
use btu_sys::socket::Settings;

/// Sockets that live as long as their owners keep them.
#[derive(Default)]
pub struct Sockets {
    /// Set with the lock of `open` held.
    closed: Arc<AtomicBool>,
    open: Mutex<Vec<Weak<dyn AsFd + Send + Sync>>>,
}

impl Sockets {
    /// Connects within `patience`, unless everything is closed before. The socket blocks, without a bound.
    pub fn connect(
        &self,
        address: SocketAddr,
        settings: &Settings,
        patience: Duration,
    ) -> btu_sys::Result<Arc<TcpStream>> {
        let named = |cause: io::Error| btu_sys::Error::new(format!("connect to {address}"), cause);
        let ended = || named(io::ErrorKind::ConnectionAborted.into());
        let begun = socket::begin_connect(address, settings)?;
        let stream = self.admit(begun).ok_or_else(ended)?;
        self.await_connection(&stream, patience).map_err(named)?;
        stream.set_nonblocking(false).map_err(named)?;
        Ok(stream)
    }

    fn await_connection(&self, stream: &TcpStream, patience: Duration) -> io::Result<()> {
        let end = Instant::now() + patience;
        while !exchange::poll(stream.as_fd(), Ready::Write, Some(GLANCE))? {
            if self.is_closed() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if Instant::now() >= end {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        stream.take_error()?.map_or(Ok(()), Err)?;
        // One that was closed meanwhile has no error, and no peer.
        stream.peer_addr().map(drop)
    }

    /// Watches over a socket; `None` once everything is closed, and the socket is gone.
    pub fn admit<S: AsFd + Send + Sync + 'static>(&self, socket: S) -> Option<Arc<S>> {
        let mut open = self.lock();
        if self.is_closed() {
            return None;
        }
        let socket = Arc::new(socket);
        let weak: Weak<S> = Arc::downgrade(&socket);
        open.retain(|other| other.strong_count() > 0);
        open.push(weak);
        Some(socket)
    }

    /// Ends every call that waits on one of the sockets, now and in the future. What was written and
    /// not yet sent is discarded: it would go on travelling after everything else has stopped.
    pub fn close(&self) {
        let mut open = self.lock();
        self.closed.store(true, Relaxed);
        for socket in open.drain(..).filter_map(|socket| socket.upgrade()) {
            let socket = socket.as_fd();
            // Without this option the rest is sent late, which harms nothing but a measurement.
            let _ = socket::reset_on_close(&socket);
            socket::abort(&socket);
        }
    }

    /// Whether everything was closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// The same, for whoever waits for something else than one of the sockets.
    pub(crate) fn closed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.closed)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<dyn AsFd + Send + Sync>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.lock().len();
        out.debug_struct("Sockets").field("closed", &self.closed).field("open", &open).finish()
    }
}

/// How long a connection is awaited before somebody looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(20);

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
        assert_eq!(sockets.lock().len(), 1);
    }
}
