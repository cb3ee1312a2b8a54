//! Channels that are stream sockets of the kernel.

use std::io;
use std::os::fd::AsFd;

use btu_core::units::Nanos;
use btu_sys::socket;
use btu_sys::wait::Ready;

use super::mesh::Wires;
use crate::error::EngineError;

/// The sockets of one rank, none of which blocks.
#[derive(Debug)]
pub(super) struct SocketWires<S: AsFd> {
    /// By rank; there is none to itself.
    sockets: Vec<Option<S>>,
    ready: Ready,
}

impl<S: AsFd> SocketWires<S> {
    /// Of these sockets, by rank.
    pub(super) fn new(sockets: Vec<Option<S>>) -> Result<Self, EngineError> {
        let ready = Ready::new(sockets.len())?;
        for (number, socket) in (0..).zip(&sockets) {
            if let Some(socket) = socket {
                ready.add_reader(socket, number)?;
            }
        }
        Ok(Self { sockets, ready })
    }

    fn socket(&self, peer: usize) -> io::Result<&S> {
        self.sockets.get(peer).and_then(Option::as_ref).ok_or_else(|| nobody(peer))
    }

    /// Has the set tell of room, for one wait.
    fn sleep_for_room(&mut self, peer: usize, longest_ns: u64) -> io::Result<()> {
        let Self { sockets, ready } = self;
        let socket = sockets.get(peer).and_then(Option::as_ref).ok_or_else(|| nobody(peer))?;
        let number = u64::try_from(peer).unwrap_or(u64::MAX);
        ready.await_room_too(socket, number).map_err(io::Error::other)?;
        ready.wait(Some(longest_ns))?;
        ready.only_read(socket, number).map_err(io::Error::other)
    }
}

impl<S: AsFd + std::fmt::Debug + Send> Wires for SocketWires<S> {
    const AHEAD: usize = 4096;

    #[inline]
    fn write(&mut self, to: usize, head: &[u8], payload: &[u8]) -> io::Result<usize> {
        socket::send_both(self.socket(to)?.as_fd(), head, payload)
    }

    #[inline]
    fn read(&mut self, from: usize, space: &mut [u8]) -> io::Result<usize> {
        socket::recv(self.socket(from)?.as_fd(), space)
    }

    fn sleep(&mut self, room_of: Option<usize>, longest: Nanos) -> io::Result<()> {
        match room_of {
            Some(peer) => self.sleep_for_room(peer, longest.count()),
            None => self.ready.wait(Some(longest.count())),
        }
    }

    fn found(&self, nth: usize) -> Option<usize> {
        (nth < self.ready.len()).then(|| self.ready.number(nth)).and_then(|n| n.try_into().ok())
    }

    fn leave(&mut self, peer: usize) {
        if let Ok(socket) = self.socket(peer) {
            // It may have been left before.
            let _ = self.ready.remove(socket);
        }
    }
}

/// A rank may end before the others read what it sent last. Bytes that it did not read itself would then make the kernel
/// reset the connection, and what was sent last would be lost: so they are read here.
impl<S: AsFd> Drop for SocketWires<S> {
    fn drop(&mut self) {
        let mut space = vec![0; 64 << 10];
        for socket in self.sockets.iter().flatten() {
            // A connection that is gone already has nothing to close.
            let _ = socket::close_sending(socket);
            while socket::recv(socket.as_fd(), &mut space).is_ok_and(|count| count > 0) {}
        }
    }
}

fn nobody(peer: usize) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, format!("no channel to rank {peer}"))
}
