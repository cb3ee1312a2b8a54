//! The kinds of sockets, how each is listened on and connected, and where.

use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::time::Duration;

use socket2::Domain;
use socket2::Protocol;
use socket2::SockAddr;
use socket2::Socket;
use socket2::Type;

use super::Ready;
use super::poll;
use crate::error::Error;
use crate::error::Result;
use crate::socket::Settings;

/// A kind of socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Multipath TCP, a stream.
    Mptcp,
    /// TCP, a stream.
    Tcp,
    /// Unix sockets that keep messages apart (`SOCK_SEQPACKET`).
    UnixMessages,
    /// Unix sockets as a stream.
    UnixStream,
    /// Sockets between a virtual machine and its host, a stream.
    Vsock,
}

/// Where a socket listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Of the Internet.
    Inet(SocketAddr),
    /// Of a virtual machine.
    Vsock {
        /// The machine.
        cid: u32,
        /// The port.
        port: u32,
    },
}

/// A socket that waits for connections.
#[derive(Debug)]
pub struct Listening {
    socket: Socket,
}

impl Family {
    /// An address of this machine on which the kernel chooses the port.
    pub const fn any_local(self) -> Address {
        match self {
            Self::Vsock => {
                Address::Vsock { cid: libc::VMADDR_CID_LOCAL, port: libc::VMADDR_PORT_ANY }
            }
            _ => Address::Inet(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0)),
        }
    }

    fn socket(self, domain: Domain) -> Result<Socket> {
        let (kind, protocol) = match self {
            Self::Mptcp => (Type::STREAM, Some(Protocol::MPTCP)),
            Self::Tcp => (Type::STREAM, Some(Protocol::TCP)),
            Self::UnixMessages => (Type::SEQPACKET, None),
            Self::UnixStream | Self::Vsock => (Type::STREAM, None),
        };
        let made = Socket::new(domain, kind, protocol);
        made.map_err(|cause| Error::new(format!("make a socket of kind {self:?}"), cause))
    }
}

impl Listening {
    /// Where it listens.
    pub fn address(&self) -> Result<Address> {
        let found = self.socket.local_addr();
        let found = found.map_err(|cause| Error::new("read the address of a socket", cause))?;
        if let Some((cid, port)) = found.as_vsock_address() {
            return Ok(Address::Vsock { cid, port });
        }
        let unknown = || Error::new("read the address of a socket", io::ErrorKind::Unsupported);
        found.as_socket().map(Address::Inet).ok_or_else(unknown)
    }

    /// The next connection, if one comes in time.
    pub fn accept(&self, within: Duration) -> Result<OwnedFd> {
        let named = |cause| Error::new("accept a connection", cause);
        if !poll(self.socket.as_fd(), Ready::Read, Some(within)).map_err(named)? {
            return Err(named(io::ErrorKind::TimedOut.into()));
        }
        let (socket, _) = self.socket.accept().map_err(named)?;
        Ok(socket.into())
    }
}

impl AsFd for Listening {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Listens on `address` with options that accepted sockets inherit.
pub fn listen(family: Family, address: Address, settings: &Settings) -> Result<Listening> {
    let socket = family.socket(address.domain())?;
    settings.apply(&socket)?;
    if matches!(address, Address::Inet(_)) {
        let reused = socket.set_reuse_address(true);
        reused.map_err(|cause| Error::new("set SO_REUSEADDR", cause))?;
    }
    let named = |call: &str| format!("{call} {address}");
    let bound = socket.bind(&address.into());
    bound.map_err(|cause| Error::new(named("bind"), cause))?;
    socket.listen(1).map_err(|cause| Error::new(named("listen on"), cause))?;
    Ok(Listening { socket })
}

/// Connects to `address` in time, with options made before.
pub fn connect(
    family: Family,
    address: Address,
    settings: &Settings,
    within: Duration,
) -> Result<OwnedFd> {
    let socket = family.socket(address.domain())?;
    settings.apply(&socket)?;
    let connected = socket.connect_timeout(&address.into(), within);
    connected.map_err(|cause| Error::new(format!("connect to {address}"), cause))?;
    Ok(socket.into())
}

/// Two connected sockets of this machine, without an address.
pub fn pair(family: Family, settings: &Settings) -> Result<(OwnedFd, OwnedFd)> {
    let kind = if family == Family::UnixMessages { Type::SEQPACKET } else { Type::STREAM };
    let made = Socket::pair(Domain::UNIX, kind, None);
    let (near, far) = made.map_err(|cause| Error::new("make a pair of sockets", cause))?;
    settings.apply(&near)?;
    settings.apply(&far)?;
    Ok((near.into(), far.into()))
}

/// A UDP socket on `address`, and the address that it got.
pub fn datagram(address: SocketAddr, settings: &Settings) -> Result<(OwnedFd, SocketAddr)> {
    let made = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP));
    let socket = made.map_err(|cause| Error::new("make a UDP socket", cause))?;
    settings.apply(&socket)?;
    let named = |cause| Error::new(format!("bind {address}"), cause);
    socket.bind(&address.into()).map_err(named)?;
    let found = socket.local_addr().map_err(named)?.as_socket().unwrap_or(address);
    Ok((socket.into(), found))
}

/// Lets a UDP socket speak with `peer` alone.
pub fn join(socket: &impl AsFd, peer: SocketAddr) -> Result<()> {
    let fd = socket.as_fd();
    let joined = socket2::SockRef::from(&fd).connect(&peer.into());
    joined.map_err(|cause| Error::new(format!("connect to {peer}"), cause))
}

/// With whom a socket speaks alone.
pub fn peer(socket: &impl AsFd) -> Option<SocketAddr> {
    let fd = socket.as_fd();
    socket2::SockRef::from(&fd).peer_addr().ok()?.as_socket()
}

impl Address {
    fn domain(self) -> Domain {
        match self {
            Self::Inet(address) => Domain::for_address(address),
            Self::Vsock { .. } => Domain::VSOCK,
        }
    }
}

impl From<Address> for SockAddr {
    fn from(address: Address) -> Self {
        match address {
            Address::Inet(address) => address.into(),
            Address::Vsock { cid, port } => Self::vsock(cid, port),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inet(address) => write!(out, "{address}"),
            Self::Vsock { cid, port } => write!(out, "vsock {cid}:{port}"),
        }
    }
}
