//! Unix sockets as a stream: what two processes of one host use for pipes both ways.

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Layer;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Family;

use super::Both;
use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::SocketEnd;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `unix`.
#[derive(Debug)]
pub(super) struct Unix;

impl Transport for Unix {
    fn name(&self) -> &'static str {
        "unix"
    }

    fn about(&self) -> &'static str {
        "Unix sockets, a stream; both ends on one host"
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: false, reach: Reach::OneHost, waits: WAITS }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        nature()
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        pair::<false>(Family::UnixStream, hookup)
    }

    fn connect(&self, at: &Rendezvous, _: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        at.take()
    }
}

/// Both ends at once.
pub(super) fn pair<const BOUNDED: bool>(
    family: Family,
    hookup: &Hookup<'_>,
) -> Result<Box<dyn Listener>, EngineError> {
    let (stays, leaves) = exchange::pair(family, &hookup.settings())?;
    let stays = SocketEnd::<BOUNDED, true>::new(stays, hookup.wanted)?;
    Ok(Both::boxed(stays, SocketEnd::<BOUNDED, true>::new(leaves, hookup.wanted)?))
}

/// Neither segments nor a link.
pub(super) fn nature() -> Nature {
    use Setting::{MaxSegment, Mtu, Nodelay, Offload, QuickAck};
    let lacks = vec![MaxSegment, Mtu, Nodelay, Offload, QuickAck];
    Nature { layer: Layer::Memory, lacks, ..Nature::default() }
}

/// There is no device to poll.
pub(super) const WAITS: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Epoll];
