//! The addresses of the calling thread's network, each with the link that has it.

use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockaddrStorage;

use crate::error::Error;
use crate::error::Result;

/// Every address, with the index of its link.
pub fn addresses() -> Result<Vec<(IpAddr, u32)>> {
    let all = getifaddrs().map_err(|cause| Error::new("list the addresses of this host", cause))?;
    let of = all.filter_map(|one| {
        let ip = ip_of(&one.address?)?;
        Some((ip, if_nametoindex(one.interface_name.as_str()).ok()?))
    });
    Ok(of.collect())
}

/// The address of a host, where it is one.
pub(crate) fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let four = address.as_sockaddr_in().map(|at| IpAddr::V4(at.ip()));
    four.or_else(|| address.as_sockaddr_in6().map(|at| IpAddr::V6(at.ip())))
}
