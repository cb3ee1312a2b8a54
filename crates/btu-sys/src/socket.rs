//! Sockets of a measurement: their options, one call per message, and how they end.

mod calls;
#[cfg(feature = "hyper")]
mod lent;

use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use socket2::Domain;
use socket2::Protocol;
use socket2::SockRef;
use socket2::Socket;
use socket2::Type;

use crate::error::Error;
use crate::error::Result;
use crate::option;
use crate::tcp_info::Negotiated;
use crate::tcp_info::TcpInfo;

pub use calls::FiledMessage;
pub use calls::discard;
pub use calls::send_both;
pub use calls::send_more;
pub use calls::send_parts;
pub use calls::set_low_water;
#[cfg(feature = "hyper")]
pub use lent::recv_lent;

/// Options to set before `connect` or `listen`; `None` leaves the system's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `TCP_CONGESTION`, such as `cubic`.
    pub congestion: Option<String>,
    /// `TCP_NODELAY`.
    pub nodelay: Option<bool>,
    /// `SO_SNDBUF`; the kernel doubles it.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF`; the kernel doubles it.
    pub receive_buffer: Option<usize>,
    /// `TCP_WINDOW_CLAMP`.
    pub window_clamp: Option<u32>,
    /// `TCP_MAXSEG`; time stamps take 12 bytes off it.
    pub max_segment: Option<u32>,
    /// `SO_MAX_PACING_RATE`, bytes per second, headers included.
    pub pacing_byte_s: Option<u64>,
    /// `TCP_USER_TIMEOUT`: after so long without an acknowledgement nothing is repeated any more, not
    /// even by a kernel whose process has ended.
    pub user_timeout: Option<Duration>,
    /// What [`reset_on_close`] does.
    pub reset_on_close: bool,
}

/// Options as the kernel has them; `None` where it has no such option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// `TCP_CONGESTION`.
    pub congestion: Option<String>,
    /// `TCP_NODELAY`.
    pub nodelay: Option<bool>,
    /// `SO_SNDBUF`.
    pub send_buffer: Option<u64>,
    /// `SO_RCVBUF`.
    pub receive_buffer: Option<u64>,
    /// `TCP_MAXSEG`.
    pub mss: Option<u64>,
    /// `TCP_WINDOW_CLAMP`; zero means none.
    pub window_clamp: Option<u64>,
    /// `SO_RCVLOWAT`: for how many bytes a reader is woken.
    pub low_water: Option<u64>,
    /// `TCP_NOTSENT_LOWAT`: up to how many bytes that were not sent a writer is woken; zero means as the system has it.
    pub not_sent_low_water: Option<u64>,
    /// What the handshake settled.
    pub negotiated: Option<Negotiated>,
}

/// True where the kernel has a congestion control of this name, or loads it; whether this process may use it is
/// another question.
///
/// # Errors
/// No socket can be made, or it answers otherwise.
pub fn has_congestion(name: &str) -> Result<bool> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
    let socket = named(socket, || "make a TCP socket".to_owned())?;
    match socket.set_tcp_congestion(name.as_bytes()) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) if cause.kind() != io::ErrorKind::PermissionDenied => {
            Err(Error::new(format!("set TCP_CONGESTION to {name}"), cause))
        }
        _ => Ok(true),
    }
}

