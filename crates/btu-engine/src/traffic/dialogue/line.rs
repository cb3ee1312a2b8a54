//! What carries one flow of a conversation.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;

use btu_sys::socket;

use crate::traffic::quic::QuicTalk;
use crate::traffic::quic::StreamId;

/// A connection, or a stream of the one that a conversation has.
pub(super) enum Line {
    Tcp(TcpStream),
    Quic(StreamId),
}

impl Line {
    /// Sends what there is room for.
    pub(super) fn send(&self, quic: &mut Option<QuicTalk>, data: &[u8]) -> io::Result<usize> {
        match (self, quic) {
            (Self::Tcp(stream), _) => socket::send(stream.as_fd(), data),
            (Self::Quic(stream), Some(quic)) => quic.send(*stream, data),
            (Self::Quic(_), None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Takes what came.
    pub(super) fn recv(&self, quic: &mut Option<QuicTalk>, space: &mut [u8]) -> io::Result<usize> {
        match (self, quic) {
            (Self::Tcp(stream), _) => socket::recv(stream.as_fd(), space),
            (Self::Quic(stream), Some(quic)) => quic.recv(*stream, space),
            (Self::Quic(_), None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}
