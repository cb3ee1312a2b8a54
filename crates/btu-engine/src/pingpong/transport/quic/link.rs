//! A QUIC connection of one end of a ping-pong: moved on, and slept upon, by the thread that uses it.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::sample::SocketOptions;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::socket::Effective;
use btu_sys::wait::Waiter;
use btu_sys::wait::Waker;
use quinn_proto::ClientConfig;
use quinn_proto::Dir;
use quinn_proto::ServerConfig;
use quinn_proto::StreamId;
use quinn_proto::Transmit;
use quinn_udp::UdpSocketState;

use crate::door;
use crate::door::Echoes;
use crate::door::Seat;
use crate::error::EngineError;
use crate::options::socket_options;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Meter;
use crate::pingpong::regulator::Regulator;
use crate::pingpong::regulator::Throttle;
use crate::pingpong::transport::Hookup;
use crate::quic;
use crate::quic::LARGEST_RECEIVE;
use crate::quic::Machine;
use crate::quic::SEGMENTS;

/// One end of at most one connection, with what its thread sleeps upon.
pub(super) struct Link {
    machine: Machine<Wire>,
    waiter: Waiter,
    bell: Waker,
    /// How often datagrams came.
    heard: Arc<AtomicU64>,
}

/// A socket that is waited for.
struct Wire {
    socket: OwnedFd,
    state: UdpSocketState,
    /// Where the host has a policy: what keeps to its rate.
    throttle: Option<Throttle>,
    over: Arc<AtomicBool>,
    /// What may still come of a greeting.
    echoes: Option<Echoes>,
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
            if server.is_some() { door::on_free_port(hookup.ports, open)? } else { open(0)? };
        let state = UdpSocketState::new((&socket).into());
        let state = state.map_err(EngineError::peer("prepare a UDP socket for QUIC"))?;
        let (waiter, bell) = (Waiter::new()?, Waker::new()?);
        waiter.add(&socket)?;
        waiter.add(&bell)?;
        let throttle = hookup.held_to().map(|rate| Throttle::new(rate, LARGEST_RECEIVE, None));
        let wire = Wire { socket, state, throttle, over: Arc::default(), echoes: None };
        Ok((
            Self { machine: Machine::new(wire, server), waiter, bell, heard: Arc::default() },
            address,
        ))
    }

    /// Speaks with `far` alone from now on, and proves the token to it where there is one.
    pub(super) fn meet(
        &mut self,
        far: SocketAddr,
        token: Option<&Seat>,
        deadline: Instant,
    ) -> io::Result<()> {
        let wire = &mut self.machine.wire;
        exchange::join(&wire.socket, far).map_err(io::Error::other)?;
        let greeted = token.map(|seat| door::greet(&wire.socket, seat, deadline));
        wire.echoes = greeted.transpose()?;
        Ok(())
    }

    /// Waits for whoever knows the token, where there is one; no other is answered from then on.
    pub(super) fn hear(&mut self, hookup: &Hookup<'_>, deadline: Instant) -> io::Result<()> {
        let Some(seat) = &hookup.token else { return Ok(()) };
        let wire = &mut self.machine.wire;
        wire.echoes = Some(door::hear(&wire.socket, seat, deadline, hookup.cancel)?);
        Ok(())
    }

    /// Shakes hands with `far` and opens the stream.
    pub(super) fn connect(
        &mut self,
        config: ClientConfig,
        far: SocketAddr,
        deadline: Instant,
    ) -> io::Result<StreamId> {
        self.machine.connect(config, far)?;
        self.until(deadline, |link| Ok(quic::opened(link.machine.streams(), Dir::Bi)))
    }

    /// Shakes hands with whoever comes, and takes the stream that he opens.
    pub(super) fn accept(&mut self, deadline: Instant) -> io::Result<StreamId> {
        self.until(deadline, |link| Ok(quic::accepted(link.machine.streams(), Dir::Bi)))
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
        self.machine.write(stream, data)
    }

    /// Takes bytes that came; nothing where there are none.
    pub(super) fn read(&mut self, stream: StreamId, space: &mut [u8]) -> io::Result<Option<usize>> {
        self.machine.read(stream, space)
    }

    /// Sleeps until a datagram came, something is due, the bell rang, or `limit`.
    pub(super) fn sleep(&mut self, limit: Option<Instant>) -> io::Result<()> {
        let first = self.machine.due().into_iter().chain(limit).min();
        let left = first.map(|at| at.saturating_duration_since(Instant::now()).as_nanos());
        self.waiter.wait(left.map(|left| u64::try_from(left).unwrap_or(u64::MAX))).map(drop)
    }

    /// Takes what came at once, does what is due, and sends what may be sent. Never sleeps.
    pub(super) fn turn(&mut self) -> io::Result<()> {
        if self.machine.turn()? {
            self.heard.fetch_add(1, Relaxed);
        } else {
            self.bell.clear();
        }
        Ok(())
    }

    /// An error once there is no connection any more.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.machine.wire.over.load(Relaxed) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.machine.check()
    }

    /// Ends a sleep from another thread.
    pub(super) fn bell(&self) -> Waker {
        self.bell.clone()
    }

    pub(super) fn aborter(&self) -> Aborter {
        let (over, bell) = (Arc::clone(&self.machine.wire.over), self.bell.clone());
        Aborter::new(move || {
            over.store(true, Relaxed);
            bell.wake();
        })
    }

    /// Counts what comes: whoever sends hears of what arrived as well.
    pub(super) fn meter(&self) -> Meter {
        let heard = Arc::clone(&self.heard);
        Meter::new(move || Some(heard.load(Relaxed)))
    }

    /// What sets the rate of the end, where one holds.
    pub(super) fn regulator(&self) -> Option<Regulator> {
        self.machine.wire.throttle.as_ref().map(Throttle::regulator)
    }

    pub(super) fn options(&self) -> SocketOptions {
        socket_options(Effective::of(&self.machine.wire.socket))
    }

    /// True where each packet costs a call.
    pub(super) fn lacks_offload(&self) -> bool {
        self.machine.lacks_offload()
    }
}

