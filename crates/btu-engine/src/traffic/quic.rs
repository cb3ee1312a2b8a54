//! Flows over QUIC: each is a connection with one stream, unidirectional unless its blocks are answered (RFC 9000, 2.1).
//!
//! The threads that carry flows move its two ends on: a call that sends or reads does what the kernel
//! does for TCP by itself, and so do datagrams that come and times that are due. Nothing here sleeps.

mod outbox;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::wait::Waiter;
use quinn_proto::ClientConfig;
use quinn_proto::Dir;
use quinn_proto::ServerConfig;
use quinn_proto::TransportConfig;
use quinn_proto::VarInt;
use quinn_proto::congestion;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::rustls::QuicServerConfig;

use self::outbox::Outbox;
use super::job::QuicSettings;
use crate::error::EngineError;
use crate::pinned;
use crate::pinned::refused;
use crate::quic;
use crate::quic::Machine;
use crate::time::now;

pub(crate) use quinn_proto::StreamId;

/// One end of the stream of a flow.
#[derive(Debug)]
pub(super) struct QuicEnd {
    machine: Machine<Outbox>,
    stream: Option<StreamId>,
    half: Half,
    dir: Dir,
}

/// One end of a conversation: a connection whose flows are its bidirectional streams.
#[derive(Debug)]
pub(crate) struct QuicTalk {
    machine: Machine<Outbox>,
    waiter: Waiter,
}

/// What the ends of a job show that are waited at: the ends that connect accept this certificate alone.
#[derive(Clone)]
pub struct Keys {
    server: Arc<QuicServerConfig>,
    certificate: Arc<[u8]>,
}

/// What an end that connects accepts.
pub(crate) struct Trust(Arc<QuicClientConfig>);

/// Which end of a stream an end of a connection has, whoever of both connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Reads,
    Sends,
}

impl Keys {
    /// A key that this job alone has.
    ///
    /// # Errors
    /// This build leaves QUIC out, or its library makes no certificate.
    pub fn new() -> Result<Self, EngineError> {
        let (server, certificate) = pinned::server()?;
        let server = Arc::new(QuicServerConfig::try_from(server).map_err(refused(TLS))?);
        Ok(Self { server, certificate: certificate.into() })
    }

    /// What the ends that connect have to know.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Keys")
    }
}

impl Trust {
    /// In whoever has the key of this certificate.
    pub(crate) fn of(certificate: &[u8]) -> Result<Self, EngineError> {
        let client = QuicClientConfig::try_from(pinned::client(certificate)?);
        Ok(Self(Arc::new(client.map_err(refused(TLS))?)))
    }
}

impl QuicEnd {
    /// The end that waits for the other one, and lets it open so many bidirectional streams.
    pub(super) fn awaiting(
        socket: Arc<UdpSocket>,
        keys: &Keys,
        (settings, streams): (&QuicSettings, u32),
        half: Half,
    ) -> Result<Self, EngineError> {
        let mut config = ServerConfig::with_crypto(Arc::clone(&keys.server) as _);
        config.transport_config(transport(settings, streams)?);
        let machine = Machine::new(Outbox::new(socket, settings.held_to)?, Some(config));
        Ok(Self { machine, stream: None, half, dir: dir(streams) })
    }

    /// The end that connects, lets the other one open so many bidirectional streams, and begins to shake hands.
    pub(super) fn calling(
        socket: Arc<UdpSocket>,
        trust: &Trust,
        (settings, streams, far): (&QuicSettings, u32, SocketAddr),
        half: Half,
    ) -> Result<Self, EngineError> {
        let mut config = ClientConfig::new(Arc::clone(&trust.0) as _);
        config.transport_config(transport(settings, streams)?);
        let mut machine = Machine::new(Outbox::new(socket, settings.held_to)?, None);
        let begun = machine.connect(config, far);
        begun.map_err(EngineError::peer(format!("connect to {far} by QUIC")))?;
        Ok(Self { machine, stream: None, half, dir: dir(streams) })
    }

    /// Whether hands have been shaken; the end that sends then has its stream.
    pub(super) fn is_met(&mut self) -> io::Result<bool> {
        self.machine.check()?;
        if self.half == Half::Sends && self.stream.is_none() {
            self.stream = quic::opened(self.machine.streams(), self.dir);
        }
        Ok(self.machine.streams().is_some())
    }

