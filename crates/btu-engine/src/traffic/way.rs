//! The two ends of a probe.

use std::net::IpAddr;
use std::net::SocketAddr;

use crate::error::EngineError;
use crate::place::Place;

/// From where to where a probe goes.
#[derive(Debug)]
pub struct Way<'a> {
    /// The end that begins, and measures.
    pub near: &'a Place,
    /// The other end.
    pub far: &'a Place,
    /// Where the other end is reached.
    pub address: IpAddr,
}

impl Way<'_> {
    /// Any port of the other end.
    pub(super) fn door(&self) -> SocketAddr {
        SocketAddr::new(self.address, 0)
    }
}

/// Works at the place of a host.
pub(super) fn within<T: Send>(
    place: &Place,
    work: impl FnOnce() -> Result<T, EngineError> + Send,
) -> Result<T, EngineError> {
    match &place.net {
        Some(net) => net.inside(work)?,
        None => work(),
    }
}

/// Whether packets to this address are those of IPv6: a socket of both families shows IPv4 in the clothes of IPv6.
pub(super) fn is_ipv6(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_ipv6()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_a_path_is_that_of_its_packets() {
        let is = |text: &str| is_ipv6(text.parse().unwrap());
        assert!(is("[fd00::1]:9") && !is("10.9.0.1:9") && !is("[::ffff:10.9.0.1]:9"));
    }
}
