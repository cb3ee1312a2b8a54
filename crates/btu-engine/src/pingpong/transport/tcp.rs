//! TCP.

use btu_core::units::Bytes;
use btu_sys::exchange::Family;

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

/// The transport `tcp`.
#[derive(Debug)]
pub(super) struct Tcp;

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn about(&self) -> &'static str {
        "TCP, a stream"
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: false, reach: Reach::Network, waits: socket::WAITS }
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        StreamListener::on(Family::Tcp, hookup, &hookup.tcp_settings())
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        socket::connect_stream(Family::Tcp, at, hookup, &hookup.tcp_settings())
    }
}
