//! Ways to move bytes between two processes, each by its own file, and the registry of them.
//!
//! The registry holds trait objects, so that plans, listings and tests can loop over it. A
//! [`Connection`] is erased too, but its loops are compiled for the concrete [`Channel`]: inside
//! them there is no virtual call.

mod tcp;

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::time::Duration;

use btu_core::sample::SocketOptions;
use btu_core::units::Bytes;
use btu_sys::socket::Settings;
use btu_sys::tcp_info::TcpInfo;

use crate::comm::stream;
use crate::comm::stream::Incoming;
use crate::comm::stream::Outgoing;
use crate::comm::stream::Received;
use crate::comm::stream::Sent;
use crate::error::EngineError;

pub use tcp::Tcp;

/// Every transport of this build, in the order in which `btu list` shows them.
pub static TRANSPORTS: &[&dyn Transport] = &[&Tcp];

/// The transport called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Transport> {
    TRANSPORTS.iter().copied().find(|transport| transport.name() == name)
}

/// A way to move bytes.
///
/// To add one: a file with a [`Channel`], a [`Listener`] and this trait, and a line in
/// [`TRANSPORTS`]. The conformance suite then holds it to the contract: what is sent arrives
/// complete and in order, the end of sending is seen as the end of the stream, nothing waits for
/// ever once [`Channel::abort`] was called, for every size of `message_sizes`.
pub trait Transport: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// The sizes of a message that one call can carry.
    fn message_sizes(&self) -> RangeInclusive<Bytes>;

    /// Why this machine cannot use it; `Ok` where it can.
    fn available(&self) -> Result<(), EngineError>;

    /// Listens on `address`; port 0 chooses a free one. Accepted connections have the `settings`.
    fn listen(
        &self,
        address: SocketAddr,
        settings: &Settings,
    ) -> Result<Box<dyn Listener>, EngineError>;

    /// Connects within `timeout`; the `settings` are made before.
    fn connect(
        &self,
        address: SocketAddr,
        settings: &Settings,
        timeout: Duration,
    ) -> Result<Box<dyn Connection>, EngineError>;
}

/// Waits for connections.
pub trait Listener: AsFd + Debug + Send + Sync {
    /// Where it listens.
    fn address(&self) -> Result<SocketAddr, EngineError>;

    /// Waits for the next connection, until one comes or [`Listener::abort`] is called.
    fn accept(&self) -> Result<Box<dyn Connection>, EngineError>;

    /// From now on an `accept` that would have to wait fails: for whoever waits for the descriptor instead.
    fn never_wait(&self) -> Result<(), EngineError>;

    /// Ends the waiting, for ever. May be called from any thread.
    fn abort(&self);
}

/// What the timed loop of a writer calls: one call of the system, blocking, without a timeout.
pub trait Sending {
    /// Takes at most `data`, returns how much it took.
    fn send(&self, data: &[u8]) -> io::Result<usize>;
}

/// What the timed loop of a reader calls: one call of the system, blocking, without a timeout.
pub trait Receiving {
    /// Gives at most `space` bytes; 0 is the end of the stream.
    fn recv(&self, space: &mut [u8]) -> io::Result<usize>;

    /// The same in two calls: waits until there is something, then gives that without waiting for more. One
    /// call, where waiting is the business of `recv` alone.
    fn recv_ready(&self, space: &mut [u8]) -> io::Result<usize> {
        self.recv(space)
    }

    /// Bytes that are there already; none where nobody can tell.
    fn waiting(&self) -> u64 {
        0
    }
}

/// One end of a connection: the calls that the timed loops make, and what the kernel says of it.
///
/// `send` and `recv` may be called by different threads at once, one of each. Whoever calls may have no other file open than
/// that of [`AsFd`].
pub trait Channel: Sending + Receiving + AsFd + Debug + Send + Sync {
    /// Nothing more will be sent; the peer sees the end after the last byte.
    fn close_sending(&self) -> io::Result<()>;

    /// Ends both directions at once: every blocked call returns, on this end at least.
    fn abort(&self);

    /// The options in effect.
    fn options(&self) -> SocketOptions;

    /// The kernel's account; `None` for a transport that has none.
    fn tcp_info(&self) -> Option<TcpInfo>;

    /// Addresses of this end and of the other; `None` for a transport without any.
    fn ends(&self) -> Option<[SocketAddr; 2]> {
        None
    }

    /// Bytes taken by `send` and not yet known to have arrived.
    fn unacknowledged(&self) -> Option<u64>;
}

/// A channel whose type is forgotten; its loops were compiled before that.
pub trait Connection: Channel {
    /// Writes messages until their number is reached or it is told to stop.
    fn send_messages(&self, order: &Outgoing<'_>) -> io::Result<Sent>;

    /// Reads to the end of the stream.
    fn receive_messages(&self, order: Incoming<'_>) -> io::Result<Received>;
}

impl<C: Channel> Connection for C {
    fn send_messages(&self, order: &Outgoing<'_>) -> io::Result<Sent> {
        stream::send_messages(self, order)
    }

    fn receive_messages(&self, order: Incoming<'_>) -> io::Result<Received> {
        stream::receive_messages(self, order)
    }
}

/// Sends all of `data`, in as many calls as it takes.
pub fn send_exact(channel: &(impl Channel + ?Sized), data: &[u8]) -> io::Result<()> {
    let mut rest = data;
    while !rest.is_empty() {
        let sent = retried(|| channel.send(rest))?;
        rest = &rest[sent..];
    }
    Ok(())
}

/// Fills all of `space`; an end of the stream before that is an error.
pub fn recv_exact(channel: &(impl Channel + ?Sized), space: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < space.len() {
        match retried(|| channel.recv(&mut space[filled..]))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => filled += got,
        }
    }
    Ok(())
}

/// Repeats a call that a signal interrupted.
pub(crate) fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
