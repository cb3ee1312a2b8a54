//! UDP at the rate of a policy: an answer waits until it may be sent, since no kernel paces datagrams.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_core::sample::SocketOptions;
use btu_core::units::BitRate;
use btu_core::units::Nanos;
use btu_sys::exchange;
use btu_sys::exchange::Ready;

use super::super::socket::SocketEnd;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::regulator::Regulator;
use crate::pingpong::regulator::Throttle;

/// A connected socket of datagrams whose sends keep to a rate.
pub(super) struct PacedEnd {
    end: SocketEnd<true, false>,
    throttle: Throttle,
    /// For how long the last attempt has to wait.
    held: Option<Nanos>,
    over: Arc<AtomicBool>,
}

impl PacedEnd {
    pub(super) fn new(end: SocketEnd<true, false>, rate: BitRate) -> Self {
        let peer = exchange::peer(&*end.socket());
        let throttle = Throttle::new(rate, LARGEST, peer);
        Self { end, throttle, held: None, over: Arc::default() }
    }
}

impl Channel for PacedEnd {
    const BOUNDED: bool = true;
    const RELIABLE: bool = false;

    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.throttle.wait(data.len(), &self.over)?;
        let taken = self.end.send(data)?;
        self.throttle.sent(taken);
        Ok(taken)
    }

    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.end.recv(space)
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.held = self.throttle.wait_for(data.len());
        if self.held.is_some() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = self.end.try_send(data)?;
        self.throttle.sent(taken);
        Ok(taken)
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.end.try_recv(space)
    }

    /// The socket has room, but its time has not come: nothing but a datagram could wake this one.
    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        let Some(wait) = self.held.filter(|_| ready != Ready::Read) else {
            return self.end.wait_until(ready);
        };
        if self.over.load(Relaxed) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        thread::park_timeout(Duration::from(wait).min(TURN));
        Ok(())
    }

    fn aborter(&self) -> Aborter {
        let (inner, over) = (Channel::aborter(&self.end), Arc::clone(&self.over));
        Aborter::new(move || {
            over.store(true, Relaxed);
            inner.abort();
        })
    }

    fn options(&self) -> Option<SocketOptions> {
        Channel::options(&self.end)
    }

    fn remarks(&self) -> Vec<String> {
        Channel::remarks(&self.end)
    }

    fn regulator(&self) -> Option<Regulator> {
        Some(self.throttle.regulator())
    }
}

/// The largest datagram over IPv4.
const LARGEST: usize = 65_507;
/// How long what comes meanwhile waits.
const TURN: Duration = Duration::from_millis(1);