impl Settings {
    /// Sets every option that is named.
    pub fn apply(&self, socket: &impl AsFd) -> Result<()> {
        let fd = socket.as_fd();
        let reference = SockRef::from(&fd);
        if let Some(name) = &self.congestion {
            let set = reference.set_tcp_congestion(name.as_bytes());
            set.map_err(|cause| {
                let allowed =
                    "without rights, only what net.ipv4.tcp_allowed_congestion_control lists";
                let forbidden = cause.kind() == io::ErrorKind::PermissionDenied;
                let why = if forbidden { format!(" ({allowed})") } else { String::new() };
                Error::new(format!("set TCP_CONGESTION to {name}{why}"), cause)
            })?;
        }
        if let Some(on) = self.nodelay {
            named(reference.set_tcp_nodelay(on), || format!("set TCP_NODELAY to {on}"))?;
        }
        if let Some(size) = self.send_buffer {
            named(reference.set_send_buffer_size(size), || format!("set SO_SNDBUF to {size}"))?;
        }
        if let Some(size) = self.receive_buffer {
            named(reference.set_recv_buffer_size(size), || format!("set SO_RCVBUF to {size}"))?;
        }
        if let Some(size) = self.window_clamp {
            named(option::set(&fd, WINDOW_CLAMP, size), || {
                format!("set TCP_WINDOW_CLAMP to {size}")
            })?;
        }
        if let Some(size) = self.max_segment {
            named(reference.set_tcp_mss(size), || format!("set TCP_MAXSEG to {size}"))?;
        }
        if let Some(rate) = self.pacing_byte_s {
            pace(&fd, rate)?;
        }
        if let Some(time) = self.user_timeout {
            let set = reference.set_tcp_user_timeout(Some(time));
            named(set, || format!("set TCP_USER_TIMEOUT to {} ms", time.as_millis()))?;
        }
        if self.reset_on_close {
            reset_on_close(&fd)?;
        }
        Ok(())
    }
}

impl Effective {
    /// Reads the options back.
    pub fn of(socket: &impl AsFd) -> Self {
        let fd = socket.as_fd();
        let reference = SockRef::from(&fd);
        let text = |raw: Vec<u8>| {
            let name = raw.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        let wide = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        Self {
            congestion: reference.tcp_congestion().ok().map(text),
            nodelay: reference.tcp_nodelay().ok(),
            send_buffer: reference.send_buffer_size().ok().map(wide),
            receive_buffer: reference.recv_buffer_size().ok().map(wide),
            mss: reference.tcp_mss().ok().map(u64::from),
            window_clamp: option::get(&fd, WINDOW_CLAMP, 0_u32).ok().map(u64::from),
            low_water: calls::low_water(fd).ok(),
            not_sent_low_water: option::get(&fd, NOT_SENT_LOW_WATER, 0_u32).ok().map(u64::from),
            negotiated: TcpInfo::of(&fd).ok().and_then(|info| info.negotiated()),
        }
    }
}

/// A listening TCP socket with its options, which accepted sockets inherit. Port 0 chooses a free one.
pub fn listen(address: SocketAddr, settings: &Settings) -> Result<TcpListener> {
    let socket = named(tcp_socket(address), || "make a TCP socket".to_owned())?;
    settings.apply(&socket)?;
    named(socket.set_reuse_address(true), || "set SO_REUSEADDR".to_owned())?;
    named(socket.bind(&address.into()), || format!("bind {address}"))?;
    named(socket.listen(BACKLOG), || format!("listen on {address}"))?;
    Ok(socket.into())
}

/// A TCP connection with its options, made within `timeout`.
pub fn connect(address: SocketAddr, settings: &Settings, timeout: Duration) -> Result<TcpStream> {
    let socket = named(tcp_socket(address), || "make a TCP socket".to_owned())?;
    settings.apply(&socket)?;
    named(socket.connect_timeout(&address.into(), timeout), || format!("connect to {address}"))?;
    Ok(socket.into())
}

/// Begins a TCP connection with its options, and does not wait for it: whoever listens there sees it
/// come from the local address of the socket. The socket does not block.
pub fn begin_connect(address: SocketAddr, settings: &Settings) -> Result<TcpStream> {
    let socket = named(tcp_socket(address), || "make a TCP socket".to_owned())?;
    settings.apply(&socket)?;
    named(socket.set_nonblocking(true), || "set O_NONBLOCK".to_owned())?;
    match socket.connect(&address.into()) {
        Err(cause) if cause.raw_os_error() != Some(libc::EINPROGRESS) => {
            Err(Error::new(format!("connect to {address}"), cause))
        }
        _ => Ok(socket.into()),
    }
}

/// Sets the differentiated services code point of what an IPv4 socket sends.
pub fn mark_packets(socket: &impl AsFd, code_point: u8) -> Result<()> {
    let fd = socket.as_fd();
    let outcome = SockRef::from(&fd).set_tos_v4(u32::from(code_point) << 2);
    named(outcome, || format!("set the code point to {code_point}"))
}

/// Bytes that a socket has received and nobody read: of datagrams, those of the first (FIONREAD).
pub fn unread(socket: &impl AsFd) -> Result<u64> {
    queued(socket.as_fd(), Queue::Received)
}

/// A UDP socket on `address` that asks for a receive buffer of `buffer` bytes; the kernel may give less.
pub fn bind_udp(address: SocketAddr, buffer: usize) -> Result<UdpSocket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP));
    let socket = named(socket, || "make a UDP socket".to_owned())?;
    named(socket.set_recv_buffer_size(buffer), || format!("set SO_RCVBUF to {buffer}"))?;
    named(socket.bind(&address.into()), || format!("bind {address}"))?;
    Ok(socket.into())
}

