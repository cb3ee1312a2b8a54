//! An end that is a socket, for all transports that are: the four ways to wait for it.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::sample::SocketOptions;
use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Family;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Listening;
use btu_sys::exchange::Ready;
use btu_sys::socket;
use btu_sys::socket::Effective;
use btu_sys::wait::Waiter;

use super::Hookup;
use super::Listener;
use super::Rendezvous;
use crate::error::EngineError;
use crate::options::socket_options;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::channel::End;
use crate::pingpong::channel::Meter;
use crate::pingpong::regulator::PacedStream;
use crate::pingpong::regulator::Regulator;

/// A connected socket. `BOUNDED`: it keeps messages apart. `RELIABLE`: it loses none.
pub(super) struct SocketEnd<const BOUNDED: bool, const RELIABLE: bool> {
    socket: Arc<OwnedFd>,
    over: Arc<AtomicBool>,
    wait: Wait,
    waiter: Option<Waiter>,
    quick_ack: Option<bool>,
}

/// A stream.
pub(super) type StreamEnd = SocketEnd<false, true>;

/// How every socket can wait.
pub(super) const WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::BusyPoll, Wait::Epoll];

/// The largest block of a stream.
pub(super) const LARGEST_STREAM: u64 = 1 << 30;

impl<const BOUNDED: bool, const RELIABLE: bool> SocketEnd<BOUNDED, RELIABLE> {
    pub(super) fn new(socket: OwnedFd, wanted: &Configuration) -> Result<Self, EngineError> {
        let waiter = if wanted.wait == Wait::Epoll {
            let waiter = Waiter::new()?;
            waiter.add(&socket)?;
            Some(waiter)
        } else {
            None
        };
        if wanted.wait == Wait::BusyPoll {
            exchange::set_busy_poll(&socket, BUSY_POLL_MICROS)?;
        }
        let over = Arc::new(AtomicBool::new(false));
        let (socket, quick_ack) = (Arc::new(socket), wanted.quick_ack);
        Ok(Self { socket, over, wait: wanted.wait, waiter, quick_ack })
    }

    /// Its socket, for whoever listens beside it.
    pub(super) fn socket(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    #[inline]
    fn framing() -> Framing {
        if BOUNDED { Framing::Message } else { Framing::Stream }
    }

    /// Tries again and again, and never sleeps.
    #[inline]
    fn spin(&self, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match call() {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                    if self.over.load(Relaxed) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    std::hint::spin_loop();
                }
                outcome => return outcome,
            }
        }
    }

    /// Receives in the way of its configuration.
    #[inline]
    fn recv_as_it_waits(&self, space: &mut [u8]) -> io::Result<usize> {
        let framing = Self::framing();
        match self.wait {
            Wait::Block | Wait::BusyPoll => {
                exchange::recv(self.fd(), space, Call::Sleeping, framing)
            }
            Wait::Spin => self.spin(|| exchange::recv(self.fd(), space, Call::AtOnce, framing)),
            Wait::Epoll => loop {
                if let Some(waiter) = &self.waiter {
                    waiter.wait(None)?;
                }
                match exchange::recv(self.fd(), space, Call::AtOnce, framing) {
                    Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                        self.unless_over(Ok(0))?;
                    }
                    outcome => return outcome,
                }
            },
        }
    }

    /// Tells a UDP or packet socket that was ended from an empty queue.
    fn unless_over(&self, outcome: io::Result<usize>) -> io::Result<usize> {
        if self.over.load(Relaxed) { Err(io::ErrorKind::UnexpectedEof.into()) } else { outcome }
    }

    #[cold]
    fn wait_for_room(&self) -> io::Result<()> {
        exchange::poll(self.fd(), Ready::Write, None).map(drop)
    }
}

