//! Sockets that two ends exchange blocks over: how they are made, and calls that never sleep.

mod family;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::time::Duration;
use std::time::Instant;

use nix::poll::PollFd;
use nix::poll::PollFlags;
use nix::poll::PollTimeout;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use socket2::SockRef;

use crate::error::Error;
use crate::error::Result;
use crate::option;

pub use family::Address;
pub use family::Family;
pub use family::Listening;
pub use family::connect;
pub use family::datagram;
pub use family::join;
pub use family::listen;
pub use family::pair;
pub use family::peer;

/// Whether a call may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// It fails with `WouldBlock` where it would have to.
    AtOnce,
    /// Until something can be moved.
    Sleeping,
}

/// What a receive may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One message. Its whole length is told, also where the space was too small.
    Message,
    /// Some bytes of a stream.
    Stream,
}

/// What a socket is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Something to read, or room to write.
    Either,
    /// Something to read.
    Read,
    /// Room to write.
    Write,
}

/// One `send`, without a signal where the peer is gone. As direct as [`crate::socket::send`].
#[inline]
pub fn send(socket: BorrowedFd<'_>, data: &[u8], call: Call) -> io::Result<usize> {
    let wait = if call == Call::AtOnce { SendFlags::DONTWAIT } else { SendFlags::empty() };
    Ok(rustix::net::send(socket, data, SendFlags::NOSIGNAL | wait)?)
}

/// One `recv`; 0 is the end of a stream. May tell more than `space` holds where the message was longer.
#[inline]
pub fn recv(
    socket: BorrowedFd<'_>,
    space: &mut [u8],
    call: Call,
    framing: Framing,
) -> io::Result<usize> {
    let wait = if call == Call::AtOnce { RecvFlags::DONTWAIT } else { RecvFlags::empty() };
    let whole = if framing == Framing::Message { RecvFlags::TRUNC } else { RecvFlags::empty() };
    let (_, received) = rustix::net::recv(socket, space, whole | wait)?;
    Ok(received)
}

/// As a `recv` of a message at once, but leaves it there.
pub fn peek(socket: BorrowedFd<'_>, space: &mut [u8]) -> io::Result<usize> {
    let flags = RecvFlags::PEEK | RecvFlags::TRUNC | RecvFlags::DONTWAIT;
    let (_, received) = rustix::net::recv(socket, space, flags)?;
    Ok(received)
}

/// Takes a datagram that waits, and tells who sent it.
pub fn sender(socket: &impl AsFd) -> Result<SocketAddr> {
    let fd = socket.as_fd();
    let mut space = [std::mem::MaybeUninit::uninit(); 16];
    let received = SockRef::from(&fd).recv_from(&mut space);
    let (_, from) = received.map_err(|cause| Error::new("receive a datagram", cause))?;
    let unknown = || Error::new("read the sender of a datagram", io::ErrorKind::Unsupported);
    from.as_socket().ok_or_else(unknown)
}

/// Takes a datagram that waits, as much of it as there is room for; its whole length and its sender.
/// Fails with `WouldBlock` where there is none.
pub fn recv_from(socket: &impl AsFd, space: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    let (fd, flags) = (socket.as_fd(), libc::MSG_DONTWAIT | libc::MSG_TRUNC);
    let space = std::ptr::from_mut(space) as *mut [std::mem::MaybeUninit<u8>];
    // SAFETY: the layout is the same, we hold the slice exclusively, and a receive writes bytes only.
    let space = unsafe { &mut *space };
    let (length, from) = SockRef::from(&fd).recv_from_with_flags(space, flags)?;
    Ok((length, from.as_socket().ok_or(io::ErrorKind::Unsupported)?))
}

/// Sends a datagram to `address`, or fails with `WouldBlock`.
pub fn send_to(socket: &impl AsFd, data: &[u8], address: SocketAddr) -> io::Result<usize> {
    let fd = socket.as_fd();
    SockRef::from(&fd).send_to_with_flags(data, &address.into(), libc::MSG_DONTWAIT)
}

/// Sleeps until the socket is ready, broken, or the time is over; false for the last. A signal changes nothing.
pub fn poll(socket: BorrowedFd<'_>, ready: Ready, longest: Option<Duration>) -> io::Result<bool> {
    let events = match ready {
        Ready::Either => PollFlags::POLLIN | PollFlags::POLLOUT,
        Ready::Read => PollFlags::POLLIN,
        Ready::Write => PollFlags::POLLOUT,
    };
    let end = longest.and_then(|longest| Instant::now().checked_add(longest));
    let mut left = longest;
    loop {
        let limit = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        match nix::poll::poll(&mut [PollFd::new(socket, events)], limit) {
            Err(nix::errno::Errno::EINTR) => {
                left = end.map(|end| end.saturating_duration_since(Instant::now()));
            }
            outcome => return Ok(outcome? > 0),
        }
    }
}