/// Lets one write to a UDP socket become datagrams of `size` bytes each (`UDP_SEGMENT`).
pub fn segment_datagrams(socket: &impl AsFd, size: u16) -> Result<()> {
    let set = nix::sys::socket::setsockopt(
        &socket.as_fd(),
        nix::sys::socket::sockopt::UdpGsoSegment,
        &i32::from(size),
    );
    set.map_err(|cause| Error::new(format!("set UDP_SEGMENT to {size}"), cause))
}

/// Lets nobody fragment what a UDP socket sends, neither this host nor a router, whatever a route is thought to carry:
/// packets are as long as the device takes them (`IP_PMTUDISC_PROBE`).
pub fn forbid_fragments(socket: &impl AsFd) -> Result<()> {
    let fd = socket.as_fd();
    let is_ipv6 = SockRef::from(&fd).domain().is_ok_and(|domain| domain == Domain::IPV6);
    let v4 = (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER);
    let v4 = option::set(&fd, v4, libc::IP_PMTUDISC_PROBE);
    named(v4, || "set IP_MTU_DISCOVER".to_owned())?;
    if is_ipv6 {
        let v6 = (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER);
        let v6 = option::set(&fd, v6, libc::IPV6_PMTUDISC_PROBE);
        named(v6, || "set IPV6_MTU_DISCOVER".to_owned())?;
    }
    Ok(())
}

/// One `send` of `data`, without a signal where the peer is gone. It goes to the kernel at once: a C library
/// makes each a point of cancellation where a process has several threads (docs/decisions/0071).
#[inline]
pub fn send(socket: BorrowedFd<'_>, data: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, data, SendFlags::NOSIGNAL)?)
}

/// One `recv` into `space`; 0 is the end of the stream. As direct as [`send`].
#[inline]
pub fn recv(socket: BorrowedFd<'_>, space: &mut [u8]) -> io::Result<usize> {
    let (_, received) = rustix::net::recv(socket, space, RecvFlags::empty())?;
    Ok(received)
}

