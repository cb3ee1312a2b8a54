//! Small traffic with a known answer: what a path between two hosts really does.
//!
//! The emulation of a link is checked with it before the first cell and after the last: round
//! trips for its delay, counted packets for its drop pattern, a bulk transfer for its rate.

use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::run::cell::Direction;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::socket;
use btu_sys::socket::Settings;

use crate::comm::Amount;
use crate::comm::FarFlow;
use crate::comm::FarJob;
use crate::comm::FarSide;
use crate::comm::NearFlow;
use crate::comm::NearJob;
use crate::comm::NearSide;
use crate::comm::Terms;
use crate::error::EngineError;
use crate::place::Place;
use crate::transport::Tcp;

/// A path between two hosts, from its near to its far end.
#[derive(Clone, Debug)]
pub struct Path {
    /// Where the traffic starts.
    pub near: Place,
    /// The near host's own address on this path.
    pub near_address: IpAddr,
    /// Where it ends.
    pub far: Place,
    /// The far host's address on this path.
    pub far_address: IpAddr,
    /// Ends traffic early where somebody sets it: within [`TURN`], with what came until then.
    pub cancel: Arc<AtomicBool>,
}

/// Packets that were counted through a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many were sent.
    pub sent: u64,
    /// Positions, from 1, of those that never came.
    pub missing: Vec<u64>,
    /// How many came more than once.
    pub repeated: u64,
}

impl Path {
    /// The same path, walked the other way.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            near: self.far.clone(),
            near_address: self.far_address,
            far: self.near.clone(),
            far_address: self.near_address,
            cancel: Arc::clone(&self.cancel),
        }
    }

    /// Sends `count` datagrams that the far end sends back, one after the other, after one that only
    /// wakes the path up. A round trip of more than `patience` is `None`.
    pub fn round_trips(
        &self,
        count: u32,
        patience: Nanos,
    ) -> Result<Vec<Option<Nanos>>, EngineError> {
        // The far end must outlast a round trip that was lost.
        let (far_socket, echo) = self.far_thread(patience * 4, echo)?;
        let near = self.near_ear(patience)?;
        let asked = self.near.spawn("probe", move || {
            let mut trips = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
            trip(&near, far_socket, u64::MAX)?;
            for index in (0..u64::from(count)).take_while(|_| !near.is_cancelled()) {
                trips.push(trip(&near, far_socket, index)?);
            }
            end(&near.socket, far_socket)?;
            Ok(trips)
        })?;
        let trips = joined(asked);
        joined(echo).and(trips)
    }

    /// Sends `count` datagrams, at most one each `period`, and tells which of them never came. The
    /// far end waits for `patience` after the last.
    ///
    /// The sender stays within the far end's socket buffer of what the far end has read, so that a
    /// far end without a CPU loses nothing of its own. (Both ends are in this process.)
    pub fn counted_packets(
        &self,
        count: u64,
        period: Nanos,
        patience: Nanos,
    ) -> Result<Counted, EngineError> {
        let near = self.near_ear(patience)?.socket;
        let packets = Arc::new(Packets { count, period, patience, ..Packets::default() });
        let (far_socket, reader) = self.far_thread(patience, {
            let packets = Arc::clone(&packets);
            move |ear| tally(ear, &packets)
        })?;
        let sender = Sender(packets);
        let sender = self.near.spawn("probe", move || sender.send_all(&near, far_socket))?;
        let sent = joined(sender);
        let counted = joined(reader);
        sent.and(counted)
    }

    /// The rate of one TCP connection over `time`, with messages of 64 KiB.
    pub fn bulk_rate(&self, time: Nanos) -> Result<BitRate, EngineError> {
        let (direction, sockets) = (Direction::Send, Settings::default());
        let terms = Terms {
            cancel: Arc::clone(&self.cancel),
            ..Terms::new(&Tcp, BULK_MESSAGE, Amount::Window(time), (time * 6).max(BULK_CAP))
        };
        let listen = SocketAddr::new(self.far_address, 0);
        let far = FarSide::listen(FarJob {
            flows: vec![FarFlow { direction, listen }],
            terms: terms.clone(),
            sockets: sockets.clone(),
            place: self.far.clone(),
        })?;
        let flows = far.addresses().iter();
        let flows =
            flows.map(|address| NearFlow { peer: self.far.role, direction, address: *address });
        let place = self.near.clone();
        let near = NearSide::connect(NearJob { flows: flows.collect(), terms, sockets, place })?;
        let near = near.go()?;
        if let Some(fault) = near.ends.iter().find_map(|end| end.fault.as_ref()) {
            return Err(EngineError::Refused(format!("bulk transfer to {}: {fault}", listen.ip())));
        }
        let read: Bytes = far.finish()?.iter().map(|end| end.bytes).sum();
        Ok(read.per(near.elapsed()).unwrap_or_default())
    }

    /// Starts the far end of a probe; returns where it listens.
    fn far_thread<T: Send + 'static>(
        &self,
        patience: Nanos,
        work: impl FnOnce(&Ear) -> io::Result<T> + Send + 'static,
    ) -> Result<(SocketAddr, JoinHandle<Result<T, EngineError>>), EngineError> {
        let ear = self.ear(&self.far, self.far_address, patience)?;
        let address =
            ear.socket.local_addr().map_err(EngineError::peer("read a socket's address"))?;
        let fault = format!("answer probes at {address}");
        let work = move || work(&ear).map_err(EngineError::peer(fault));
        Ok((address, self.far.spawn("probe-far", work)?))
    }

    fn near_ear(&self, patience: Nanos) -> Result<Ear, EngineError> {
        self.ear(&self.near, self.near_address, patience)
    }

    fn ear(&self, place: &Place, address: IpAddr, patience: Nanos) -> Result<Ear, EngineError> {
        let socket = bind(place, address, patience.min(TURN))?;
        Ok(Ear { socket, patience, cancel: Arc::clone(&self.cancel) })
    }
}