/// Lets the kernel poll the device for up to `micros` before a receive sleeps (`SO_BUSY_POLL`).
pub fn set_busy_poll(socket: &impl AsFd, micros: u32) -> Result<()> {
    let fd = socket.as_fd();
    let outcome = SockRef::from(&fd).set_busy_poll(micros);
    outcome.map_err(|cause| Error::new(format!("set SO_BUSY_POLL to {micros}"), cause))
}

/// The receive queue that the kernel would poll (`SO_INCOMING_NAPI_ID`); `None` without one, as on
/// veth and loopback: polling has no effect there.
pub fn polled_queue(socket: &impl AsFd) -> Option<u32> {
    let queue = option::get(socket, (libc::SOL_SOCKET, libc::SO_INCOMING_NAPI_ID), 0_u32);
    queue.ok().filter(|queue| *queue != 0)
}

/// Switches the delay of acknowledgements off (or on) until the kernel changes its mind.
#[inline]
pub fn set_quick_ack(socket: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    SockRef::from(&socket).set_tcp_quickack(on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beset::beset;
    use crate::socket::Settings;

    fn nearby() -> (std::os::fd::OwnedFd, std::os::fd::OwnedFd) {
        pair(Family::UnixMessages, &Settings::default()).unwrap()
    }

    #[test]
    fn a_call_at_once_says_that_it_would_sleep() {
        let (near, _far) = nearby();
        let fault = recv(near.as_fd(), &mut [0; 4], Call::AtOnce, Framing::Message).unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::WouldBlock);
        let waited = poll(near.as_fd(), Ready::Read, Some(Duration::from_millis(1)));
        assert!(!waited.unwrap());
        assert!(poll(near.as_fd(), Ready::Either, None).unwrap());
    }

    #[test]
    fn a_message_that_does_not_fit_tells_its_length() {
        let (near, far) = nearby();
        assert_eq!(send(far.as_fd(), &[7; 100], Call::Sleeping).unwrap(), 100);
        let mut space = [0; 10];
        let told = recv(near.as_fd(), &mut space, Call::Sleeping, Framing::Message);
        assert_eq!((told.unwrap(), space), (100, [7; 10]));
    }

    #[test]
    fn every_family_of_streams_connects_or_says_why_not() {
        for family in [Family::Tcp, Family::Mptcp, Family::Vsock] {
            let wanted = family.any_local();
            let settings = Settings::default();
            let made = listen(family, wanted, &settings).and_then(|listening| {
                let limit = Duration::from_millis(500);
                let near = connect(family, listening.address()?, &settings, limit)?;
                Ok((near, listening.accept(limit)?))
            });
            let (near, far) = match made {
                Ok(ends) => ends,
                Err(cause) => {
                    crate::skip::record(&format!("kernel lacks: {family:?}: {cause}"));
                    continue;
                }
            };
            send(near.as_fd(), b"bits", Call::Sleeping).unwrap();
            let mut space = [0; 4];
            recv(far.as_fd(), &mut space, Call::Sleeping, Framing::Stream).unwrap();
            assert_eq!(&space, b"bits");
            assert_eq!(polled_queue(&near), None);
        }
    }

    #[test]
    fn a_segment_size_is_set_before_the_connection() {
        let settings = Settings { max_segment: Some(500), ..Settings::default() };
        let listening = listen(Family::Tcp, Family::Tcp.any_local(), &settings).unwrap();
        let limit = Duration::from_secs(5);
        let near = connect(Family::Tcp, listening.address().unwrap(), &settings, limit).unwrap();
        let _far = listening.accept(limit).unwrap();
        // The option of the time stamps takes 12 bytes of each segment.
        assert_eq!(crate::socket::Effective::of(&near).mss, Some(488));
    }

    #[test]
    fn nobody_accepts_for_ever() {
        let listening = listen(Family::Tcp, Family::Tcp.any_local(), &Settings::default()).unwrap();
        let fault = listening.accept(Duration::from_millis(1)).unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_signal_makes_nobody_accept_for_ever() {
        let listening = listen(Family::Tcp, Family::Tcp.any_local(), &Settings::default()).unwrap();
        let accepted = beset(move || listening.accept(Duration::from_millis(50)));
        assert_eq!(accepted.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
