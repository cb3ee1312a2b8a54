//! How the ends of a job on two hosts find each other: one host listens and the other connects, for
//! either direction of traffic, and every connection begins with its token.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::connect::DATAGRAM_BUFFER;
use super::connect::PATIENCE;
use super::connect::Socket;
use super::connect::answers_at_once;
use super::connect::blocks_not;
use super::connect::mark;
use super::connect::meetings;
use super::connect::meetings::Shaking;
use super::hands::join;
use super::hands::start;
use super::job::Carrier;
use super::job::Flow;
use super::job::QuicSettings;
use super::quic::Half;
use super::quic::Keys;
use super::quic::QuicEnd;
use super::quic::Trust;
use super::receipts::Mark;
use super::side::Side;
use crate::door;
use crate::door::Hall;
use crate::door::Seat;
use crate::door::Stranger;
use crate::error::EngineError;

/// Where and how a host receives others.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The address.
    pub address: IpAddr,
    /// Ports to listen on, the first and the last; `None` for any.
    pub ports: Option<(u16, u16)>,
    /// What every connection must know; its `flow` is the number of the flow in the job.
    pub seat: Seat,
}

/// Where a flow is received, and what it has to know there.
#[derive(Clone, Debug)]
pub struct Door {
    /// Address and port.
    pub at: SocketAddr,
    /// What is said first.
    pub seat: Seat,
    /// Whom QUIC accepts there; nobody where there is none.
    pub certificate: Option<Arc<[u8]>>,
}

/// A host that listens for the flows of a job.
#[derive(Debug)]
pub struct Reception {
    reach: Reach,
    /// One for all streams with the same options.
    listeners: Vec<(Settings, TcpListener)>,
    /// Those of datagrams, and those under QUIC.
    datagrams: Vec<(usize, UdpSocket)>,
    ports: Vec<Option<u16>>,
    keys: Option<Keys>,
}

impl Reception {
    /// Listens for those flows that have an end at the party `here`; `keys` are for those over QUIC.
    ///
    /// # Errors
    /// No port is free, or an option is refused.
    pub fn open(
        flows: &[Flow],
        here: usize,
        reach: Reach,
        keys: Option<Keys>,
    ) -> Result<Self, EngineError> {
        let (listeners, datagrams, ports) = (Vec::new(), Vec::new(), Vec::new());
        let mut own = Self { reach, listeners, datagrams, ports, keys };
        for (number, flow) in flows.iter().enumerate() {
            let is_here = flow.from == here || flow.to == here;
            let port = if is_here { Some(own.listen(number, flow)?) } else { None };
            own.ports.push(port);
        }
        Ok(own)
    }

    /// The port of each flow of the job; `None` for those without an end here.
    pub fn ports(&self) -> &[Option<u16>] {
        &self.ports
    }

    fn listen(&mut self, number: usize, flow: &Flow) -> Result<u16, EngineError> {
        let Reach { address, ports, .. } = self.reach;
        match &flow.carrier {
            Carrier::Tcp(settings) => {
                let known = self.listeners.iter().find(|(known, _)| known == settings);
                if let Some((_, listener)) = known {
                    return port_of(listener.local_addr());
                }
                let open = |port| socket::listen((address, port).into(), settings);
                let listener = door::on_free_port(ports, open)?;
                let port = port_of(listener.local_addr());
                self.listeners.push((settings.clone(), listener));
                port
            }
            Carrier::Quic(_) if self.keys.is_none() => Err(no_certificate()),
            Carrier::Quic(_) | Carrier::Udp => {
                let open = |port| socket::bind_udp((address, port).into(), DATAGRAM_BUFFER);
                let socket = door::on_free_port(ports, open)?;
                let port = port_of(socket.local_addr());
                self.datagrams.push((number, socket));
                port
            }
        }
    }

    /// Waits until every flow is there; strangers hear nothing.
    ///
    /// # Errors
    /// Not all came in time.
    pub fn receive(
        self,
        flows: &[Flow],
        here: usize,
        cancel: &AtomicBool,
    ) -> Result<Side, EngineError> {
        let end = Instant::now() + Duration::from(PATIENCE);
        let Self { reach, listeners, datagrams, keys, .. } = self;
        let is_stream = |flow: &Flow| matches!(flow.carrier, Carrier::Tcp(_));
        let is_here = |flow: &Flow| flow.from == here || flow.to == here;
        let awaited = flows.iter().enumerate().filter(|(_, flow)| is_stream(flow) && is_here(flow));
        let awaited: BTreeSet<usize> = awaited.map(|(number, _)| number).collect();
        let (streams, sockets) = thread::scope(|scope| {
            let streams = start(scope, "traffic-admit", || {
                admit(&listeners, awaited, reach.seat, end, cancel)
            });
            let hear = |(number, socket): (usize, UdpSocket)| -> Result<_, EngineError> {
                let socket = OwnedFd::from(socket);
                let seat = Seat { flow: flow_number(number)?, ..reach.seat };
                door::hear(&socket, &seat, end, cancel).map_err(|cause| {
                    if cancel.load(Relaxed) {
                        return unwanted(&BTreeSet::from([number]));
                    }
                    EngineError::peer(format!("wait for flow {number}"))(cause)
                })?;
                Ok((number, Socket::Datagram(UdpSocket::from(socket))))
            };
            let sockets = side_by_side(datagrams, &hear);
            (join(streams), sockets)
        });
        let sockets = over_quic(flows, here, sockets?, cancel, &|_, settings, half, socket| {
            QuicEnd::awaiting(socket, keys.as_ref().ok_or_else(no_certificate)?, settings, half)
        })?;
        let sockets = streams?.into_iter().chain(sockets);
        side(flows, here, door::ANSWER, &|_| Some(reach.seat), sockets)
    }
}

