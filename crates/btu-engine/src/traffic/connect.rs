//! The connections of a job, all made before anything is sent.

pub(super) mod meetings;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::socket::Effective;

use super::flow::Shared;
use super::job::Carrier;
use super::job::Flow;
use super::job::Job;
use super::job::QuicSettings;
use super::quic::QuicEnd;
use super::receipts::Mark;
use super::way::within;
use crate::error::EngineError;
use crate::time::now;

/// The ends of a flow that are on this host, connected; none blocks.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The sending end; `None` where it is on another host.
    pub(super) near: Option<Socket>,
    /// The receiving end.
    pub(super) far: Option<Socket>,
    /// Bytes that the sending end has said already: its token, or the answer to one.
    pub(super) said: Bytes,
    /// Of datagrams whose other end is on another host: what receipts begin with.
    pub(super) receipts: Option<Mark>,
    pub(super) shared: Arc<Shared>,
}

impl Ends {
    fn both(near: Socket, far: Socket) -> Self {
        Self { near: Some(near), far: Some(far), ..Self::default() }
    }

    /// Those that are here.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.near.iter().chain(&self.far)
    }
}

/// One end.
#[derive(Debug)]
pub(super) enum Socket {
    Stream(TcpStream),
    Datagram(UdpSocket),
    Quic(Arc<HeldQuic>),
}

/// An end of a QUIC connection until the thread takes it that carries its flow.
#[derive(Debug)]
pub(super) struct HeldQuic {
    pub(super) socket: Arc<UdpSocket>,
    congestion: String,
    end: Mutex<Option<Box<QuicEnd>>>,
}

impl Socket {
    /// Takes the end of a QUIC connection, if it is one.
    pub(super) fn take_quic(&self) -> Option<Box<QuicEnd>> {
        let Self::Quic(held) = self else { return None };
        held.end().take()
    }
}

impl HeldQuic {
    pub(super) fn new(socket: Arc<UdpSocket>, settings: &QuicSettings, end: Box<QuicEnd>) -> Self {
        let congestion = settings.congestion.clone().unwrap_or_else(|| "cubic".to_owned());
        Self { socket, congestion, end: Mutex::new(Some(end)) }
    }

    /// The end, as long as no thread took it.
    pub(super) fn end(&self) -> MutexGuard<'_, Option<Box<QuicEnd>>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Buffers are those of the UDP socket, congestion control is the library's.
    pub(super) fn effective(&self) -> Effective {
        Effective { congestion: Some(self.congestion.clone()), ..Effective::of(&*self.socket) }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stream(stream) => stream.as_fd(),
            Self::Datagram(socket) => socket.as_fd(),
            Self::Quic(held) => held.socket.as_fd(),
        }
    }
}

/// Connects every flow, in the order of the job.
pub(super) fn connect(job: &Job<'_>) -> Result<Vec<Ends>, EngineError> {
    let mut ends: Vec<Option<Ends>> = job.flows.iter().map(|_| None).collect();
    let mut listeners = BTreeMap::new();
    let (mut streams, mut over_quic) = (Vec::new(), Vec::new());
    for (number, flow) in job.flows.iter().enumerate() {
        match flow.carrier {
            Carrier::Tcp(_) => streams.push(number),
            Carrier::Udp => ends[number] = Some(datagrams(job, flow)?),
            Carrier::Quic(_) => over_quic.push(number),
        }
    }
    // Some at a time: the queue of a listener is short, and a full one costs a second.
    for group in streams.chunks(AT_ONCE) {
        for (number, pair) in accept_all(job, group, &mut listeners)? {
            ends[number] = Some(pair);
        }
    }
    for (number, pair) in meetings::meet_all(job, &over_quic)? {
        ends[number] = Some(pair);
    }
    for socket in ends.iter().flatten().flat_map(Ends::sockets) {
        blocks_not(socket)?;
    }
    Ok(ends.into_iter().flatten().collect())
}

/// A listening address and port of a host.
type Door = (usize, SocketAddr);

fn door(job: &Job<'_>, flow: &Flow) -> Door {
    let address = flow.address.unwrap_or(job.parties[flow.to].address);
    (flow.to, SocketAddr::new(address, flow.port))
}

