//! Whole blocks through a connection, one call of the system per buffer.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;

use btu_sys::socket;

use crate::transport::retried;

/// Sends all of `bytes`: in one call, unless the system takes less. `each` hears of every call.
pub(super) fn send_all(
    stream: &TcpStream,
    bytes: &[u8],
    mut each: impl FnMut(usize),
) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let sent = retried(|| socket::send(stream.as_fd(), rest))?;
        each(sent);
        rest = &rest[sent..];
    }
    Ok(())
}

/// Fills `space`. Returns how many bytes came: less where the other end has ended.
pub(super) fn fill(
    stream: &TcpStream,
    space: &mut [u8],
    mut each: impl FnMut(usize),
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < space.len() {
        let came = retried(|| socket::recv(stream.as_fd(), &mut space[filled..]))?;
        if came == 0 {
            break;
        }
        each(came);
        filled += came;
    }
    Ok(filled)
}

/// Receives `length` bytes into `space`, over and over, which throws them away. Returns how many came: less where the
/// other end has ended.
pub(super) fn receive(
    stream: &TcpStream,
    space: &mut [u8],
    length: u64,
    mut each: impl FnMut(usize),
) -> io::Result<u64> {
    let mut left = length;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(space.len());
        let came = retried(|| socket::recv(stream.as_fd(), &mut space[..wanted]))?;
        if came == 0 {
            break;
        }
        each(came);
        left -= came as u64;
    }
    Ok(length - left)
}
