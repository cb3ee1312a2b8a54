//! A QUIC connection (RFC 9000) and the UDP socket under it, moved on by whoever uses them.
//!
//! The library is a state machine without sockets, threads or a clock (docs/decisions/0023). A
//! [`Machine`] joins it with a [`Wire`], which says how packets leave; when to sleep is its user's.

use std::fmt;
use std::io;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;

use btu_sys::exchange;
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
use quinn_proto::ReadableError;
use quinn_proto::ServerConfig;
use quinn_proto::StreamEvent;
use quinn_proto::StreamId;
use quinn_proto::Streams;
use quinn_proto::Transmit;
use quinn_proto::WriteError;
use quinn_udp::RecvMeta;
use quinn_udp::UdpSocketState;

use crate::pinned;

/// How packets leave: a socket that blocks, or one that does not.
pub(crate) trait Wire {
    /// The socket.
    fn socket(&self) -> BorrowedFd<'_>;

    /// What the library for its offloads knows of it.
    fn state(&self) -> &UdpSocketState;

    /// Packets in one call at most.
    fn segments(&self) -> usize {
        self.state().max_gso_segments().min(SEGMENTS)
    }

    /// True for a datagram that is not QUIC's, and was dealt with.
    fn takes(&self, _: &[u8]) -> bool {
        false
    }

    /// Whether packets may be sent now.
    fn has_room(&mut self) -> io::Result<bool>;

    /// Sends packets. Where there is no room it keeps them, and has none until they have left.
    fn send(&mut self, transmit: &Transmit, packets: &[u8]) -> io::Result<()>;
}

/// One end of at most one connection.
pub(crate) struct Machine<W> {
    pub(crate) wire: W,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Why there is no connection any more.
    lost: Option<ConnectionError>,
    /// A stream that was finished has arrived as a whole.
    is_delivered: bool,
    /// The bytes of one receive, and those of one send.
    space: Vec<u8>,
    out: Vec<u8>,
}

impl<W: Wire> Machine<W> {
    /// An end without a connection; with a configuration of servers one that waits for it.
    pub(crate) fn new(wire: W, server: Option<ServerConfig>) -> Self {
        let (config, whole_packets) = (EndpointConfig::default(), !wire.state().may_fragment());
        Self {
            endpoint: Endpoint::new(config.into(), server.map(Arc::new), whole_packets, None),
            wire,
            connection: None,
            lost: None,
            is_delivered: false,
            space: vec![0; LARGEST_RECEIVE],
            out: Vec::new(),
        }
    }

    /// Begins to shake hands with `far`.
    pub(crate) fn connect(&mut self, config: ClientConfig, far: SocketAddr) -> io::Result<()> {
        let started = self.endpoint.connect(Instant::now(), config, far, pinned::NAME);
        self.connection = Some(started.map_err(io::Error::other)?);
        self.move_on()
    }