/// Begins a group of connections and accepts them, each recognised by where it comes from.
fn accept_all(
    job: &Job<'_>,
    group: &[usize],
    listeners: &mut BTreeMap<Door, TcpListener>,
) -> Result<Vec<(usize, Ends)>, EngineError> {
    let mut begun: Vec<(SocketAddr, usize, TcpStream)> = Vec::new();
    let mut expected: BTreeMap<Door, usize> = BTreeMap::new();
    for number in group {
        let flow = &job.flows[*number];
        let Carrier::Tcp(settings) = &flow.carrier else { continue };
        let door = door(job, flow);
        if let Entry::Vacant(free) = listeners.entry(door) {
            let make = || Ok(socket::listen(door.1, settings)?);
            free.insert(within(&job.parties[flow.to].place, make)?);
        }
        let listening = listeners[&door].local_addr().map_err(EngineError::peer("listen"))?;
        let near = within(&job.parties[flow.from].place, || {
            Ok(socket::begin_connect(listening, settings)?)
        })?;
        mark(flow, &near)?;
        let from =
            near.local_addr().map_err(EngineError::peer(format!("connect to {listening}")))?;
        begun.push((from, *number, near));
        *expected.entry(door).or_default() += 1;
    }
    let deadline = now().saturating_add(PATIENCE);
    let mut pairs = Vec::new();
    for (door, count) in expected {
        for _ in 0..count {
            let (far, from) = accept(job, &listeners[&door], door.1, deadline)?;
            let place = begun.iter().position(|(known, ..)| *known == from);
            let Some(place) = place else {
                return Err(EngineError::Refused(format!("a stranger connected from {from}")));
            };
            let (_, number, near) = begun.swap_remove(place);
            let far = Socket::Stream(far);
            answers_at_once(&job.flows[number], &far)?;
            pairs.push((number, Ends::both(Socket::Stream(near), far)));
        }
    }
    Ok(pairs)
}

/// Waits for one connection, and looks now and then whether anybody still wants it.
fn accept(
    job: &Job<'_>,
    listener: &TcpListener,
    address: SocketAddr,
    deadline: Nanos,
) -> Result<(TcpStream, SocketAddr), EngineError> {
    socket::bound_waits(listener, Duration::from_millis(100))?;
    loop {
        match listener.accept() {
            Ok(accepted) => return Ok(accepted),
            Err(cause) if cause.kind() != io::ErrorKind::WouldBlock => {
                return Err(EngineError::peer(format!("accept on {address}"))(cause));
            }
            Err(_) if job.cancel.load(Relaxed) => {
                return Err(EngineError::Refused(format!("connect to {address}: interrupted")));
            }
            Err(_) if now() > deadline => {
                let seconds = PATIENCE.seconds();
                let cause = format!("connect to {address}: no connection within {seconds} s");
                return Err(EngineError::Refused(cause));
            }
            Err(_) => {}
        }
    }
}

fn datagrams(job: &Job<'_>, flow: &Flow) -> Result<Ends, EngineError> {
    let (_, address) = door(job, flow);
    let far =
        within(&job.parties[flow.to].place, || Ok(socket::bind_udp(address, DATAGRAM_BUFFER)?))?;
    let listening = far.local_addr().map_err(EngineError::peer("bind"))?;
    let near = within(&job.parties[flow.from].place, || {
        let near = socket::bind_udp(any_of(listening), DATAGRAM_BUFFER)?;
        near.connect(listening).map_err(EngineError::peer(format!("connect to {listening}")))?;
        Ok(near)
    })?;
    mark(flow, &near)?;
    if flow.has_receipts {
        let to = near.local_addr().map_err(EngineError::peer("read the address of a socket"))?;
        far.connect(to).map_err(EngineError::peer(format!("connect to {to}")))?;
    }
    Ok(Ends::both(Socket::Datagram(near), Socket::Datagram(far)))
}

/// Any address and port of the family of another.
fn any_of(other: SocketAddr) -> SocketAddr {
    super::meeting::unspecified(other)
}

/// Gives the packets of a sender the code point of the flow.
pub(super) fn mark(flow: &Flow, near: &impl AsFd) -> Result<(), EngineError> {
    match flow.code_point {
        Some(code_point) => Ok(socket::mark_packets(near, code_point)?),
        None => Ok(()),
    }
}

/// Lets the receipt of a block leave before that of the last one was acknowledged (RFC 1122, 4.2.3.4).
pub(super) fn answers_at_once(flow: &Flow, far: &Socket) -> Result<(), EngineError> {
    match far {
        Socket::Stream(stream) if flow.has_receipts => {
            stream.set_nodelay(true).map_err(EngineError::peer("set TCP_NODELAY"))
        }
        Socket::Stream(_) | Socket::Datagram(_) | Socket::Quic(_) => Ok(()),
    }
}

pub(super) fn blocks_not(socket: &Socket) -> Result<(), EngineError> {
    let set = match socket {
        Socket::Stream(stream) => stream.set_nonblocking(true),
        Socket::Datagram(socket) => socket.set_nonblocking(true),
        Socket::Quic(held) => held.socket.set_nonblocking(true),
    };
    set.map_err(EngineError::peer("set O_NONBLOCK"))
}

/// Connections that are begun before the first of them is accepted.
pub(super) const AT_ONCE: usize = 64;
/// How long a connection may take.
pub(super) const PATIENCE: Nanos = Nanos::from_secs(15);
/// What a socket of datagrams asks for; the kernel may give less.
pub(super) const DATAGRAM_BUFFER: usize = 4 << 20;