    /// Takes what came, does what is due and sends what may be sent.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        turn(&mut self.machine)
    }

    /// When it wants a turn although nothing came.
    pub(super) fn due(&mut self) -> Option<Nanos> {
        due(&mut self.machine)
    }

    /// Gives bytes to the stream.
    pub(super) fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        let Some(stream) = self.stream else { return Err(io::ErrorKind::NotConnected.into()) };
        let taken = self.machine.write(stream, data)?;
        self.machine.check()?;
        taken.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Takes bytes that came; 0 at the end of the stream.
    pub(super) fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.stream.is_none() {
            self.stream = quic::accepted(self.machine.streams(), self.dir);
        }
        let came = self.stream.map(|stream| self.machine.read(stream, space));
        match came.transpose()?.flatten() {
            Some(count) => Ok(count),
            // A sender that was cut short says so by the end of its connection.
            None if self.machine.is_closed_there() => Ok(0),
            None => self.machine.check().and(Err(io::ErrorKind::WouldBlock.into())),
        }
    }

    /// Says that nothing more is sent.
    pub(super) fn finish(&mut self) {
        // Of a connection that is gone nothing is left to end.
        let _ = self.stream.map(|stream| self.machine.finish(stream));
    }

    /// Whether something that was sent has not arrived and still may.
    pub(super) fn delivers(&self) -> bool {
        self.stream.is_some() && !self.machine.is_delivered() && self.machine.check().is_ok()
    }

    /// What the other end has said of what came there: it grows while something arrives.
    pub(super) fn acknowledgements(&self) -> u64 {
        self.machine.acknowledgements()
    }

    /// Whether the connection is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.machine.check().is_err()
    }

    /// Ends the connection, whatever is still on its way.
    pub(super) fn close(&mut self) {
        // As above.
        let _ = self.machine.close();
    }
}

impl QuicTalk {
    /// The end that answers.
    pub(crate) fn answerer(
        socket: UdpSocket,
        keys: &Keys,
        settings: &QuicSettings,
    ) -> Result<Self, EngineError> {
        let settings = (settings, MOST_STREAMS);
        Self::of(QuicEnd::awaiting(quiet(socket)?, keys, settings, Half::Reads)?)
    }

    /// The end that asks, which begins to shake hands.
    pub(crate) fn asker(
        socket: UdpSocket,
        trust: &Trust,
        settings: &QuicSettings,
        far: SocketAddr,
    ) -> Result<Self, EngineError> {
        // It opens a stream for each of its flows, when that begins.
        Self::of(QuicEnd::calling(quiet(socket)?, trust, (settings, 0, far), Half::Reads)?)
    }

    fn of(end: QuicEnd) -> Result<Self, EngineError> {
        let waiter = Waiter::new()?;
        waiter.add(&end.machine.wire.socket)?;
        Ok(Self { machine: end.machine, waiter })
    }

    /// What is read from.
    pub(super) fn socket(&self) -> &UdpSocket {
        &self.machine.wire.socket
    }

    /// Shakes hands.
    pub(crate) fn meet(&mut self, patience: Nanos, cancel: &AtomicBool) -> io::Result<()> {
        let deadline = now().saturating_add(patience);
        while self.machine.streams().is_none() {
            self.machine.check()?;
            if cancel.load(Relaxed) || now() > deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.pause(PAUSE)?;
        }
        Ok(())
    }

    /// Moves on until a moment has come, or nobody wants it any more.
    pub(super) fn idle_until(&mut self, moment: Nanos, cancel: &AtomicBool) -> io::Result<()> {
        loop {
            let left = moment.since(now());
            if left == Nanos::ZERO || cancel.load(Relaxed) {
                return Ok(());
            }
            self.pause(left.min(PAUSE))?;
        }
    }

    /// Sleeps until something came or is due, and moves on.
    pub(crate) fn pause(&mut self, most: Nanos) -> io::Result<()> {
        let wait = self.due().map_or(most, |due| due.since(now()).min(most));
        self.waiter.wait(Some(wait.count()))?;
        self.turn()
    }

