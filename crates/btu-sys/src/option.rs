//! Options of sockets for which the libraries have no name, or another type.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

/// What the kernel may fill with any bytes.
///
/// # Safety
/// Every bit pattern is a value of the type.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers, and structures of integers.
unsafe impl Plain for u32 {}
// SAFETY: the same.
unsafe impl Plain for u64 {}
// SAFETY: the same.
unsafe impl Plain for libc::tpacket_stats {}
// SAFETY: the same.
unsafe impl Plain for libc::xdp_mmap_offsets {}

/// Sets an option, named by its level and its number there; `T` must be its C type.
pub(crate) fn set<T: Copy>(
    socket: &impl AsFd,
    (level, name): (libc::c_int, libc::c_int),
    value: T,
) -> io::Result<()> {
    let (fd, start) = (socket.as_fd().as_raw_fd(), (&raw const value).cast());
    // SAFETY: pointer and length describe one live value, which the kernel only reads.
    done(unsafe { libc::setsockopt(fd, level, name, start, length_of::<T>()) })
}

/// What an option is set to: the kernel writes it over `value`.
pub(crate) fn get<T: Plain>(
    socket: &impl AsFd,
    (level, name): (libc::c_int, libc::c_int),
    mut value: T,
) -> io::Result<T> {
    let (mut length, start) = (length_of::<T>(), (&raw mut value).cast());
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: pointer and length describe one live value that is held exclusively, and that any
    // bytes fill legally.
    let status = unsafe { libc::getsockopt(fd, level, name, start, &raw mut length) };
    done(status).map(|()| value)
}

/// The answer of a call that has no other than success.
pub(crate) fn done(status: libc::c_int) -> io::Result<()> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The length of small C structures, as the kernel counts it.
pub(crate) fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX)
}
