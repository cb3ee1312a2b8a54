//! Sockets of the family `AF_PACKET`, which see whole frames: how they are made and bound.

use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;

use crate::option;

/// A socket that receives nothing until it is bound.
pub(crate) fn open() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    option::done(fd)?;
    // SAFETY: the descriptor was made by the call above and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Receives the frames of one `EtherType` on `link` from now on.
pub(crate) fn bind(socket: &OwnedFd, link: u32, ether_type: u16) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: u16::try_from(libc::AF_PACKET).unwrap_or_default(),
        sll_protocol: ether_type.to_be(),
        sll_ifindex: i32::try_from(link).unwrap_or(i32::MAX),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = option::length_of::<libc::sockaddr_ll>();
    // SAFETY: pointer and length describe one live sockaddr_ll, which the kernel only reads.
    option::done(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

/// Sets an option of such a socket whose value is an int.
pub(crate) fn set(socket: &OwnedFd, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    option::set(socket, (libc::SOL_PACKET, name), value)
}

/// The `EtherType` that stands for all of them.
pub(crate) const EVERY_TYPE: u16 = 3;

const _: () = assert!(EVERY_TYPE as libc::c_int == libc::ETH_P_ALL, "linux/if_ether.h");