    /// The streams of a connection whose handshake is over.
    pub(crate) fn streams(&mut self) -> Option<Streams<'_>> {
        let (_, connection) = self.connection.as_mut()?;
        if connection.is_handshaking() { None } else { Some(connection.streams()) }
    }

    /// Gives bytes to the stream and sends what may be sent; nothing where there is no room.
    pub(crate) fn write(&mut self, stream: StreamId, data: &[u8]) -> io::Result<Option<usize>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(None) };
        match connection.send_stream(stream).write(data) {
            Ok(taken) => self.move_on().map(|()| Some(taken)),
            Err(WriteError::Blocked) => Ok(None),
            Err(cause) => self.check().and(Err(io::Error::new(io::ErrorKind::BrokenPipe, cause))),
        }
    }

    /// Takes bytes that came: nothing where there are none, 0 at the end of the stream.
    pub(crate) fn read(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<Option<usize>> {
        let Some((_, connection)) = &mut self.connection else { return Ok(None) };
        let mut receiving = connection.recv_stream(stream);
        let mut chunks = match receiving.read(true) {
            Ok(chunks) => chunks,
            // Its end was read before, together with its last bytes.
            Err(ReadableError::ClosedStream) => return Ok(Some(0)),
            Err(cause) => return Err(io::Error::other(cause)),
        };
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

    /// When something is due by itself.
    pub(crate) fn due(&mut self) -> Option<Instant> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
    }

    /// Takes what came at once, does what is due, and sends what may be sent. Never sleeps; true where
    /// something came.
    pub(crate) fn turn(&mut self) -> io::Result<bool> {
        let now = Instant::now();
        if self.take_datagrams(now)? {
            return self.move_on().map(|()| true);
        }
        if self.due().is_some_and(|due| due <= now) {
            self.move_on()?;
        }
        Ok(false)
    }

    /// One receive, which may give several datagrams of one sender; false where nothing came.
    fn take_datagrams(&mut self, now: Instant) -> io::Result<bool> {
        let (mut meta, has_met) = (RecvMeta::default(), self.has_met());
        loop {
            match receive(&self.wire, &mut self.space, &mut meta) {
                Ok(true) => break,
                Ok(false) => return Ok(false),
                // Told once; what came waits behind it.
                Err(cause) if has_met && is_one_of(&cause, &TOLD_BY_ROUTERS) => {}
                Err(cause) => return Err(cause),
            }
        }
        let came = self.space.get(..meta.len).unwrap_or_default();
        let ecn = meta.ecn.and_then(|mark| quinn_proto::EcnCodepoint::from_bits(mark as u8));
        for datagram in came.chunks(meta.stride.max(1)) {
            if self.wire.takes(datagram) {
                continue;
            }
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
                    or_lost(self.wire.send(&answer, &self.out), (), has_met)?;
                }
            }
        }
        Ok(true)
    }

    /// Does what is due and sends what may be sent.
    pub(crate) fn move_on(&mut self) -> io::Result<()> {
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
        let (segments, has_met) = (self.wire.segments(), !connection.is_handshaking());
        while or_lost(self.wire.has_room(), true, has_met)? {
            self.out.clear();
            let Some(transmit) = connection.poll_transmit(now, segments, &mut self.out) else {
                break;
            };
            or_lost(self.wire.send(&transmit, &self.out), (), has_met)?;
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                Event::Stream(StreamEvent::Finished { .. }) => self.is_delivered = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Says that nothing more comes on a stream.
    pub(crate) fn finish(&mut self, stream: StreamId) -> io::Result<()> {
        let Some((_, connection)) = &mut self.connection else { return Ok(()) };
        connection.send_stream(stream).finish().map_err(io::Error::other)?;
        self.move_on()
    }

    /// Whether all of a stream that was finished has arrived.
    pub(crate) const fn is_delivered(&self) -> bool {
        self.is_delivered
    }

    /// Whether hands have been shaken with the other end: there was a way to it then.
    fn has_met(&self) -> bool {
        self.connection.as_ref().is_some_and(|(_, connection)| !connection.is_handshaking())
    }

    /// How many acknowledgements of the other end came.
    pub(crate) fn acknowledgements(&self) -> u64 {
        self.connection.as_ref().map_or(0, |(_, connection)| connection.stats().frame_rx.acks)
    }

    /// Ends the connection in order.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        let Some((_, connection)) = &mut self.connection else { return Ok(()) };
        connection.close(Instant::now(), 0_u32.into(), b"".as_slice().into());
        self.move_on()
    }

    /// An error once there is no connection any more.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.lost.clone().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Whether the other end ended the connection in order.
    pub(crate) const fn is_closed_there(&self) -> bool {
        matches!(self.lost, Some(ConnectionError::ApplicationClosed(_)))
    }

    /// True where each packet costs a call.
    pub(crate) fn lacks_offload(&self) -> bool {
        self.wire.state().max_gso_segments() == 1
    }
}

impl<W> fmt::Debug for Machine<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Machine").field("lost", &self.lost).finish_non_exhaustive()
    }
}