/// Connects every flow to the door of the same number.
///
/// # Errors
/// One was not received.
pub fn call(flows: &[Flow], here: usize, doors: &[Door]) -> Result<Side, EngineError> {
    let end = Instant::now() + Duration::from(PATIENCE);
    let all: Vec<(usize, (&Flow, &Door))> = flows.iter().zip(doors).enumerate().collect();
    let connect = |(number, (flow, door)): (usize, (&Flow, &Door))| -> Result<_, EngineError> {
        let seat = Seat { flow: flow_number(number)?, ..door.seat };
        let socket = match &flow.carrier {
            Carrier::Tcp(settings) => {
                let patience = Duration::from(PATIENCE);
                let connect = || Ok((socket::connect(door.at, settings, patience)?, end));
                Socket::Stream(door::introduced(&seat, &door.at, connect)?)
            }
            Carrier::Quic(_) | Carrier::Udp => Socket::Datagram(greeted(door.at, &seat, end)?),
        };
        Ok((number, socket))
    };
    let sockets = side_by_side(all, &connect)?;
    let cancel = AtomicBool::new(false);
    let sockets = over_quic(flows, here, sockets, &cancel, &|number, settings, half, socket| {
        let (settings, streams) = settings;
        let door = doors.get(number).ok_or_else(no_certificate)?;
        let trust = Trust::of(door.certificate.as_deref().ok_or_else(no_certificate)?)?;
        QuicEnd::calling(socket, &trust, (settings, streams, door.at), half)
    })?;
    let seat = |number: usize| doors.get(number).map(|door| door.seat);
    side(flows, here, door::WORDS, &seat, sockets)
}

/// A socket whose far end knows the token, too.
pub(super) fn greeted(at: SocketAddr, seat: &Seat, end: Instant) -> Result<UdpSocket, EngineError> {
    let socket = socket::bind_udp(unspecified(at), DATAGRAM_BUFFER)?;
    socket.connect(at).map_err(EngineError::peer(format!("connect to {at}")))?;
    let socket = OwnedFd::from(socket);
    let greeted = door::greet(&socket, seat, end);
    greeted.map_err(EngineError::peer(format!("show the token to {at}")))?;
    Ok(UdpSocket::from(socket))
}

/// An end of a connection over a socket that has its other end.
type Beginning<'a> =
    &'a dyn Fn(usize, (&QuicSettings, u32), Half, Arc<UdpSocket>) -> Result<QuicEnd, EngineError>;

/// The same sockets; those of flows over QUIC have shaken hands.
fn over_quic(
    flows: &[Flow],
    here: usize,
    sockets: Vec<(usize, Socket)>,
    cancel: &AtomicBool,
    begin: Beginning<'_>,
) -> Result<Vec<(usize, Socket)>, EngineError> {
    let (mut own, mut shaking) = (Vec::new(), Vec::new());
    for (number, socket) in sockets {
        match (flows.get(number).map(|flow| (flow, &flow.carrier)), socket) {
            (Some((flow, Carrier::Quic(settings))), Socket::Datagram(socket)) => {
                let half = if flow.from == here { Half::Sends } else { Half::Reads };
                shaking.push(Shaking::begin((number, settings), socket, |socket| {
                    begin(number, (settings, flow.answering_streams()), half, socket)
                })?);
            }
            (_, socket) => own.push((number, socket)),
        }
    }
    own.extend(meetings::shake_hands(shaking, cancel)?);
    Ok(own)
}

/// Puts every socket at the end of its flow that is here; on streams `said` bytes went before it.
fn side(
    flows: &[Flow],
    here: usize,
    said: usize,
    seat: &dyn Fn(usize) -> Option<Seat>,
    sockets: impl IntoIterator<Item = (usize, Socket)>,
) -> Result<Side, EngineError> {
    let mut side = Side::new(flows.len());
    for (number, socket) in sockets {
        let (Some(flow), Some(seat)) = (flows.get(number), seat(number)) else { continue };
        blocks_not(&socket)?;
        if flow.from == here {
            mark(flow, &socket)?;
        } else {
            answers_at_once(flow, &socket)?;
        }
        let said = Bytes::new(u64::try_from(said).unwrap_or(0));
        let mark = Mark::of(&Seat { flow: flow_number(number)?, ..seat });
        side.put(number, flow.from == here, socket, (said, mark));
    }
    side.keep()?;
    Ok(side)
}

