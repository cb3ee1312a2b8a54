//! What carries one flow of a conversation.

use std::io;
use std::net::Shutdown;
use std::net::TcpStream;
use std::os::fd::AsFd;

use btu_sys::socket;

use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::StreamId;

/// A connection, or a stream of the one that a conversation has.
pub(super) enum Line {
    /// A connection that is not there yet: nothing has room on it, and nothing comes.
    Awaited,
    Tcp(TcpStream),
    Quic(StreamId),
}

impl Line {
    /// Sends what there is room for.
    pub(super) fn send(&self, quic: &mut Option<QuicTalk>, data: &[u8]) -> io::Result<usize> {
        match (self, quic) {
            (Self::Awaited, _) => Err(io::ErrorKind::WouldBlock.into()),
            (Self::Tcp(stream), _) => socket::send(stream.as_fd(), data),
            (Self::Quic(stream), Some(quic)) => quic.send(*stream, data),
            (Self::Quic(_), None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Says that nothing more is sent: the answering end goes when it has answered.
    pub(super) fn finish(&self, quic: &mut Option<QuicTalk>) {
        match (self, quic) {
            // Of a connection that is gone nothing is left to end.
            (Self::Tcp(stream), _) => drop(stream.shutdown(Shutdown::Write)),
            (Self::Quic(stream), Some(quic)) => quic.finish(*stream),
            // Of one that is awaited something is still unsent.
            (Self::Awaited, _) | (Self::Quic(_), None) => {}
        }
    }

    /// Takes what came.
    pub(super) fn recv(&self, quic: &mut Option<QuicTalk>, space: &mut [u8]) -> io::Result<usize> {
        match (self, quic) {
            (Self::Awaited, _) => Err(io::ErrorKind::WouldBlock.into()),
            (Self::Tcp(stream), _) => socket::recv(stream.as_fd(), space),
            (Self::Quic(stream), Some(quic)) => quic.recv(*stream, space),
            (Self::Quic(_), None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}
