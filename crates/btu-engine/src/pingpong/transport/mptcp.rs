//! Multipath TCP (RFC 8684), with the path manager as the kernel has it set.

use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Family;
use btu_sys::socket::Settings;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::StreamListener;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `mptcp`.
#[derive(Debug)]
pub(super) struct Mptcp;

impl Transport for Mptcp {
    fn name(&self) -> &'static str {
        "mptcp"
    }

    fn about(&self) -> &'static str {
        "Multipath TCP, a stream, over the paths that the kernel has"
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits: socket::WAITS }
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        let here = Family::Mptcp.any_local();
        exchange::listen(Family::Mptcp, here, &Settings::default())?;
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        StreamListener::on(Family::Mptcp, hookup, &hookup.tcp_settings())
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        socket::connect_stream(Family::Mptcp, at, hookup, &hookup.tcp_settings())
    }
}
