//! Data connections of the FTP server: passive ones only, to the client of the session only.

use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use btu_sys::socket;
use btu_sys::socket::Settings;

use super::command;
use super::limits;
use super::limits::Limits;
use super::server::Shared;
use super::sink::Sink;
use super::source::Source;
use super::store::StoreError;
use crate::error::EngineError;
use crate::file::account::Account;
use crate::file::sockets::Sockets;
use crate::transport::retried;

/// A place where the client of one session may connect for one transfer.
#[derive(Debug)]
pub(super) struct Passive {
    listener: Arc<TcpListener>,
    address: SocketAddr,
    client: IpAddr,
}

/// The ports for data connections, in turn.
///
/// The system's own choice of a free port passes over each that a connection used in the last
/// minute (`TIME_WAIT`): after some ten thousand transfers it takes milliseconds, then fails. A port
/// that is named may be used again at once, with `SO_REUSEADDR`.
#[derive(Debug)]
pub(super) struct Ports {
    first: u16,
    count: u32,
    next: AtomicU32,
}

/// Why an upload ended early.
#[derive(Debug)]
pub(super) enum Broken {
    /// The data connection.
    Connection(io::Error),
    /// The store takes no more.
    Store(StoreError),
}

impl Passive {
    /// Listens on the address on which the client reached the server.
    pub(super) fn listen(
        control: &TcpStream,
        settings: &Settings,
        limits: &Limits,
        ports: &Ports,
        sockets: &Sockets,
    ) -> Result<Self, EngineError> {
        let (local, client) = ends(control).map_err(EngineError::peer("name a client"))?;
        let listener = ports.listen(local.ip(), settings)?;
        socket::bound_waits(&listener, limits.connect)?;
        let address = listener.local_addr().map_err(EngineError::peer("name a data port"))?;
        let listener = sockets.admit(listener).ok_or_else(ended)?;
        Ok(Self { listener, address, client: client.ip() })
    }

    /// The address for PASV, which knows only IPv4.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.address.ip().to_canonical(), self.address.port())
    }

    /// The client's connection. Somebody else's is closed at once: whoever guesses the port must
    /// not get the file (RFC 2577, 6).
    pub(super) fn accept(
        self,
        limits: &Limits,
        sockets: &Sockets,
    ) -> Result<Arc<TcpStream>, EngineError> {
        let since = Instant::now();
        loop {
            let accepted = retried(|| self.listener.accept());
            let (stream, peer) = accepted.map_err(EngineError::peer("accept a data connection"))?;
            if peer.ip().to_canonical() == self.client.to_canonical() {
                socket::bound_waits(&stream, SLICE.min(limits.data_idle))?;
                return sockets.admit(stream).ok_or_else(ended);
            }
            if since.elapsed() > limits.connect {
                return Err(EngineError::Refused("only strangers connected".to_owned()));
            }
        }
    }
}

impl Ports {
    /// `range` in turn, from somewhere inside: two servers of a host seldom ask for the same port.
    pub(super) fn of(range: &RangeInclusive<u16>, from: u16) -> Self {
        let count = u32::from(range.end().saturating_sub(*range.start())) + 1;
        Self { first: *range.start(), count, next: AtomicU32::new(u32::from(from) % count) }
    }

    fn next(&self) -> u16 {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.count;
        self.first.saturating_add(u16::try_from(turn).unwrap_or_default())
    }

    /// Listens on the next port that nobody listens on.
    fn listen(&self, address: IpAddr, settings: &Settings) -> Result<TcpListener, EngineError> {
        for _ in 0..TRIES {
            match socket::listen(SocketAddr::new(address, self.next()), settings) {
                Err(cause) if cause.kind() == io::ErrorKind::AddrInUse => {}
                outcome => return Ok(outcome?),
            }
        }
        Ok(socket::listen(SocketAddr::new(address, 0), settings)?)
    }
}

fn ends(control: &TcpStream) -> io::Result<(SocketAddr, SocketAddr)> {
    Ok((control.local_addr()?, control.peer_addr()?))
}

fn ended() -> EngineError {
    EngineError::Refused("the FTP server has ended".to_owned())
}

/// The patience of a transfer: how long it may stand still, and whether the client still wants it.
///
/// The data connection blocks for a slice of time at most, and a transfer that moves looks around
/// after so many calls: a short one pays nothing for it.
#[derive(Debug)]
pub(super) struct Patience<'a> {
    control: &'a TcpStream,
    /// Counts what is moved.
    moved: &'a AtomicU64,
    /// Counts the calls.
    account: &'a Account,
    /// Slices without a byte, of at most so many.
    slices: u128,
    most: u128,
    /// What the client had not acknowledged at the last look.
    left: u64,
    /// Calls since the last look at the clock.
    calls: u32,
    looked: Instant,
}

impl<'a> Patience<'a> {
    pub(super) fn of(shared: &'a Shared, control: &'a TcpStream) -> Self {
        let most = shared.limits.data_idle.as_nanos().div_ceil(SLICE.as_nanos());
        let (moved, account) = (&shared.moved, &shared.account);
        Self { control, moved, account, slices: 0, most, left: 0, calls: 0, looked: Instant::now() }
    }