/// A socket that is listened to in short turns, so that an early end is noticed.
#[derive(Debug)]
struct Ear {
    socket: UdpSocket,
    patience: Nanos,
    cancel: Arc<AtomicBool>,
}

impl Ear {
    fn is_cancelled(&self) -> bool {
        self.cancel.load(Relaxed)
    }

    /// The next number and its sender; `None` where the patience ended first, or all of it.
    fn receive(&self) -> io::Result<Option<(u64, SocketAddr)>> {
        let give_up = clock::monotonic_ns().saturating_add(self.patience.count());
        loop {
            if let Some(found) = receive(&self.socket)? {
                return Ok(Some(found));
            }
            if self.is_cancelled() || clock::monotonic_ns() >= give_up {
                return Ok(None);
            }
        }
    }
}

/// A socket made at `place`, which stays there whoever uses it.
fn bind(place: &Place, address: IpAddr, patience: Nanos) -> Result<UdpSocket, EngineError> {
    joined(place.spawn("probe-bind", move || {
        let socket = socket::bind_udp(SocketAddr::new(address, 0), RECEIVE_BUFFER)?;
        let timeout = Some(Duration::from(patience.max(Nanos::from_millis(1))));
        let set = socket.set_read_timeout(timeout);
        set.map_err(EngineError::peer("set a receive timeout"))?;
        Ok(socket)
    })?)
}

/// One round trip; answers to earlier questions are passed over.
fn trip(near: &Ear, far: SocketAddr, index: u64) -> Result<Option<Nanos>, EngineError> {
    let fault = || format!("probe {far}");
    let start = clock::monotonic_ns();
    near.socket.send_to(&index.to_be_bytes(), far).map_err(EngineError::peer(fault()))?;
    loop {
        match near.receive().map_err(EngineError::peer(fault()))? {
            None => return Ok(None),
            Some((answer, _)) if answer == index => {
                return Ok(Some(Nanos::new(clock::monotonic_ns() - start)));
            }
            Some(_) => {}
        }
    }
}

/// Tells the far end of `trip` that nothing more will come.
fn end(near: &UdpSocket, far: SocketAddr) -> Result<(), EngineError> {
    let sent = near.send_to(&END.to_be_bytes(), far);
    sent.map(drop).map_err(EngineError::peer(format!("probe {far}")))
}

/// Sends everything back, until the end is announced or nothing comes for a while.
fn echo(ear: &Ear) -> io::Result<()> {
    while let Some((index, from)) = ear.receive()? {
        if index == END {
            break;
        }
        ear.socket.send_to(&index.to_be_bytes(), from)?;
    }
    Ok(())
}

/// How counted packets follow each other, and how far both ends are.
#[derive(Debug, Default)]
struct Packets {
    count: u64,
    period: Nanos,
    patience: Nanos,
    /// Packets that were sent.
    sent: AtomicU64,
    /// Packets that the far end has read or found missing.
    read: AtomicU64,
    /// Nothing more will be sent.
    all_sent: AtomicBool,
}

impl Packets {
    /// Waits until packet `index` is due and the far end has room for it.
    fn wait(&self, index: u64, due_ns: u64) {
        clock::wait_until(due_ns, SPIN.count());
        let give_up = clock::monotonic_ns().saturating_add(self.patience.count());
        while index >= self.read.load(Relaxed) + AHEAD && clock::monotonic_ns() < give_up {
            clock::sleep_until(clock::monotonic_ns() + SPIN.count());
        }
    }
}