    /// Takes what came, does what is due and sends what may be sent.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        turn(&mut self.machine)
    }

    /// When it wants a turn although nothing came.
    pub(super) fn due(&mut self) -> Option<Nanos> {
        due(&mut self.machine)
    }

    /// A new stream.
    pub(crate) fn open(&mut self) -> io::Result<StreamId> {
        let opened = quic::opened(self.machine.streams(), Dir::Bi);
        opened.ok_or_else(|| io::Error::other("the other end allows no more streams"))
    }

    /// A stream that the other end opened.
    pub(crate) fn accept(&mut self) -> Option<StreamId> {
        quic::accepted(self.machine.streams(), Dir::Bi)
    }

    /// Gives bytes to a stream.
    pub(crate) fn send(&mut self, stream: StreamId, data: &[u8]) -> io::Result<usize> {
        if let Some(taken) = self.machine.write(stream, data)? {
            return Ok(taken);
        }
        self.machine.check()?;
        self.pause(PAUSE)?;
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Takes bytes that came on a stream; 0 at its end.
    pub(crate) fn recv(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<usize> {
        let came = self.machine.read(stream, space)?;
        came.map_or_else(|| self.machine.check().and(Err(io::ErrorKind::WouldBlock.into())), Ok)
    }

    /// Says that nothing more is sent on a stream.
    pub(crate) fn finish(&mut self, stream: StreamId) {
        // Of a connection that is gone nothing is left to end.
        let _ = self.machine.finish(stream);
    }

    /// Whether the connection is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.machine.check().is_err()
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        // As above.
        let _ = self.machine.close();
    }
}

/// Of the stream of a flow whose other end may open so many that go both ways.
const fn dir(streams: u32) -> Dir {
    if streams > 0 { Dir::Bi } else { Dir::Uni }
}

/// A socket that never blocks.
fn quiet(socket: UdpSocket) -> Result<Arc<UdpSocket>, EngineError> {
    socket.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    Ok(Arc::new(socket))
}

fn turn(machine: &mut Machine<Outbox>) -> io::Result<()> {
    for _ in 0..AT_ONCE {
        if !machine.turn()? {
            // What had no room before may have it now.
            return machine.move_on();
        }
    }
    Ok(())
}

fn due(machine: &mut Machine<Outbox>) -> Option<Nanos> {
    let full = machine.wire.left.is_some().then(|| now().saturating_add(FULL));
    let full = machine.wire.held_until.or(full);
    let due = machine.due().map(|due| {
        let left = due.saturating_duration_since(Instant::now());
        now().saturating_add(Nanos::from(left))
    });
    due.into_iter().chain(full).min()
}

/// The defaults of the library, but a connection may be silent, and holds as many bytes at each end as
/// the settings say.
fn transport(settings: &QuicSettings, streams: u32) -> Result<Arc<TransportConfig>, EngineError> {
    let window = settings.window.unwrap_or(WINDOW).count();
    let too_large = |_| EngineError::Refused(format!("a window of {window} B: too large for QUIC"));
    let mut config = TransportConfig::default();
    config.max_idle_timeout(None);
    // The library keeps a place for each from the beginning.
    config.max_concurrent_bidi_streams(streams.into());
    config.send_window(window);
    config.stream_receive_window(VarInt::try_from(window).map_err(too_large)?);
    match settings.congestion.as_deref() {
        None | Some("cubic") => {}
        Some("reno") => {
            let reno = congestion::NewRenoConfig::default();
            config.congestion_controller_factory(Arc::new(reno));
        }
        Some("bbr") => {
            config.congestion_controller_factory(Arc::new(congestion::BbrConfig::default()));
        }
        Some(other) => {
            let cause = format!("congestion control {other}: QUIC has cubic, reno or bbr");
            return Err(EngineError::Refused(cause));
        }
    }
    Ok(Arc::new(config))
}

const TLS: &str = "use TLS in QUIC";
/// What a stream may hold where nothing is said: 100 Mb/s for 100 ms, the library's own.
const WINDOW: Bytes = Bytes::new(1_250_000);
/// Receives in one turn: other connections of the thread have to go on as well.
const AT_ONCE: usize = 64;
/// Streams of one conversation at once.
const MOST_STREAMS: u32 = 1000;
/// How long a wait for the other end takes before others are looked after.
const PAUSE: Nanos = Nanos::from_millis(20);
/// When a socket without room is tried again.
const FULL: Nanos = Nanos::from_millis(1);

#[cfg(test)]
mod tests;