    /// Makes a call again for as long as nothing came of it and there is hope.
    fn wait(
        &mut self,
        data: &TcpStream,
        mut call: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.slices = 0;
        loop {
            self.account.count_call();
            match retried(&mut call) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock && self.has_hope(data) => {}
                Ok(count) => {
                    self.moved.fetch_add(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
                    let called_off = || io::ErrorKind::ConnectionAborted.into();
                    return if self.is_called_off() { Err(called_off()) } else { Ok(count) };
                }
                failed => return failed,
            }
        }
    }

    /// A full send buffer has room for a call only once a good part of it has arrived: until then that counts.
    fn has_hope(&mut self, data: &TcpStream) -> bool {
        let left = socket::unacknowledged(data).unwrap_or(self.left);
        self.slices = if left < self.left { 0 } else { self.slices + 1 };
        self.left = left;
        self.slices < self.most && !is_abandoned(self.control)
    }

    fn is_called_off(&mut self) -> bool {
        self.calls += 1;
        if self.calls < CALLS {
            return false;
        }
        self.calls = 0;
        if self.looked.elapsed() < SLICE {
            return false;
        }
        self.looked = Instant::now();
        is_abandoned(self.control)
    }
}

/// True if the client has said ABOR, or is gone. It may wait for the reply before it closes the
/// data connection (RFC 959, 4.1.3).
fn is_abandoned(control: &TcpStream) -> bool {
    let mut space = [0; limits::LINE];
    let peeked = control.set_nonblocking(true).and_then(|()| control.peek(&mut space));
    let restored = control.set_nonblocking(false);
    match (peeked, restored) {
        (Ok(0), _) | (_, Err(_)) => true,
        (Ok(count), _) => command::asks_to_abort(&space[..count]),
        (Err(cause), _) => cause.kind() != io::ErrorKind::WouldBlock,
    }
}

/// Sends everything that the source has, one call per chunk.
pub(super) fn send(
    data: &TcpStream,
    source: &mut impl Source,
    mut patience: Patience<'_>,
) -> io::Result<()> {
    while let Some(mut rest) = source.chunk() {
        while !rest.is_empty() {
            let sent = patience.wait(data, || socket::send(data.as_fd(), rest))?;
            rest = &rest[sent..];
        }
    }
    Ok(())
}

/// Receives to the end of the stream, one call per buffer.
pub(super) fn receive(
    data: &TcpStream,
    sink: &mut impl Sink,
    mut patience: Patience<'_>,
) -> Result<(), Broken> {
    loop {
        let space = sink.space().map_err(Broken::Store)?;
        let received = patience.wait(data, || socket::recv(data.as_fd(), space));
        match received.map_err(Broken::Connection)? {
            0 => return Ok(()),
            count => sink.filled(count),
        }
    }
}

/// Sends all of `bytes`, in as many calls as it takes.
pub(super) fn send_all(control: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let sent = retried(|| socket::send(control.as_fd(), rest))?;
        rest = &rest[sent..];
    }
    Ok(())
}

/// Ports that are tried by name before the system may choose.
const TRIES: u32 = 64;

/// How many calls a transfer makes before it looks at the clock: 2 MiB.
const CALLS: u32 = 32;

/// How long a transfer stands still, or moves, before it looks around.
const SLICE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// A data port for `client`, and the limits under which it waits.
    fn passive(client: &str, sockets: &Sockets) -> (Passive, Limits) {
        let limits = Limits { connect: Duration::from_millis(50), ..Limits::default() };
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let control = TcpStream::connect(door.local_addr().unwrap()).unwrap();
        let ports = Ports::of(&limits.data_ports, 0);
        let made = Passive::listen(&control, &Settings::default(), &limits, &ports, sockets);
        (Passive { client: client.parse().unwrap(), ..made.unwrap() }, limits)
    }

    #[test]
    fn a_stranger_on_the_data_port_gets_nothing() {
        let sockets = Sockets::default();
        let (passive, limits) = passive("127.0.0.9", &sockets);
        let mut stranger = TcpStream::connect(passive.address()).unwrap();
        passive.accept(&limits, &sockets).unwrap_err();
        let mut read = Vec::new();
        let ended = stranger.read_to_end(&mut read);
        assert!(ended.is_err() || read.is_empty());
    }

    #[test]
    fn the_client_of_the_session_is_let_in() {
        let sockets = Sockets::default();
        let (passive, limits) = passive("127.0.0.1", &sockets);
        let client = TcpStream::connect(passive.address()).unwrap();
        let data = passive.accept(&limits, &sockets).unwrap();
        assert_eq!(data.peer_addr().unwrap(), client.local_addr().unwrap());
    }

    #[test]
    fn ports_come_in_turn_and_again() {
        let ports = Ports::of(&(20_000..=20_002), 1);
        let turns: Vec<u16> = (0..4).map(|_| ports.next()).collect();
        assert_eq!(turns, [20_001, 20_002, 20_000, 20_001]);
        assert_eq!(Ports::of(&(7..=7), 9).next(), 7);
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_passed_over() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let ports = Ports::of(&(address.port()..=address.port()), 0);
        let listener = ports.listen(address.ip(), &Settings::default()).unwrap();
        assert_ne!(listener.local_addr().unwrap().port(), address.port());
    }
}
