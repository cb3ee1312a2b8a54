//! The FTP server: who listens, how sessions begin, how everything ends.

use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::data;
use super::data::Ports;
use super::gauge::Gauge;
use super::guests::Guests;
use super::limits::Limits;
use super::limits::Login;
use super::reply::Reply;
use super::session::Session;
use super::source::Patterns;
use super::store::Store;
use crate::error::EngineError;
use crate::file::account::Account;
use crate::file::disk::Directory;
use crate::file::sockets::Sockets;
use crate::place::Place;
use crate::threads;

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where its threads run.
    pub place: Place,
    /// Where it listens; port 0 chooses a free one.
    pub address: SocketAddr,
    /// Socket options of the data connections.
    pub sockets: Settings,
    /// Who may use it.
    pub login: Login,
    /// The only address that anybody is heard from; `None` for all.
    pub client: Option<IpAddr>,
    /// How much it grants.
    pub limits: Limits,
    /// Whose files are those of `/disk/`, to be read.
    pub directory: Option<PathBuf>,
}

/// A server that listens. Dropped, it stops at once, with every thread and connection.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<Result<(), EngineError>>>,
}

/// What all sessions of a server have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: Limits,
    pub(super) login: Login,
    client: Option<IpAddr>,
    pub(super) patterns: Patterns,
    pub(super) ports: Ports,
    /// Of data connections.
    pub(super) settings: Settings,
    pub(super) sockets: Sockets,
    pub(super) store: Store,
    /// Bytes of files and lists, sent and received.
    pub(super) moved: AtomicU64,
    pub(super) guests: Guests,
    pub(super) account: Account,
    /// What `/disk/` stands for.
    pub(super) disk: Option<Directory>,
}

impl Serving {
    /// Everybody, on a free port of `address`, with the default limits and options.
    pub fn at(place: Place, address: IpAddr) -> Self {
        Self {
            place,
            address: SocketAddr::new(address, 0),
            sockets: Settings::default(),
            login: Login::Anybody,
            client: None,
            limits: Limits::default(),
            directory: None,
        }
    }
}

impl Server {
    /// Listens and serves; returns once clients can connect.
    pub fn start(serving: Serving) -> Result<Self, EngineError> {
        let Serving { place, address, sockets, login, client, limits, directory } = serving;
        let control = Settings { nodelay: Some(true), ..Settings::default() };
        let control = Settings { user_timeout: sockets.user_timeout, ..control };
        let listener = listen(&place, address, control)?;
        let address = listener.local_addr().map_err(EngineError::peer("name an FTP server"))?;
        let shared = Arc::new(Shared {
            login,
            client,
            ports: Ports::of(&limits.data_ports, address.port()),
            patterns: Patterns::of(limits.buffer)?,
            settings: sockets,
            sockets: Sockets::default(),
            store: Store::of_at_most(limits.store),
            moved: AtomicU64::new(0),
            guests: Guests::default(),
            account: Account::default(),
            disk: directory.map(Directory),
            limits,
        });
        let mut server = Self { address, shared, acceptor: None };
        // Nobody has closed the sockets of a server that only begins.
        if let Some(listener) = server.shared.sockets.admit(listener) {
            let (name, shared) = (thread_name(address), Arc::clone(&server.shared));
            server.acceptor = Some(place.spawn(&name, move || {
                let _enrolled = shared.account.enrol();
                accept(&listener, &shared);
                Ok(())
            })?);
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How busy its sessions are.
    pub fn gauge(&self) -> Gauge {
        Gauge(Arc::clone(&self.shared))
    }

    /// What its threads used.
    pub fn account(&self) -> &Account {
        &self.shared.account
    }

    /// Payload of files and lists that was sent and received so far.
    pub fn moved(&self) -> Bytes {
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
        self.shared.guests.join();
    }
}

impl Shared {
    /// A server that listens to both protocols tells an IPv4 client by an IPv6 address.
    fn hears(&self, from: IpAddr) -> bool {
        self.client.is_none_or(|client| client.to_canonical() == from.to_canonical())
    }

    /// Where clients may be out of reach, a connection leaves nothing behind, however its process ends: its end, too,
    /// would be repeated to them.
    pub(super) fn end_with_the_process(&self, connection: &impl AsFd) {
        if self.settings.user_timeout.is_some() {
            let _ = socket::reset_on_close(connection);
        }
    }

    /// Closes a data connection of which everything has passed: what its client has still to get is sent, unless the
    /// server ends.
    pub(super) fn close(&self, data: Arc<TcpStream>) {
        if !self.sockets.is_closed() {
            let _ = socket::finish_on_close(&*data);
        }
        drop(data);
    }
}

/// Listens in the network of the place, which only a thread of its own can enter.
fn listen(
    place: &Place,
    address: SocketAddr,
    control: Settings,
) -> Result<TcpListener, EngineError> {
    let listening =
        place.spawn("ftp-listen", move || Ok(socket::listen(address, &control)?))?.join();
    // The closure above cannot panic; a fault in it would be the program's.
    listening.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Accepts clients until the sockets of the server are closed.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.sockets.is_closed() {
        match listener.accept() {
            Ok((control, from)) if shared.hears(from.ip()) => welcome(control, shared, listener),
            // Closed without a word: not even that this is an FTP server is a stranger's business.
            Ok(_stranger) => {}
            // A client that gave up at once is no reason to wait.
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) if shared.sockets.is_closed() => return,
            // Out of descriptors or memory: others have to end first.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Starts a session, or tells the client why not.
fn welcome(control: TcpStream, shared: &Arc<Shared>, listener: &TcpListener) {
    let Some(control) = shared.sockets.admit(control) else { return };
    let begin = || {
        shared.end_with_the_process(&*control);
        let session = Session::new(Arc::clone(shared), Arc::clone(&control)).ok()?;
        let name = listener.local_addr().map(thread_name).unwrap_or_default();
        let account = shared.account.clone();
        let work = move || {
            let _enrolled = account.enrol();
            session.run();
        };
        threads::start(&name, work).ok()
    };
    if !shared.guests.take_in(shared.limits.sessions, &control, begin) {
        refuse(&control);
    }
}

fn refuse(control: &Arc<TcpStream>) {
    // Who has just connected can be reached.
    let _ = socket::finish_on_close(&**control);
    // A client that does not even hear this has left.
    let _ = data::send_all(control, &BUSY.wire());
}

/// The threads of a server carry its port, so that `ps -T` tells servers apart.
fn thread_name(address: SocketAddr) -> String {
    format!("ftp-{}", address.port())
}

/// Between two attempts to accept on a machine that has nothing left.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) const BUSY: Reply = Reply::new(421, "too many sessions, try again later");

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Whatever the connection was to do when its session ends: there is none.
    #[test]
    fn who_is_refused_hears_why_and_an_orderly_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (control, _) = listener.accept().unwrap();
        socket::reset_on_close(&control).unwrap();
        refuse(&Arc::new(control));
        let mut told = String::new();
        client.read_to_string(&mut told).unwrap();
        assert!(told.starts_with("421 "), "{told}");
    }
}