impl Drop for Link {
    /// Tells the other end, as the kernel does for TCP.
    fn drop(&mut self) {
        let _ = self.machine.close();
    }
}

impl quic::Wire for Wire {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn state(&self) -> &UdpSocketState {
        &self.state
    }

    fn takes(&self, datagram: &[u8]) -> bool {
        let is_echo = |echoes: &Echoes| echoes.take(self.socket.as_fd(), datagram.len(), datagram);
        self.echoes.as_ref().is_some_and(is_echo)
    }

    /// One where each has to wait for its time.
    fn segments(&self) -> usize {
        self.throttle.as_ref().map_or(self.state.max_gso_segments().min(SEGMENTS), |_| 1)
    }

    /// What has no room is waited for.
    fn has_room(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    /// Sends the packets when their time has come.
    fn send(&mut self, transmit: &Transmit, packets: &[u8]) -> io::Result<()> {
        self.throttle.as_mut().map_or(Ok(()), |one| one.wait(transmit.size, &self.over))?;
        let outcome = self.send_now(transmit, packets);
        // Afterwards: while it waited for room in the socket nothing had left.
        self.throttle.iter_mut().for_each(|one| one.sent(transmit.size));
        outcome
    }
}

impl Wire {
    /// Sends the packets, and waits for room in the socket.
    fn send_now(&self, transmit: &Transmit, packets: &[u8]) -> io::Result<()> {
        while !quic::try_send(self, transmit, packets)? {
            if self.over.load(Relaxed) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            exchange::poll(self.socket.as_fd(), Ready::Write, Some(GLANCE))?;
        }
        Ok(())
    }
}

/// How long a full socket takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);
