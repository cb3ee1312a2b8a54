//! TCP over blocking sockets: one `send` or `recv` per call.

use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::time::Duration;

use btu_core::sample::SocketOptions;
use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Effective;
use btu_sys::socket::Settings;
use btu_sys::tcp_info::TcpInfo;

use super::Channel;
use super::Connection;
use super::Listener;
use super::Receiving;
use super::Sending;
use super::Transport;
use crate::error::EngineError;
use crate::options::socket_options;

/// The transport `tcp`.
#[derive(Debug)]
pub struct Tcp;

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn about(&self) -> &'static str {
        "TCP, blocking calls, one per message"
    }

    fn message_sizes(&self) -> RangeInclusive<Bytes> {
        Bytes::new(1)..=Bytes::new(1 << 30)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(
        &self,
        address: SocketAddr,
        settings: &Settings,
    ) -> Result<Box<dyn Listener>, EngineError> {
        Ok(Box::new(socket::listen(address, settings)?))
    }

    fn connect(
        &self,
        address: SocketAddr,
        settings: &Settings,
        timeout: Duration,
    ) -> Result<Box<dyn Connection>, EngineError> {
        Ok(Box::new(Stream::from(socket::connect(address, settings, timeout)?)))
    }
}

impl Listener for TcpListener {
    fn address(&self) -> Result<SocketAddr, EngineError> {
        self.local_addr().map_err(EngineError::peer("read the address of a listening socket"))
    }

    fn accept(&self) -> Result<Box<dyn Connection>, EngineError> {
        let accepted = super::retried(|| Self::accept(self));
        let (stream, _) = accepted.map_err(EngineError::peer("accept a connection"))?;
        Ok(Box::new(Stream::from(stream)))
    }

    fn never_wait(&self) -> Result<(), EngineError> {
        self.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))
    }

    fn abort(&self) {
        socket::abort(self);
    }
}

/// One end of a connection, as a bare descriptor: that of a `TcpStream` costs a call into the standard library, which is not
/// inlined, with each message.
#[derive(Debug)]
struct Stream(OwnedFd);

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Self(stream.into())
    }
}

impl AsFd for Stream {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Sending for Stream {
    #[inline]
    fn send(&self, data: &[u8]) -> io::Result<usize> {
        socket::send(self.as_fd(), data)
    }
}

impl Receiving for Stream {
    #[inline]
    fn recv(&self, space: &mut [u8]) -> io::Result<usize> {
        socket::recv(self.as_fd(), space)
    }

    #[inline]
    fn recv_ready(&self, space: &mut [u8]) -> io::Result<usize> {
        socket::recv_ready(self.as_fd(), space)
    }

    fn waiting(&self) -> u64 {
        socket::unread(self).unwrap_or(0)
    }
}

impl Channel for Stream {
    fn close_sending(&self) -> io::Result<()> {
        socket::close_sending(self)
    }

    fn abort(&self) {
        socket::abort(self);
    }

    fn options(&self) -> SocketOptions {
        socket_options(Effective::of(self))
    }

    fn tcp_info(&self) -> Option<TcpInfo> {
        TcpInfo::of(self).ok()
    }

    fn ends(&self) -> Option<[SocketAddr; 2]> {
        socket::ends(self)
    }

    fn unacknowledged(&self) -> Option<u64> {
        socket::unacknowledged(self).ok()
    }
}
