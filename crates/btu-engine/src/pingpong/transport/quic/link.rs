//! A QUIC connection and the UDP socket under it, moved on by the thread that uses them.

use std::io;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::sample::SocketOptions;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::wait::Waiter;
use btu_sys::wait::Waker;
use quinn_proto::ClientConfig;
use quinn_proto::Connection;
use quinn_proto::ConnectionError;
use quinn_proto::ConnectionHandle;
use quinn_proto::DatagramEvent;
use quinn_proto::Dir;
use quinn_proto::Endpoint;
use quinn_proto::EndpointConfig;
use quinn_proto::Event;
use quinn_proto::Incoming;
use quinn_proto::ReadError;
use quinn_proto::ServerConfig;
use quinn_proto::StreamId;
use quinn_proto::Transmit;
use quinn_proto::WriteError;
use quinn_udp::RecvMeta;
use quinn_udp::UdpSocketState;

use crate::comm::Seat;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::door;
use crate::pingpong::regulator::Regulator;
use crate::pingpong::regulator::Throttle;
use crate::pingpong::transport::Hookup;
use crate::pingpong::transport::pinned;
use crate::pingpong::transport::socket;

/// One end of at most one connection.
pub(super) struct Link {
    wire: Wire,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Why there is no connection any more.
    lost: Option<ConnectionError>,
    /// The bytes of one receive, and those of one send.
    space: Vec<u8>,
    out: Vec<u8>,
    waiter: Waiter,
    bell: Waker,
    over: Arc<AtomicBool>,
}

/// The socket and what the library for its offloads knows of it.
struct Wire {
    socket: OwnedFd,
    state: UdpSocketState,
    /// Where the host has a policy: what keeps to its rate.
    throttle: Option<Throttle>,
}

impl Link {
    /// A socket of this place, and the address that it got.
    pub(super) fn open(
        hookup: &Hookup<'_>,
        server: Option<ServerConfig>,
    ) -> Result<(Self, SocketAddr), EngineError> {
        let (own, settings) = (hookup.party.address, hookup.settings());
        let open = |port| exchange::datagram((own, port).into(), &settings);
        let (socket, address) =
            if server.is_some() { door::on_free_port(hookup, open)? } else { open(0)? };
        let state = UdpSocketState::new((&socket).into());
        let state = state.map_err(EngineError::peer("prepare a UDP socket for QUIC"))?;
        let (waiter, bell) = (Waiter::new()?, Waker::new()?);
        waiter.add(&socket)?;
        waiter.add(&bell)?;
        let throttle = hookup.held_to().map(|rate| Throttle::new(rate, LARGEST_RECEIVE, None));
        let (config, whole_packets) = (EndpointConfig::default(), !state.may_fragment());
        let link = Self {
            wire: Wire { socket, state, throttle },
            endpoint: Endpoint::new(config.into(), server.map(Arc::new), whole_packets, None),
            connection: None,
            lost: None,
            space: vec![0; LARGEST_RECEIVE],
            out: Vec::new(),
            waiter,
            bell,
            over: Arc::default(),
        };
        Ok((link, address))
    }

    /// Speaks with `far` alone from now on, and proves the token to it where there is one.
    pub(super) fn meet(
        &self,
        far: SocketAddr,
        token: Option<&Seat>,
        deadline: Instant,
    ) -> io::Result<()> {
        exchange::join(&self.wire.socket, far).map_err(io::Error::other)?;
        token.map_or(Ok(()), |seat| door::greet(&self.wire.socket, seat, deadline))
    }

    /// Waits for whoever knows the token, where there is one; no other is answered from then on.
    pub(super) fn hear(&self, hookup: &Hookup<'_>, deadline: Instant) -> io::Result<()> {
        let Some(seat) = &hookup.token else { return Ok(()) };
        door::hear(&self.wire.socket, seat, deadline, hookup.cancel)
    }

    /// Shakes hands with `far` and opens the stream.
    pub(super) fn connect(
        &mut self,
        config: ClientConfig,
        far: SocketAddr,
        deadline: Instant,
    ) -> io::Result<StreamId> {
        let started = self.endpoint.connect(Instant::now(), config, far, pinned::NAME);
        self.connection = Some(started.map_err(io::Error::other)?);
        self.move_on()?;
        self.until(deadline, |link| Ok(link.streams_when_open(|all| all.open(Dir::Bi))))
    }

