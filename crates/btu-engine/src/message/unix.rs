//! The message layer `unix`: a pair of stream sockets between any two ranks.

use std::os::unix::net::UnixStream;

use btu_core::app::endpoint::Endpoint;
use btu_core::app::sample::Wait;

use super::MessageLayer;
use super::RanksAre;
use super::Seat;
use super::Terms;
use super::ThreadLayer;
use super::mesh::Mesh;
use super::socket::SocketWires;
use crate::error::EngineError;

/// The message layer `unix`.
#[derive(Debug)]
pub(super) struct Unix;

impl MessageLayer for Unix {
    fn name(&self) -> &'static str {
        "unix"
    }

    fn about(&self) -> &'static str {
        "a pair of stream sockets between any two ranks; all on one host"
    }

    fn spans_hosts(&self) -> bool {
        false
    }

    fn waits(&self) -> &'static [Wait] {
        &[Wait::Block, Wait::Spin]
    }

    fn ranks(&self) -> RanksAre<'_> {
        RanksAre::Threads(self)
    }
}

impl ThreadLayer for Unix {
    fn join(
        &self,
        seats: &[Seat],
        terms: &Terms,
    ) -> Result<Vec<Box<dyn Endpoint + Send>>, EngineError> {
        let ranks = seats.len();
        let of_all = super::between_all(ranks, |_, _| pair())?;
        let end = |(rank, sockets)| Ok(Mesh::boxed(rank, ranks, SocketWires::new(sockets)?, terms));
        of_all.into_iter().enumerate().map(end).collect()
    }
}

fn pair() -> Result<(UnixStream, UnixStream), EngineError> {
    let ends = UnixStream::pair().map_err(EngineError::peer("make a pair of sockets"))?;
    for end in [&ends.0, &ends.1] {
        end.set_nonblocking(true).map_err(EngineError::peer("set O_NONBLOCK"))?;
    }
    Ok(ends)
}