/// Waits with `poll`, then takes what is there into `space` without waiting for more; 0 is the end of the stream.
#[inline]
pub fn recv_ready(socket: BorrowedFd<'_>, space: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut awaited = [PollFd::from_borrowed_fd(socket, PollFlags::IN)];
        match poll(&mut awaited, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        match rustix::net::recv(socket, &mut *space, RecvFlags::DONTWAIT) {
            Ok((_, received)) => return Ok(received),
            // Somebody else took it, or a signal ended the wait.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Ends a socket in both directions: every blocked call on it returns. A listening socket stops accepting.
pub fn abort(socket: &impl AsFd) {
    let fd = socket.as_fd();
    // A socket that is not connected any more has nothing left to end.
    let _ = SockRef::from(&fd).shutdown(std::net::Shutdown::Both);
}

/// Nothing more is sent: the peer sees the end after the last byte.
pub fn close_sending(socket: &impl AsFd) -> io::Result<()> {
    SockRef::from(&socket.as_fd()).shutdown(std::net::Shutdown::Write)
}

/// Addresses of this end and of the other, of a socket that is connected.
pub fn ends(socket: &impl AsFd) -> Option<[SocketAddr; 2]> {
    let fd = socket.as_fd();
    let socket = SockRef::from(&fd);
    Some([socket.local_addr().ok()?.as_socket()?, socket.peer_addr().ok()?.as_socket()?])
}

/// Bounds every later wait on the socket (`SO_RCVTIMEO`, `SO_SNDTIMEO`): a call that waits longer
/// fails with `WouldBlock`. On a listening socket it bounds `accept`. No time at all means no bound.
pub fn bound_waits(socket: &impl AsFd, longest: Duration) -> Result<()> {
    let fd = socket.as_fd();
    let reference = SockRef::from(&fd);
    let longest = Some(longest).filter(|time| !time.is_zero());
    named(reference.set_read_timeout(longest), || format!("set SO_RCVTIMEO to {longest:?}"))?;
    named(reference.set_write_timeout(longest), || format!("set SO_SNDTIMEO to {longest:?}"))
}

/// Closing the socket will discard what was not sent, and reset the connection.
pub fn reset_on_close(socket: &impl AsFd) -> Result<()> {
    let fd = socket.as_fd();
    let outcome = SockRef::from(&fd).set_linger(Some(Duration::ZERO));
    named(outcome, || "set SO_LINGER to zero".to_owned())
}

/// Takes [`reset_on_close`] back: what was not sent when the socket is closed is sent after that.
pub fn finish_on_close(socket: &impl AsFd) -> Result<()> {
    let fd = socket.as_fd();
    named(SockRef::from(&fd).set_linger(None), || "set SO_LINGER off".to_owned())
}

/// From now on a stream sends no faster than this (`SO_MAX_PACING_RATE`), headers included.
pub fn pace(socket: &impl AsFd, byte_s: u64) -> Result<()> {
    // In 64 bits since Linux 4.20.
    let set = option::set(socket, (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE), byte_s);
    named(set, || format!("set SO_MAX_PACING_RATE to {byte_s}"))
}

/// Bytes that were written and not yet acknowledged by the peer (`SIOCOUTQ`).
pub fn unacknowledged(socket: &impl AsFd) -> Result<u64> {
    queued(socket.as_fd(), Queue::Sent)
}

/// A queue of a socket whose bytes the kernel counts.
#[derive(Clone, Copy)]
enum Queue {
    Received,
    Sent,
}

fn queued(socket: BorrowedFd<'_>, queue: Queue) -> Result<u64> {
    let (request, name) = match queue {
        Queue::Received => (libc::FIONREAD, "FIONREAD"),
        // SIOCOUTQ has the number of TIOCOUTQ.
        Queue::Sent => (libc::TIOCOUTQ, "SIOCOUTQ"),
    };
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int to the pointer, which is valid.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), request, &raw mut bytes) };
    if outcome < 0 {
        return Err(Error::last(format!("read {name}")));
    }
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Adds operation and operand to an error.
fn named<T>(outcome: io::Result<T>, operation: impl FnOnce() -> String) -> Result<T> {
    outcome.map_err(|cause| Error::new(operation(), cause))
}

/// A TCP socket of the address's family; closed on exec.
fn tcp_socket(address: SocketAddr) -> io::Result<Socket> {
    Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))
}

const WINDOW_CLAMP: (libc::c_int, libc::c_int) = (libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP);
const NOT_SENT_LOW_WATER: (libc::c_int, libc::c_int) = (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT);
const BACKLOG: i32 = 128;

#[cfg(test)]
mod tests;
