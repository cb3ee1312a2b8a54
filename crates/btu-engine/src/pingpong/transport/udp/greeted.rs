//! An end that met the other one by datagrams: until the first block it hears what is left of the greeting.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use btu_core::sample::SocketOptions;
use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;
use btu_sys::wait::Waiter;
use btu_sys::wait::Waker;

use crate::door::Echoes;
use crate::error::EngineError;
use crate::pingpong::channel::Aborter;
use crate::pingpong::channel::Channel;
use crate::pingpong::regulator::Regulator;

/// A connected end and what may come before its first block.
pub(super) struct Greeted<C> {
    end: C,
    socket: Arc<OwnedFd>,
    /// Nothing once a block came: on the way of a connection it comes after all that was said before.
    echoes: Option<Echoes>,
    waiter: Waiter,
    bell: Waker,
}

impl<C: Channel> Greeted<C> {
    /// The end of this socket.
    pub(super) fn new(end: C, socket: Arc<OwnedFd>, echoes: Echoes) -> Result<Self, EngineError> {
        let (waiter, bell) = (Waiter::new()?, Waker::new()?);
        waiter.add(&socket)?;
        waiter.add(&bell)?;
        Ok(Self { end, socket, echoes: Some(echoes), waiter, bell })
    }

    /// True for a datagram that is no block.
    #[inline]
    fn is_echo(&mut self, length: usize, space: &[u8]) -> bool {
        let Some(echoes) = &self.echoes else { return false };
        let is_echo = echoes.take(self.socket.as_fd(), length, space);
        if !is_echo {
            self.echoes = None;
        }
        is_echo
    }

    /// Takes one datagram of what is left of the greeting, if it is there: between two of them orders are
    /// looked for, however fast the other end repeats itself. A block stays where it is.
    fn take_echo(&mut self) {
        let mut space = [0; LONGEST];
        let Ok(length) = exchange::peek(self.socket.as_fd(), &mut space) else { return };
        if self.is_echo(length, &space) {
            // It is there.
            let _ = exchange::recv(self.socket.as_fd(), &mut space, Call::AtOnce, Framing::Message);
        }
    }
}

impl<C: Channel> Channel for Greeted<C> {
    const BOUNDED: bool = C::BOUNDED;
    const RELIABLE: bool = C::RELIABLE;

    #[inline]
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.end.send(data)
    }

    #[inline]
    fn recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.end.recv(space)?;
            if !self.is_echo(length, space) {
                return Ok(length);
            }
        }
    }

    fn try_send(&mut self, data: &[u8]) -> io::Result<usize> {
        self.end.try_send(data)
    }

    fn try_recv(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.end.try_recv(space)?;
            if !self.is_echo(length, space) {
                return Ok(length);
            }
        }
    }

    fn wait_until(&mut self, ready: Ready) -> io::Result<()> {
        self.end.wait_until(ready)
    }

    /// Before the first visit the other end may still wait for an answer.
    fn tend(&mut self) -> bool {
        if !matches!(self.echoes, Some(Echoes::Far { .. })) || self.waiter.wait(None).is_err() {
            return false;
        }
        self.bell.clear();
        self.take_echo();
        self.echoes.is_some()
    }

    fn bell(&self) -> Option<Waker> {
        Some(self.bell.clone())
    }

    fn aborter(&self) -> Aborter {
        let (inner, bell) = (self.end.aborter(), self.bell.clone());
        Aborter::new(move || {
            inner.abort();
            bell.wake();
        })
    }

    fn options(&self) -> Option<SocketOptions> {
        self.end.options()
    }

    fn regulator(&self) -> Option<Regulator> {
        self.end.regulator()
    }

    fn remarks(&self) -> Vec<String> {
        self.end.remarks()
    }
}

/// Longer than anything that belongs to a greeting.
const LONGEST: usize = 128;
