//! The end that is called: a thread for each client.

use std::io;
use std::io::Read;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::order::Order;
use super::pipe;
use crate::error::EngineError;
use crate::file::Account;
use crate::file::Errand;
use crate::file::Offer;
use crate::file::Served;
use crate::file::Sockets;
use crate::file::disk::Directory;
use crate::file::disk::Reading;
use crate::file::ftp::scramble;
use crate::threads;
use crate::transport::retried;

/// A server that listens. Dropped, it stops at once, with every thread and connection.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<Result<(), EngineError>>>,
}

/// What its threads have in common.
#[derive(Debug)]
struct Shared {
    sockets: Sockets,
    account: Account,
    moved: AtomicU64,
    directory: Option<Directory>,
    clients: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A client that is served.
struct Guest {
    stream: Arc<TcpStream>,
    shared: Arc<Shared>,
    buffer: Buffer,
}

impl Server {
    pub(super) fn start(offer: &Offer) -> Result<Self, EngineError> {
        let settings = Settings { nodelay: Some(true), ..offer.settings.clone() };
        let address = SocketAddr::new(offer.address, 0);
        let listening = offer.place.spawn("rpc-listen", move || {
            let listener = socket::listen(address, &settings)?;
            let address = listener.local_addr().map_err(EngineError::peer("name a server"))?;
            Ok((listener, address))
        })?;
        let (listener, address) =
            listening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let shared = Arc::new(Shared {
            sockets: Sockets::default(),
            account: Account::default(),
            moved: AtomicU64::new(0),
            directory: offer.directory.clone().map(Directory),
            clients: offer.clients,
            threads: Mutex::default(),
        });
        let mut server = Self { address, shared: Arc::clone(&shared), acceptor: None };
        // Nobody has closed the sockets of a server that only begins.
        if let Some(listener) = shared.sockets.admit(listener) {
            server.acceptor = Some(offer.place.spawn("rpc-accept", move || {
                let _enrolled = shared.account.enrol();
                accept(&listener, &shared);
                Ok(())
            })?);
        }
        Ok(server)
    }
}

impl Served for Server {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn account(&self) -> &Account {
        &self.shared.account
    }

    fn moved(&self) -> Bytes {
        Bytes::new(self.shared.moved.load(Relaxed))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.sockets.close();
        // A thread that panicked has said so on its own.
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let threads = std::mem::take(&mut *self.shared.threads());
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts clients until the sockets of the server are closed.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.sockets.is_closed() {
        match listener.accept() {
            Ok((stream, _)) => welcome(stream, shared),
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) if shared.sockets.is_closed() => return,
            // Out of descriptors or memory: others have to end first.
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Serves a client in a thread of its own; one too many, or one without a thread, is closed.
fn welcome(stream: TcpStream, shared: &Arc<Shared>) {
    let Some(stream) = shared.sockets.admit(stream) else { return };
    let mut threads = shared.threads();
    threads.retain(|thread| !thread.is_finished());
    if threads.len() >= shared.clients {
        return;
    }
    let shared = Arc::clone(shared);
    let work = move || {
        let _enrolled = shared.account.enrol();
        // Where the connection fails, or the client says what nobody understands, nobody is left to tell.
        let _ = Guest::new(stream, Arc::clone(&shared)).and_then(|mut guest| guest.serve());
    };
    threads.extend(threads::start("rpc-serve", work).ok());
}

impl Guest {
    fn new(stream: Arc<TcpStream>, shared: Arc<Shared>) -> io::Result<Self> {
        let mut buffer = Buffer::prefaulted(BUFFER).map_err(io::Error::other)?;
        scramble(&mut buffer);
        Ok(Self { stream, shared, buffer })
    }

    /// Does what the client came for until it leaves.
    fn serve(&mut self) -> io::Result<()> {
        let errand = Order::decode(Counted(self))?;
        self.say(TAKEN)?;
        match errand.operation {
            Operation::Get => self.give_files(&errand),
            Operation::Call | Operation::Put => self.answer_each(errand.size.count()),
            Operation::Stream => self.answer_each(errand.total()),
        }
    }

    /// Takes so many bytes, and says that they came, again and again.
    fn answer_each(&mut self, total: u64) -> io::Result<()> {
        loop {
            let shared = &self.shared;
            let came =
                pipe::receive(&self.stream, &mut self.buffer, total, |count| shared.count(count))?;
            if came < total || total == 0 {
                return Ok(());
            }
            self.say(answer_to(total))?;
        }
    }

    fn give_files(&mut self, errand: &Errand) -> io::Result<()> {
        let mut number = [0; 4];
        loop {
            let count = |_| self.shared.account.count_call();
            if pipe::fill(&self.stream, &mut number, count)? < number.len() {
                return Ok(());
            }
            match errand.file(u32::from_be_bytes(number)) {
                Some(name) => self.give_from_disk(name, errand.size)?,
                None => self.give_made_up(errand.size)?,
            }
        }
    }

    fn give_from_disk(&mut self, name: &str, size: Bytes) -> io::Result<()> {
        let directory = self.shared.directory.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let (file, found) = directory.open(name)?;
        if found != size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut reading = Reading::of(file, &mut self.buffer);
        while let Some(chunk) = reading.chunk() {
            pipe::send_all(&self.stream, chunk, |count| self.shared.count(count))?;
        }
        reading.end()
    }

    fn give_made_up(&self, size: Bytes) -> io::Result<()> {
        let mut left = size.count();
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let chunk = &self.buffer[..length];
            pipe::send_all(&self.stream, chunk, |count| self.shared.count(count))?;
            left -= length as u64;
        }
        Ok(())
    }

    fn say(&self, answer: [u8; 4]) -> io::Result<()> {
        pipe::send_all(&self.stream, &answer, |_| self.shared.account.count_call())
    }
}

impl Shared {
    /// A call passed so many bytes.
    fn count(&self, count: usize) {
        self.account.count_call();
        self.moved.fetch_add(count as u64, Relaxed);
    }
}

/// What a client says besides blocks, with every call counted.
struct Counted<'a>(&'a Guest);

impl Read for Counted<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.0.shared.account.count_call();
        retried(|| socket::recv(self.0.stream.as_fd(), space))
    }
}

/// The answer to a call or a stream: how many bytes came, cut to 32 bits.
pub(super) fn answer_to(total: u64) -> [u8; 4] {
    let [.., a, b, c, d] = total.to_be_bytes();
    [a, b, c, d]
}

/// The server knows what is to come.
pub(super) const TAKEN: [u8; 4] = *b"good";

/// Bytes per call for files, and for what is received.
pub(super) const BUFFER: usize = 65536;

/// Between two attempts to accept on a machine that has nothing left.
const PAUSE: Duration = Duration::from_millis(10);
