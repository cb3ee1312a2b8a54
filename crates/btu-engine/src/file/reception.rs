//! A server that gives each client that connects a thread: what all servers of calls have in common.

use std::fmt;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::Account;
use super::Offer;
use super::Served;
use super::Sockets;
use super::disk::Directory;
use crate::error::EngineError;
use crate::threads;

/// A server that listens. Dropped, it stops at once, with every thread and connection.
#[derive(Debug)]
pub(super) struct Reception {
    address: SocketAddr,
    house: Arc<House>,
    acceptor: Option<JoinHandle<Result<(), EngineError>>>,
}

/// What the threads of a server have in common.
pub(super) struct House {
    pub(super) sockets: Sockets,
    pub(super) account: Account,
    directory: Option<Directory>,
    moved: AtomicU64,
    /// At once.
    clients: usize,
    serve: Serve,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Serves the client of a connection to its end.
type Serve = Box<dyn Fn(&Arc<TcpStream>, &Arc<House>) -> io::Result<()> + Send + Sync>;

impl Reception {
    /// Listens; `serve` runs in a thread for each client.
    pub(super) fn open(
        offer: &Offer,
        account: Account,
        serve: impl Fn(&Arc<TcpStream>, &Arc<House>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<Self, EngineError> {
        let (listener, address) = listen(offer)?;
        let house = Arc::new(House {
            sockets: Sockets::default(),
            account,
            directory: offer.directory.clone().map(Directory),
            moved: AtomicU64::new(0),
            clients: offer.clients,
            serve: Box::new(serve),
            threads: Mutex::default(),
        });
        let mut reception = Self { address, house: Arc::clone(&house), acceptor: None };
        // Nobody has closed the sockets of a server that only begins.
        if let Some(listener) = house.sockets.admit(listener) {
            reception.acceptor = Some(offer.place.spawn("file-accept", move || {
                let _enrolled = house.account.enrol();
                house.accept(&listener);
                Ok(())
            })?);
        }
        Ok(reception)
    }
}

impl Served for Reception {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn account(&self) -> &Account {
        &self.house.account
    }

    fn moved(&self) -> Bytes {
        Bytes::new(self.house.moved.load(Relaxed))
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.house.sockets.close();
        // A thread that panicked has said so on its own.
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let threads = std::mem::take(&mut *self.house.threads());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl House {
    /// So many bytes of files or blocks passed.
    pub(super) fn count(&self, count: usize) {
        self.moved.fetch_add(count as u64, Relaxed);
    }

    /// A file of the server, which is as long as the client thinks.
    pub(super) fn file(&self, name: &str, size: Bytes) -> io::Result<File> {
        let (file, found) = self.open(name)?;
        if found == size { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// A file of the server, and its size.
    pub(super) fn open(&self, name: &str) -> io::Result<(File, Bytes)> {
        self.directory.as_ref().ok_or(io::ErrorKind::NotFound)?.open(name)
    }

    /// Accepts clients until the sockets of the server are closed.
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while !self.sockets.is_closed() {
            match listener.accept() {
                Ok((stream, _)) => self.welcome(stream),
                Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) if self.sockets.is_closed() => return,
                // Out of descriptors or memory: others have to end first.
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Serves a client in a thread of its own; one too many, or one without a thread, is closed.
    fn welcome(self: &Arc<Self>, stream: TcpStream) {
        let Some(stream) = self.sockets.admit(stream) else { return };
        let mut threads = self.threads();
        threads.retain(|thread| !thread.is_finished());
        if threads.len() >= self.clients {
            return;
        }
        let house = Arc::clone(self);
        let work = move || {
            let _enrolled = house.account.enrol();
            // Where the connection fails, or the client says what nobody understands, nobody is left to tell.
            let _ = (house.serve)(&stream, &house);
        };
        threads.extend(threads::start("file-serve", work).ok());
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for House {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("House").field("clients", &self.clients).finish_non_exhaustive()
    }
}

/// Listens in the network of the place, which only a thread of its own can enter.
fn listen(offer: &Offer) -> Result<(TcpListener, SocketAddr), EngineError> {
    let settings = Settings { nodelay: Some(true), ..offer.settings.clone() };
    let address = SocketAddr::new(offer.address, 0);
    let listening = offer.place.spawn("file-listen", move || {
        let listener = socket::listen(address, &settings)?;
        let address = listener.local_addr().map_err(EngineError::peer("name a server"))?;
        Ok((listener, address))
    })?;
    listening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Between two attempts to accept on a machine that has nothing left.
const PAUSE: Duration = Duration::from_millis(10);
