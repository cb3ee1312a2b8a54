//! File protocols, each in a file of its own, and the registry of them.

mod account;
mod afs;
mod disk;
pub mod ftp;
mod h2;
mod http;
#[cfg(feature = "http")]
mod hypertext;
#[cfg(not(feature = "http"))]
#[path = "file/no_hypertext.rs"]
mod hypertext;
mod order;
mod quic;
mod reception;
pub mod rx;
mod rx_rpc;
mod rx_stream;
mod scratch;
pub mod service;
pub mod site;
mod sockets;
mod tcp_rpc;

use std::fmt::Debug;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::file::sample::Operation;
use btu_core::file::sample::Sent;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Settings;
use serde::Deserialize;
use serde::Serialize;

pub use self::account::Account;
pub use self::account::Usage;
use self::site::Abroad;
use self::site::Stay;
pub use self::sockets::Sockets;
use crate::error::EngineError;
use crate::place::Place;
use crate::time::now;

/// Every file protocol of this build, in the order in which `btu list` shows them.
pub static FILE_PROTOCOLS: &[&dyn FileProtocol] = &[
    &afs::Afs,
    &ftp::Ftp,
    &h2::H2,
    &http::Http,
    &quic::Quic,
    &rx_rpc::RxRpc,
    &rx_stream::RxStream,
    &tcp_rpc::TcpRpc,
];

/// The protocol of this name.
pub fn by_name(name: &str) -> Option<&'static dyn FileProtocol> {
    FILE_PROTOCOLS.iter().copied().find(|protocol| protocol.name() == name)
}

/// A way to store files on another host and to retrieve them, or to call procedures there.
///
/// To add one: a file with this trait, and a line in [`FILE_PROTOCOLS`]. The conformance suite then holds it to the
/// contract: each of its operations passes its bytes and tells its moments in order; where it keeps files, what was
/// put is got back, byte for byte, until it is removed; a server that is dropped takes its threads with it, and what
/// its clients wait for then is an error.
pub trait FileProtocol: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// What its clients can do, in the order of the alphabet.
    fn operations(&self) -> &'static [Operation];

    /// True where an end of it is a process: what that uses, nobody can tell from what other programs use.
    fn has_processes(&self) -> bool {
        false
    }

    /// How long a server of it is there.
    fn tenure(&self) -> Tenure {
        Tenure::OneTrial
    }

    /// Starts a server on a free port. Each of its threads is on the roll of its account from its first call to its
    /// last.
    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError>;

    /// Opens a session with a server. The calling thread is in the network of the client. What it waits for ends where
    /// the sockets of the visit are closed.
    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError>;

    /// How its clients use a server that somebody else runs; `None` where they use none but ours.
    fn abroad(&self) -> Option<&dyn Abroad> {
        None
    }
}

/// How long a server is there, in a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tenure {
    /// It comes for a trial, and goes with it.
    OneTrial,
    /// It takes long to come, and serves every trial of its place.
    WholeService,
}

/// What a server is to give.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Where its threads run.
    pub place: Place,
    /// Where it listens.
    pub address: IpAddr,
    /// Socket options of the connections that carry files.
    pub settings: Settings,
    /// Whose files can be retrieved; no other can, and none can be changed.
    pub directory: Option<PathBuf>,
    /// Clients at once.
    pub clients: usize,
    /// This program, where a server is a process of its own.
    pub program: Option<PathBuf>,
}

/// What a client comes for.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Where the server listens.
    pub server: SocketAddr,
    /// Socket options of the connections that carry files.
    pub settings: Settings,
    /// How long to wait for a connection, or an answer.
    pub patience: Duration,
    /// What it does there.
    pub errand: Errand,
    /// How it comes to a server of others; `None` at one of ours.
    pub stay: Option<Stay>,
    /// Every socket of the client: closed from another thread, they end it.
    pub sockets: Arc<Sockets>,
    /// This program, where a client is a process of its own.
    pub program: Option<PathBuf>,
}

/// What a client does in a session, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// What it does.
    pub operation: Operation,
    /// The file, or the block of a call.
    pub size: Bytes,
    /// Blocks of a stream; of anything else how often it is done.
    pub count: u32,
    /// Files to retrieve, in turn, by their names in the server's directory; none for those that the server makes up.
    pub files: Vec<String>,
}

impl Errand {
    /// Which file is retrieved the next time; `None` where the server makes one up.
    pub(crate) fn file(&self, number: u32) -> Option<&str> {
        let turn = usize::try_from(number).ok()?.checked_rem(self.files.len())?;
        self.files.get(turn).map(String::as_str)
    }

