//! The addresses of the calling thread's network, each with the link that has it.

use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;

use crate::error::Error;
use crate::error::Result;

/// Every address, with the index of its link.
pub fn addresses() -> Result<Vec<(IpAddr, u32)>> {
    let all = getifaddrs().map_err(|cause| Error::new("list the addresses of this host", cause))?;
    let of = all.filter_map(|one| {
        let address = one.address?;
        let four = address.as_sockaddr_in().map(|four| IpAddr::from(four.ip()));
        let ip = four.or_else(|| address.as_sockaddr_in6().map(|six| six.ip().into()))?;
        Some((ip, if_nametoindex(one.interface_name.as_str()).ok()?))
    });
    Ok(of.collect())
}
