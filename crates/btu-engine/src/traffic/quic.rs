//! Flows over QUIC: each is a connection with one unidirectional stream (RFC 9000, 2.1).
//!
//! The threads that carry flows move its two ends on: a call that sends or reads does what the kernel
//! does for TCP by itself, and so do datagrams that come and times that are due. Nothing here sleeps.

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
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
use quinn_proto::Transmit;
use quinn_proto::TransportConfig;
use quinn_proto::VarInt;
use quinn_proto::congestion;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_udp::UdpSocketState;

use super::job::QuicSettings;
use super::pacer::now;
use crate::error::EngineError;
use crate::pinned;
use crate::pinned::refused;
use crate::quic;
use crate::quic::Machine;

pub(super) use quinn_proto::StreamId;

/// One end of the stream of a flow.
#[derive(Debug)]
pub(super) struct QuicEnd {
    machine: Machine<Outbox>,
    stream: Option<StreamId>,
    sends: bool,
}

/// One end of a conversation: a connection whose flows are its bidirectional streams.
#[derive(Debug)]
pub(super) struct QuicTalk {
    machine: Machine<Outbox>,
    waiter: Waiter,
}

/// What both ends of all connections of a job have in common.
pub(super) struct Keys {
    server: Arc<QuicServerConfig>,
    client: Arc<QuicClientConfig>,
}

/// A socket that is never waited for, and the packets that had no room in it.
#[derive(Debug)]
struct Outbox {
    socket: Arc<UdpSocket>,
    state: UdpSocketState,
    left: Option<(Transmit, Vec<u8>)>,
}

impl Keys {
    /// A certificate for this job, which the other ends accept alone.
    pub(super) fn new() -> Result<Self, EngineError> {
        let (server, certificate) = pinned::server()?;
        let client = pinned::client(&certificate)?;
        Ok(Self {
            server: Arc::new(QuicServerConfig::try_from(server).map_err(refused(TLS))?),
            client: Arc::new(QuicClientConfig::try_from(client).map_err(refused(TLS))?),
        })
    }
}

impl QuicEnd {
    /// The receiving end, which waits for its sender, and lets it open so many bidirectional streams.
    pub(super) fn receiver(
        socket: Arc<UdpSocket>,
        keys: &Keys,
        settings: &QuicSettings,
        streams: u32,
    ) -> Result<Self, EngineError> {
        let mut config = ServerConfig::with_crypto(Arc::clone(&keys.server) as _);
        config.transport_config(transport(settings, streams)?);
        let machine = Machine::new(Outbox::new(socket)?, Some(config));
        Ok(Self { machine, stream: None, sends: false })
    }

    /// The sending end, which begins to shake hands.
    pub(super) fn sender(
        socket: Arc<UdpSocket>,
        keys: &Keys,
        settings: &QuicSettings,
        far: SocketAddr,
    ) -> Result<Self, EngineError> {
        let mut config = ClientConfig::new(Arc::clone(&keys.client) as _);
        config.transport_config(transport(settings, 0)?);
        let mut machine = Machine::new(Outbox::new(socket)?, None);
        let begun = machine.connect(config, far);
        begun.map_err(EngineError::peer(format!("connect to {far} by QUIC")))?;
        Ok(Self { machine, stream: None, sends: true })
    }

    /// Whether hands have been shaken; the sender then has its stream.
    pub(super) fn is_met(&mut self) -> io::Result<bool> {
        self.machine.check()?;
        if self.sends && self.stream.is_none() {
            self.stream = quic::opened(self.machine.streams(), Dir::Uni);
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
            self.stream = quic::accepted(self.machine.streams(), Dir::Uni);
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
    pub(super) fn answerer(
        socket: UdpSocket,
        keys: &Keys,
        settings: &QuicSettings,
    ) -> Result<Self, EngineError> {
        let end = QuicEnd::receiver(quiet(socket)?, keys, settings, MOST_STREAMS)?;
        Self::of(end)
    }

    /// The end that asks, which begins to shake hands.
    pub(super) fn asker(
        socket: UdpSocket,
        keys: &Keys,
        settings: &QuicSettings,
        far: SocketAddr,
    ) -> Result<Self, EngineError> {
        let end = QuicEnd::sender(quiet(socket)?, keys, settings, far)?;
        Self::of(end)
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
    pub(super) fn meet(&mut self, patience: Nanos, cancel: &AtomicBool) -> io::Result<()> {
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

    /// Sleeps until something came or is due, and moves on.
    pub(super) fn pause(&mut self, most: Nanos) -> io::Result<()> {
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
    pub(super) fn open(&mut self) -> io::Result<StreamId> {
        let opened = quic::opened(self.machine.streams(), Dir::Bi);
        opened.ok_or_else(|| io::Error::other("the other end allows no more streams"))
    }

    /// A stream that the other end opened.
    pub(super) fn accept(&mut self) -> Option<StreamId> {
        quic::accepted(self.machine.streams(), Dir::Bi)
    }

    /// Gives bytes to a stream.
    pub(super) fn send(&mut self, stream: StreamId, data: &[u8]) -> io::Result<usize> {
        if let Some(taken) = self.machine.write(stream, data)? {
            return Ok(taken);
        }
        self.machine.check()?;
        self.pause(PAUSE)?;
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Takes bytes that came on a stream; 0 at its end.
    pub(super) fn recv(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<usize> {
        let came = self.machine.read(stream, space)?;
        came.map_or_else(|| self.machine.check().and(Err(io::ErrorKind::WouldBlock.into())), Ok)
    }

    /// Says that nothing more is sent on a stream.
    pub(super) fn finish(&mut self, stream: StreamId) {
        // Of a connection that is gone nothing is left to end.
        let _ = self.machine.finish(stream);
    }

    /// Whether the connection is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.machine.check().is_err()
    }

    /// Ends the connection.
    pub(super) fn close(&mut self) {
        // As above.
        let _ = self.machine.close();
    }
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
    let due = machine.due().map(|due| {
        let left = due.saturating_duration_since(Instant::now());
        now().saturating_add(Nanos::from(left))
    });
    due.into_iter().chain(full).min()
}

impl Outbox {
    fn new(socket: Arc<UdpSocket>) -> Result<Self, EngineError> {
        let state = UdpSocketState::new((&*socket).into());
        let state = state.map_err(EngineError::peer("prepare a UDP socket for QUIC"))?;
        Ok(Self { socket, state, left: None })
    }
}

impl quic::Wire for Outbox {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn state(&self) -> &UdpSocketState {
        &self.state
    }

    fn has_room(&mut self) -> io::Result<bool> {
        let Some((transmit, packets)) = self.left.take() else { return Ok(true) };
        if quic::try_send(self, &transmit, &packets)? {
            return Ok(true);
        }
        self.left = Some((transmit, packets));
        Ok(false)
    }

    fn send(&mut self, transmit: &Transmit, packets: &[u8]) -> io::Result<()> {
        if self.left.is_some() || !quic::try_send(self, transmit, packets)? {
            // At most the answer to a stranger finds the place taken: it is lost, as on the way.
            let (transmit, packets) = (clone_of(transmit), packets.to_vec());
            self.left.get_or_insert((transmit, packets));
        }
        Ok(())
    }
}

fn clone_of(transmit: &Transmit) -> Transmit {
    let Transmit { destination, ecn, size, segment_size, src_ip } = *transmit;
    Transmit { destination, ecn, size, segment_size, src_ip }
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