/// The sending end. However it ends, the far end learns that nothing more will come.
#[derive(Debug)]
struct Sender(Arc<Packets>);

impl Sender {
    fn send_all(&self, near: &UdpSocket, far: SocketAddr) -> Result<(), EngineError> {
        let start = clock::monotonic_ns();
        for index in 0..self.0.count {
            self.0.wait(index, start + index * self.0.period.count());
            let sent = near.send_to(&index.to_be_bytes(), far);
            sent.map_err(EngineError::peer(format!("probe {far}")))?;
            self.0.sent.store(index + 1, Relaxed);
        }
        Ok(())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.all_sent.store(true, Relaxed);
    }
}

/// Counts what comes, until the last came, or nothing did for a while after all was sent.
fn tally(ear: &Ear, packets: &Packets) -> io::Result<Counted> {
    let count = packets.count;
    let mut seen = vec![false; usize::try_from(count).unwrap_or(0)];
    let mut repeated = 0;
    loop {
        let was_over = packets.all_sent.load(Relaxed);
        let Some((index, _)) = ear.receive()? else {
            if was_over {
                break;
            }
            // Nothing waited to be read, for the whole patience: what is on its way is lost, all of it,
            // and takes no room.
            packets.read.fetch_max(packets.sent.load(Relaxed), Relaxed);
            continue;
        };
        let slot = usize::try_from(index).ok().and_then(|index| seen.get_mut(index));
        if slot.is_some_and(|slot| std::mem::replace(slot, true)) {
            repeated += 1;
        }
        packets.read.fetch_max(index.saturating_add(1), Relaxed);
        if index.saturating_add(1) == count {
            break;
        }
    }
    let positions = (1..).zip(seen).filter(|(_, came)| !came);
    Ok(Counted {
        sent: count,
        missing: positions.map(|(position, _)| position).collect(),
        repeated,
    })
}

/// The next number and its sender; `None` where the socket's time-out ended first.
fn receive(socket: &UdpSocket) -> io::Result<Option<(u64, SocketAddr)>> {
    let mut datagram = [0; 8];
    loop {
        match socket.recv_from(&mut datagram) {
            Ok((8, from)) => return Ok(Some((u64::from_be_bytes(datagram), from))),
            // Not ours.
            Ok(_) => {}
            Err(cause) => match cause.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => return Ok(None),
                _ => return Err(cause),
            },
        }
    }
}

fn joined<T>(thread: JoinHandle<Result<T, EngineError>>) -> Result<T, EngineError> {
    let panicked = || EngineError::Refused("a probe panicked".to_owned());
    thread.join().unwrap_or_else(|_| Err(panicked()))
}

/// How soon the end of all patience is noticed.
pub const TURN: Nanos = Nanos::from_millis(100);
const BULK_MESSAGE: Bytes = Bytes::new(65_536);
/// What the whole transfer may take at least: on a busy machine its ends wait for a CPU before and after it.
const BULK_CAP: Nanos = Nanos::from_secs(5);
/// Packets on their way at most: what a default receive buffer (208 KiB) holds of the smallest ones.
const AHEAD: u64 = 64;
/// The number that ends a series of round trips.
const END: u64 = u64::MAX - 1;
/// Room for thousands of small datagrams, so that a late reader loses none.
const RECEIVE_BUFFER: usize = 4 << 20;
/// How long before a packet is due its sender stops sleeping.
const SPIN: Nanos = Nanos::from_micros(60);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn socket() -> UdpSocket {
        socket::bind_udp((Ipv4Addr::LOCALHOST, 0).into(), RECEIVE_BUFFER).unwrap()
    }

    /// One wait for each would take 19 seconds.
    #[test]
    fn the_packets_of_a_long_run_of_losses_are_waited_for_together() {
        let patience = Nanos::from_millis(20);
        let packets = Arc::new(Packets { count: 1000, patience, ..Packets::default() });
        let (near, far, nobody) = (socket(), socket(), socket());
        far.set_read_timeout(Some(patience.into())).unwrap();
        let ear = Ear { socket: far, patience, cancel: Arc::default() };
        let counting = Arc::clone(&packets);
        let reader = thread::spawn(move || tally(&ear, &counting).unwrap());
        let start = Instant::now();
        Sender(packets).send_all(&near, nobody.local_addr().unwrap()).unwrap();
        assert!(start.elapsed() < Duration::from(patience * 500), "{:?}", start.elapsed());
        assert_eq!(reader.join().unwrap().missing.len(), 1000);
    }
}