    /// What a server of this program is asked for the next time: a file of its directory, or one that it makes up.
    pub(crate) fn name(&self, number: u32) -> String {
        let made_up = || format!("/random/{}", self.size.count());
        self.file(number).map_or_else(made_up, |file| format!("/disk/{file}"))
    }

    /// Bytes that are passed each time.
    fn bytes(&self) -> Bytes {
        let is_stream = self.operation == Operation::Stream;
        if is_stream { Bytes::new(self.total()) } else { self.size }
    }

    /// Bytes of all blocks of a stream.
    fn total(&self) -> u64 {
        self.size.count().saturating_mul(self.count.into())
    }

    fn is_short(&self, protocol: &str, left: u64) -> EngineError {
        let (left, size) = (Bytes::new(left), self.size);
        EngineError::Refused(format!("{protocol}: {left} of {size} did not come"))
    }

    fn is_too_long(&self, protocol: &str) -> EngineError {
        EngineError::Refused(format!("{protocol}: more than {} came", self.size))
    }
}

/// A server of this program. Dropped, it stops at once.
pub trait Served: Debug + Send {
    /// Where it listens.
    fn address(&self) -> SocketAddr;

    /// What its threads used.
    fn account(&self) -> &Account;

    /// Bytes of files and blocks that it has sent and received.
    fn moved(&self) -> Bytes;

    /// Where it has a copy of its own of a file of the directory; `None` where it gives the file itself.
    fn copy_of(&self, _name: &str) -> Option<PathBuf> {
        None
    }
}

/// A client's session with a server.
pub trait Session: Debug + Send {
    /// What it took to open it.
    fn opening(&self) -> Opening;

    /// Does the errand once more; `number` counts from 0. Returns the bytes of the file, or of all blocks, which are
    /// as many as asked for. Between two buffers there is no call but that of the system.
    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError>;

    /// What a library of the protocol sent so far, by its own count.
    fn sent(&self) -> Option<Sent> {
        None
    }

    /// Takes leave.
    fn close(self: Box<Self>) -> Result<(), EngineError>;

    /// The files that the server keeps; `None` where it keeps none.
    fn keeping(&mut self) -> Option<&mut dyn Keeping> {
        None
    }
}

/// Files that a server keeps by their names.
pub trait Keeping {
    /// Retrieves a file; returns its size.
    fn get(&mut self, name: &str, sink: &mut dyn Write) -> Result<Bytes, EngineError>;

    /// Stores a file and waits until the server has it; returns its size.
    fn put(&mut self, name: &str, source: &mut dyn Read) -> Result<Bytes, EngineError>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<(), EngineError>;
}

/// How long it took to open a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Until there was a connection.
    pub connect_ns: Nanos,
    /// Until the server knew the client, after that; `None` where it wants to know nothing.
    pub auth_ns: Option<Nanos>,
}

/// When one errand came how far, by the clock of the machine.
#[derive(Debug)]
pub struct Moments<'a> {
    /// Bytes of the client so far: who watches it sees that it goes on.
    progress: &'a AtomicU64,
    /// It began to ask.
    pub request: Nanos,
    /// The first bytes came, or were sent.
    pub first_byte: Option<Nanos>,
    /// The last bytes came, or were sent.
    pub last_byte: Option<Nanos>,
    /// The server had said that all is there, or that it gave all.
    pub commit: Option<Nanos>,
}

impl<'a> Moments<'a> {
    /// Of an errand that begins now.
    pub fn from_now(progress: &'a AtomicU64) -> Self {
        Self { progress, request: now(), first_byte: None, last_byte: None, commit: None }
    }

    /// Some bytes passed; `is_last` where no more are to come.
    pub fn passed(&mut self, count: usize, is_last: bool) {
        self.progress.fetch_add(count as u64, Relaxed);
        if self.first_byte.is_none() || is_last {
            let at = Some(now());
            self.first_byte = self.first_byte.or(at);
            self.last_byte = if is_last { at } else { self.last_byte };
        }
    }

    /// So many bytes passed in another process, whose errand this is.
    fn moved_elsewhere(&self, count: Bytes) {
        self.progress.fetch_add(count.count(), Relaxed);
    }

    /// When an errand that another process did came how far, by the same clock.
    fn seen_elsewhere(&mut self, [request, first_byte, last_byte, commit]: [Nanos; 4]) {
        self.request = request;
        self.first_byte = Some(first_byte);
        self.last_byte = Some(last_byte);
        self.commit = Some(commit);
    }

    /// The server said its last word.
    pub fn committed(&mut self) {
        self.commit = Some(now());
    }
}