/// One try to send; false where the socket has no room. What the library sends again counts as sent.
pub(crate) fn try_send(wire: &impl Wire, transmit: &Transmit, packets: &[u8]) -> io::Result<bool> {
    let transmit = quinn_udp::Transmit {
        destination: transmit.destination,
        ecn: transmit.ecn.and_then(|mark| quinn_udp::EcnCodepoint::from_bits(mark as u8)),
        contents: packets.get(..transmit.size).unwrap_or_default(),
        segment_size: transmit.segment_size,
        src_ip: transmit.src_ip,
    };
    match wire.state().try_send((&wire.socket()).into(), &transmit) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(cause) if is_one_of(&cause, &LIKE_A_LOSS) => Ok(true),
        Err(cause) => Err(cause),
    }
}

/// A send that failed on a path that has worked before: the packets are lost, as on the way, and the library finds
/// that out and sends them again. TCP, too, outlives a route that is gone for a while, a full queue or a filter.
fn or_lost<T>(outcome: io::Result<T>, lost: T, has_met: bool) -> io::Result<T> {
    match outcome {
        Err(cause) if has_met && is_of_the_path(&cause) => Ok(lost),
        outcome => outcome,
    }
}

/// Whether the system refused a packet for another reason than that it was asked wrongly.
fn is_of_the_path(cause: &io::Error) -> bool {
    cause.raw_os_error().is_some() && !is_one_of(cause, &OF_THE_PROGRAM)
}

fn is_one_of(cause: &io::Error, numbers: &[i32]) -> bool {
    cause.raw_os_error().is_some_and(|number| numbers.contains(&number))
}

/// False where nothing came.
fn receive(wire: &impl Wire, space: &mut [u8], meta: &mut RecvMeta) -> io::Result<bool> {
    let (mut spaces, metas) = ([IoSliceMut::new(space)], std::slice::from_mut(meta));
    match wire.state().recv((&wire.socket()).into(), &mut spaces, metas) {
        Ok(count) => Ok(count > 0),
        Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Takes the first connection and speaks with its other end alone; nobody else is wanted.
fn meet(
    endpoint: &mut Endpoint,
    wire: &impl Wire,
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
    exchange::join(&wire.socket(), from).map_err(io::Error::other)
}

/// The stream of a kind that the other end opened next.
pub(crate) fn accepted(streams: Option<Streams<'_>>, kind: Dir) -> Option<StreamId> {
    streams.and_then(|mut streams| streams.accept(kind))
}

/// The next stream of a kind that this end opens.
pub(crate) fn opened(streams: Option<Streams<'_>>, kind: Dir) -> Option<StreamId> {
    streams.and_then(|mut streams| streams.open(kind))
}

/// What `UDP_GRO` may put into one receive.
pub(crate) const LARGEST_RECEIVE: usize = 1 << 16;

/// Packets in one call at most: as many as the library's own driver sends.
pub(crate) const SEGMENTS: usize = 10;

/// Errors of a send after which the library sends the packet again, or smaller: EIO and EINVAL of a
/// device without segmentation, EMSGSIZE of a probe for the MTU, ENOMEM and ENOBUFS of a queue without room.
const LIKE_A_LOSS: [i32; 5] = [5, 12, 22, 90, 105];

/// Errors of a send that no path explains: EBADF, EFAULT, EPIPE, ENOTSOCK, EDESTADDRREQ, EPROTOTYPE, EAFNOSUPPORT and
/// ENOTCONN.
const OF_THE_PROGRAM: [i32; 8] = [9, 14, 32, 88, 89, 91, 97, 107];

/// What a message of ICMP makes of the next call of a connected socket, whichever that is (`icmp_err_convert` and
/// `icmpv6_err_convert` of Linux): EACCES, ENONET, EPROTO, EMSGSIZE, ENOPROTOOPT, EOPNOTSUPP, ENETUNREACH,
/// ECONNREFUSED, EHOSTDOWN and EHOSTUNREACH.
const TOLD_BY_ROUTERS: [i32; 10] = [13, 64, 71, 90, 92, 95, 101, 111, 112, 113];