impl<const BOUNDED: bool, const RELIABLE: bool> Channel for SocketEnd<BOUNDED, RELIABLE> {
    const BOUNDED: bool = BOUNDED;
    const RELIABLE: bool = RELIABLE;

    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        match self.wait {
            Wait::Block | Wait::BusyPoll => exchange::send(self.fd(), data, Call::Sleeping),
            Wait::Spin => self.spin(|| exchange::send(self.fd(), data, Call::AtOnce)),
            Wait::Epoll => loop {
                match exchange::send(self.fd(), data, Call::AtOnce) {
                    Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                        self.wait_for_room()?;
                    }
                    outcome => return outcome,
                }
            },
        }
    }

    /// Shutting a UDP socket down keeps nothing out of its queue: whoever goes on sending to one that was
    /// ended would be read for ever.
    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if let Some(on) = self.quick_ack {
            exchange::set_quick_ack(self.fd(), on)?;
        }
        let outcome = self.recv_as_it_waits(space);
        if RELIABLE { outcome } else { self.unless_over(outcome) }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.unless_over(exchange::send(self.fd(), data, Call::AtOnce))
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.unless_over(exchange::recv(self.fd(), space, Call::AtOnce, Self::framing()))
    }

    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        if self.wait == Wait::Spin {
            std::hint::spin_loop();
            return Ok(());
        }
        exchange::poll(self.fd(), ready, None).map(drop)
    }

    fn aborter(&self) -> Aborter {
        let (socket, over) = (Arc::clone(&self.socket), Arc::clone(&self.over));
        Aborter::new(move || {
            over.store(true, Relaxed);
            socket::abort(&*socket);
        })
    }

    fn meter(&self) -> Option<Meter> {
        (!BOUNDED).then(|| Meter::of_tcp(Arc::clone(&self.socket)))
    }

    fn options(&self) -> Option<SocketOptions> {
        Some(socket_options(Effective::of(&*self.socket)))
    }

    fn regulator(&self) -> Option<Regulator> {
        (!BOUNDED).then(|| Regulator::of(PacedStream(Arc::clone(&self.socket))))
    }

    fn remarks(&self) -> Vec<String> {
        let nothing_to_poll =
            self.wait == Wait::BusyPoll && exchange::polled_queue(&*self.socket).is_none();
        Vec::from_iter(nothing_to_poll.then(|| "busy-poll: no effect: no NAPI id".to_owned()))
    }
}

/// A listening socket of a stream.
pub(super) struct StreamListener(Listening);

impl StreamListener {
    pub(super) fn on(
        family: Family,
        hookup: &Hookup<'_>,
        settings: &socket::Settings,
    ) -> Result<Box<dyn Listener>, EngineError> {
        Ok(Box::new(Self(hookup.listen(family, settings)?)))
    }

    /// Of a family whose addresses are not those of a host's network.
    pub(super) fn on_this_machine(
        family: Family,
        settings: &socket::Settings,
    ) -> Result<Box<dyn Listener>, EngineError> {
        Ok(Box::new(Self(exchange::listen(family, family.any_local(), settings)?)))
    }
}

impl Listener for StreamListener {
    fn rendezvous(&self) -> Result<Rendezvous, EngineError> {
        Ok(Rendezvous::At(self.0.address()?))
    }

    fn accept(self: Box<Self>, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        let socket = hookup.accept(&self.0)?;
        Ok(Box::new(StreamEnd::new(socket, hookup.wanted)?))
    }
}

/// Connects a stream.
pub(super) fn connect_stream(
    family: Family,
    at: &Rendezvous,
    hookup: &Hookup<'_>,
    settings: &socket::Settings,
) -> Result<Box<dyn End>, EngineError> {
    let socket = hookup.connect(family, at.address()?, settings)?;
    Ok(Box::new(StreamEnd::new(socket, hookup.wanted)?))
}

/// How long the kernel may poll: the value that `busy-poll` documentation suggests.
const BUSY_POLL_MICROS: u32 = 50;

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    /// What waits in the queue of a UDP socket, and what comes yet, outlives a shutdown.
    #[test]
    fn datagrams_keep_no_end_going_that_was_ended() {
        for wait in WAITS {
            let far = UdpSocket::bind("127.0.0.1:0").unwrap();
            let near = UdpSocket::bind("127.0.0.1:0").unwrap();
            far.connect(near.local_addr().unwrap()).unwrap();
            near.connect(far.local_addr().unwrap()).unwrap();
            let wanted = Configuration { wait: *wait, ..Configuration::new("udp") };
            let mut end = SocketEnd::<true, false>::new(far.into(), &wanted).unwrap();
            let mut space = [0; 8];
            near.send(b"old").unwrap();
            assert_eq!(Channel::recv(&mut end, &mut space).unwrap(), 3, "{wait}");
            near.send(b"old").unwrap();
            Channel::aborter(&end).abort();
            near.send(b"old").unwrap();
            let told = Channel::recv(&mut end, &mut space).unwrap_err();
            assert_eq!(told.kind(), io::ErrorKind::UnexpectedEof, "{wait}");
        }
    }
}
