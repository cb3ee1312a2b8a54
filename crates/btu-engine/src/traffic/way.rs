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
