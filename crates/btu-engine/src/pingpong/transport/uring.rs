//! TCP through an `io_uring`: the same protocol by the kernel's other interface.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_core::sample::SocketOptions;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Family;
use btu_sys::exchange::Listening;
use btu_sys::exchange::Ready;
use btu_sys::socket::Effective;
use btu_sys::uring::Ring;
use btu_sys::uring::RingWait;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use crate::error::EngineError;
use crate::options::socket_options;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;
use crate::pingpong::channel::Meter;
use crate::pingpong::regulator::PacedStream;
use crate::pingpong::regulator::Regulator;

/// The transport `uring`.
#[derive(Debug)]
pub(super) struct Uring;

/// A TCP socket that waits for a connection.
struct Waiting(Listening);

/// A TCP connection and the ring of its thread.
struct UringEnd {
    socket: Arc<OwnedFd>,
    ring: Ring,
    wait: Wait,
}

impl Transport for Uring {
    fn name(&self) -> &'static str {
        "uring"
    }

    fn about(&self) -> &'static str {
        "TCP through an io_uring, one entry at a time"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits }
    }

    /// The ring would need a call for it before each wait.
    fn nature(&self, _: &Configuration) -> Nature {
        Nature { lacks: vec![Setting::QuickAck], ..Nature::default() }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ring::new(RingWait::Sleeping)?;
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        let listening = hookup.listen(Family::Tcp, &hookup.tcp_settings())?;
        Ok(Box::new(Waiting(listening)))
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let (at, settings) = (at.address()?, hookup.tcp_settings());
        let socket = hookup.connect(Family::Tcp, at, &settings)?;
        Ok(Box::new(UringEnd::new(socket, hookup.wanted.wait)?))
    }
}

impl Listener for Waiting {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::At(self.0.address()?))
    }

    fn accept(self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let socket = hookup.accept(&self.0)?;
        Ok(Box::new(UringEnd::new(socket, hookup.wanted.wait)?))
    }
}

impl UringEnd {
    /// The ring belongs to the calling thread, which must be the one that uses the end.
    fn new(socket: OwnedFd, wait: Wait) -> Result<Self, EngineError> {
        let ring = if wait == Wait::Spin { RingWait::Spinning } else { RingWait::Sleeping };
        Ok(Self { socket: Arc::new(socket), ring: Ring::new(ring)?, wait })
    }
}

impl Channel for UringEnd {
    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.ring.send(self.socket.as_fd(), data, Call::Sleeping)
    }

    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.ring.recv(self.socket.as_fd(), space, Call::Sleeping)
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.ring.send(self.socket.as_fd(), data, Call::AtOnce)
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.ring.recv(self.socket.as_fd(), space, Call::AtOnce)
    }

    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        if self.wait == Wait::Spin {
            std::hint::spin_loop();
            return Ok(());
        }
        exchange::poll(self.socket.as_fd(), ready, None).map(drop)
    }

    fn aborter(&self) -> Aborter {
        let socket = Arc::clone(&self.socket);
        Aborter::new(move || btu_sys::socket::abort(&*socket))
    }

    fn meter(&self) -> Option<Meter> {
        Some(Meter::of_tcp(Arc::clone(&self.socket)))
    }

    fn options(&self) -> Option<SocketOptions> {
        Some(socket_options(Effective::of(&*self.socket)))
    }

    fn regulator(&self) -> Option<Regulator> {
        Some(Regulator::of(PacedStream(Arc::clone(&self.socket))))
    }
}