    /// Shakes hands with whoever comes, and takes the stream that he opens.
    pub(super) fn accept(&mut self, deadline: Instant) -> io::Result<StreamId> {
        self.until(deadline, |link| Ok(link.streams_when_open(|all| all.accept(Dir::Bi))))
    }

    fn streams_when_open(
        &mut self,
        ask: impl FnOnce(&mut quinn_proto::Streams<'_>) -> Option<StreamId>,
    ) -> Option<StreamId> {
        let (_, connection) = self.connection.as_mut()?;
        if connection.is_handshaking() { None } else { ask(&mut connection.streams()) }
    }

    /// Moves on, asleep in between, until `done` gives something.
    pub(super) fn until<T>(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&mut Self) -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        loop {
            if let Some(outcome) = done(self)? {
                return Ok(outcome);
            }
            self.check()?;
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.sleep(Some(deadline))?;
            self.turn()?;
        }
    }

    /// Gives bytes to the stream and sends what may be sent; nothing where there is no room.
    pub(super) fn write(&mut self, stream: StreamId, data: &[u8]) -> io::Result<Option<usize>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(None) };
        match connection.send_stream(stream).write(data) {
            Ok(taken) => self.move_on().map(|()| Some(taken)),
            Err(WriteError::Blocked) => Ok(None),
            Err(cause) => self.check().and(Err(io::Error::new(io::ErrorKind::BrokenPipe, cause))),
        }
    }

    /// Takes bytes that came; nothing where there are none.
    pub(super) fn read(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<Option<usize>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(None) };
        let mut receiving = connection.recv_stream(stream);
        let mut chunks = receiving.read(true).map_err(io::Error::other)?;
        let mut filled = 0;
        let outcome = loop {
            match chunks.next(space.len() - filled) {
                Ok(Some(chunk)) => {
                    let end = filled + chunk.bytes.len();
                    space[filled..end].copy_from_slice(&chunk.bytes);
                    filled = end;
                    if filled == space.len() {
                        break Ok(Some(filled));
                    }
                }
                Ok(None) => break Ok(Some(filled)),
                Err(ReadError::Blocked) => break Ok(Some(filled).filter(|filled| *filled > 0)),
                Err(ReadError::Reset(_)) => break Err(io::ErrorKind::ConnectionReset.into()),
            }
        };
        // Taken bytes may have made room that the other end has to hear of.
        if chunks.finalize().should_transmit() {
            self.move_on()?;
        }
        outcome
    }

    /// Sleeps until a datagram came, something is due, the bell rang, or `limit`.
    pub(super) fn sleep(&mut self, limit: Option<Instant>) -> io::Result<()> {
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let first = due.into_iter().chain(limit).min();
        let left = first.map(|at| at.saturating_duration_since(Instant::now()).as_nanos());
        self.waiter.wait(left.map(|left| u64::try_from(left).unwrap_or(u64::MAX))).map(drop)
    }

    /// Takes what came at once, does what is due, and sends what may be sent. Never sleeps.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.take_datagrams(now)? {
            return self.move_on();
        }
        self.bell.clear();
        let due = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        if due.is_some_and(|due| due <= now) { self.move_on() } else { Ok(()) }
    }

    /// One receive, which may give several datagrams of one sender; false where nothing came.
    fn take_datagrams(&mut self, now: Instant) -> io::Result<bool> {
        let mut meta = RecvMeta::default();
        if !self.wire.receive(&mut self.space, &mut meta)? {
            return Ok(false);
        }
        let came = self.space.get(..meta.len).unwrap_or_default();
        let ecn = meta.ecn.and_then(|mark| quinn_proto::EcnCodepoint::from_bits(mark as u8));
        for datagram in came.chunks(meta.stride.max(1)) {
            self.out.clear();
            let (from, to, data) = (meta.addr, meta.dst_ip, datagram.into());
            match self.endpoint.handle(now, from, to, ecn, data, &mut self.out) {
                None => {}
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    meet(&mut self.endpoint, &self.wire, &mut self.connection, incoming)?;
                }
                Some(DatagramEvent::Response(answer)) => {
                    self.wire.send(&answer, &self.out, &self.over)?;
                }
            }
        }
        Ok(true)
    }

    /// Does what is due and sends what may be sent.
    fn move_on(&mut self) -> io::Result<()> {
        let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
        let now = Instant::now();
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let segments = self.wire.segments();
        self.out.clear();
        while let Some(transmit) = connection.poll_transmit(now, segments, &mut self.out) {
            self.wire.send(&transmit, &self.out, &self.over)?;
            self.out.clear();
        }
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                self.lost = Some(reason);
            }
        }
        Ok(())
    }

    /// An error once there is no connection any more.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.over.load(Relaxed) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.lost.clone().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Ends a sleep from another thread.
    pub(super) fn bell(&self) -> Waker {
        self.bell.clone()
    }

    pub(super) fn aborter(&self) -> Aborter {
        let (over, bell) = (Arc::clone(&self.over), self.bell.clone());
        Aborter::new(move || {
            over.store(true, Relaxed);
            bell.wake();
        })
    }

    /// What sets the rate of the end, where one holds.
    pub(super) fn regulator(&self) -> Option<Regulator> {
        self.wire.throttle.as_ref().map(Throttle::regulator)
    }

    pub(super) fn options(&self) -> SocketOptions {
        socket::options_of(&self.wire.socket)
    }

    /// True where each packet costs a call.
    pub(super) fn lacks_offload(&self) -> bool {
        self.wire.state.max_gso_segments() == 1
    }
}