/// Hears all that connect, and lets those in that know the token of a flow that is awaited.
fn admit(
    listeners: &[(Settings, TcpListener)],
    mut awaited: BTreeSet<usize>,
    seat: Seat,
    end: Instant,
    cancel: &AtomicBool,
) -> Result<Vec<(usize, Socket)>, EngineError> {
    let (mut hall, mut let_in) = (Hall::new()?, Vec::new());
    for (_, listener) in listeners {
        listener.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
        hall.add_door(listener)?;
    }
    while !awaited.is_empty() {
        let now = Instant::now();
        if cancel.load(Relaxed) {
            return Err(unwanted(&awaited));
        }
        if now >= end {
            return Err(missing(listeners, &awaited));
        }
        hall.wait(end.min(now + door::SLICE).duration_since(now))?;
        let of = |stranger: &Stranger<TcpStream>| Seat { flow: stranger.flow(), ..seat };
        let knows = |stranger: &Stranger<TcpStream>| {
            awaited.contains(&usize::from(stranger.flow())) && stranger.knows(&of(stranger))
        };
        let received = listeners
            .iter()
            .try_for_each(|(_, listener)| hall.receive(|| door::next_at(listener), &knows));
        hall.hear(&knows);
        while let Some(stranger) = hall.next_spoken() {
            let (number, seat) = (usize::from(stranger.flow()), of(&stranger));
            if awaited.contains(&number)
                && let Some(stream) = stranger.admitted(&seat)
            {
                awaited.remove(&number);
                let_in.push((number, Socket::Stream(stream)));
            }
        }
        if !awaited.is_empty() {
            received?;
        }
    }
    Ok(let_in)
}

/// What to say of flows that are given up before their time: nobody is late, and no port is to be looked at.
fn unwanted(awaited: &BTreeSet<usize>) -> EngineError {
    let first = awaited.first().copied().unwrap_or_default();
    EngineError::Refused(format!("the connection of flow {first} is not wanted any more"))
}

/// What to say of flows whose connections did not come.
fn missing(listeners: &[(Settings, TcpListener)], awaited: &BTreeSet<usize>) -> EngineError {
    let doors = listeners.iter().filter_map(|(_, listener)| listener.local_addr().ok());
    let doors: Vec<String> = doors.map(|at| at.to_string()).collect();
    let (many, first) = (awaited.len(), awaited.first().copied().unwrap_or_default());
    EngineError::Refused(format!(
        "{many} connections with their token did not come to {} within {} s, that of flow {first} the first of them; is \
         this port open on the way?",
        doors.join(", "),
        PATIENCE.seconds(),
    ))
}

/// Does the same with all, some at a time: each waits for answers from far away.
fn side_by_side<T: Send, U: Send>(
    all: Vec<T>,
    work: &(impl Fn(T) -> Result<U, EngineError> + Sync),
) -> Result<Vec<U>, EngineError> {
    let mut stripes: Vec<Vec<T>> = (0..all.len().min(AT_ONCE)).map(|_| Vec::new()).collect();
    for (at, one) in all.into_iter().enumerate() {
        let stripe = at % AT_ONCE;
        stripes[stripe].push(one);
    }
    thread::scope(|scope| {
        let run = |stripe: Vec<T>| stripe.into_iter().map(work).collect::<Result<Vec<U>, _>>();
        let running: Vec<_> = stripes
            .into_iter()
            .map(|stripe| start(scope, "traffic-meet", move || run(stripe)))
            .collect();
        let mut done = Vec::new();
        for thread in running {
            done.extend(join(thread)?);
        }
        Ok(done)
    })
}

fn port_of(address: io::Result<SocketAddr>) -> Result<u16, EngineError> {
    Ok(address.map_err(EngineError::peer("read the address of a socket"))?.port())
}

fn flow_number(number: usize) -> Result<u16, EngineError> {
    let many = |_| EngineError::Refused("too many flows between two hosts".to_owned());
    u16::try_from(number).map_err(many)
}

/// The other host has another version, or a build without QUIC.
pub(super) fn no_certificate() -> EngineError {
    EngineError::Refused("quic: the other host shows no certificate".to_owned())
}

/// Any address and port of the family of another.
pub(super) fn unspecified(other: SocketAddr) -> SocketAddr {
    match other {
        SocketAddr::V4(_) => SocketAddr::from(([0, 0, 0, 0], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
    }
}

/// Flows that are connected at once.
const AT_ONCE: usize = 32;

#[cfg(test)]
mod tests;