impl Drop for Link {
    /// Tells the other end, as the kernel does for TCP.
    fn drop(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(Instant::now(), 0_u32.into(), b"".as_slice().into());
            let _ = self.move_on();
        }
    }
}

impl Wire {
    /// False where nothing came.
    fn receive(&self, space: &mut [u8], meta: &mut RecvMeta) -> io::Result<bool> {
        let (mut spaces, metas) = ([IoSliceMut::new(space)], std::slice::from_mut(meta));
        match self.state.recv((&self.socket).into(), &mut spaces, metas) {
            Ok(count) => Ok(count > 0),
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Packets in one call: one where each has to wait for its time.
    fn segments(&self) -> usize {
        self.throttle.as_ref().map_or(self.state.max_gso_segments().min(SEGMENTS), |_| 1)
    }

    /// Sends the packets when their time has come.
    fn send(&mut self, transmit: &Transmit, packets: &[u8], over: &AtomicBool) -> io::Result<()> {
        self.throttle.as_mut().map_or(Ok(()), |one| one.wait(transmit.size, over))?;
        let outcome = self.send_now(transmit, packets, over);
        // Afterwards: while it waited for room in the socket nothing had left.
        self.throttle.iter_mut().for_each(|one| one.sent(transmit.size));
        outcome
    }

    /// Sends the packets, and waits for room in the socket.
    fn send_now(&self, transmit: &Transmit, packets: &[u8], over: &AtomicBool) -> io::Result<()> {
        let transmit = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn.and_then(|mark| quinn_udp::EcnCodepoint::from_bits(mark as u8)),
            contents: packets.get(..transmit.size).unwrap_or_default(),
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        loop {
            match self.state.try_send((&self.socket).into(), &transmit) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                    if over.load(Relaxed) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    exchange::poll(self.socket.as_fd(), Ready::Write, Some(GLANCE))?;
                }
                Err(cause) if cause.raw_os_error().is_some_and(|n| LIKE_A_LOSS.contains(&n)) => {
                    return Ok(());
                }
                outcome => return outcome,
            }
        }
    }
}

/// Takes the first connection and speaks with its other end alone; nobody else is wanted.
fn meet(
    endpoint: &mut Endpoint,
    wire: &Wire,
    connection: &mut Option<(ConnectionHandle, Connection)>,
    incoming: Incoming,
) -> io::Result<()> {
    if connection.is_some() {
        endpoint.ignore(incoming);
        return Ok(());
    }
    let from = incoming.remote_address();
    let met = endpoint.accept(incoming, Instant::now(), &mut Vec::new(), None);
    *connection = Some(met.map_err(|fault| io::Error::from(fault.cause))?);
    exchange::join(&wire.socket, from).map_err(io::Error::other)
}

/// What `UDP_GRO` may put into one receive.
const LARGEST_RECEIVE: usize = 1 << 16;

/// Packets in one call at most: as many as the library's own driver sends.
const SEGMENTS: usize = 10;

/// Errors of a send after which the library sends the packet again, or smaller: EIO and EINVAL of a
/// device without segmentation, EMSGSIZE of a probe for the MTU.
const LIKE_A_LOSS: [i32; 3] = [5, 22, 90];

/// How long a full socket takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);
