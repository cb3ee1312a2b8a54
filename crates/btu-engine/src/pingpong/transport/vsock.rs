//! VSOCK over the machine's own address (CID 1).

use std::time::Duration;

use btu_core::pingpong::configuration::Wait;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Family;
use btu_sys::socket::Settings;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Rendezvous;
use super::Transport;
use super::socket;
use super::socket::StreamListener;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `vsock`.
#[derive(Debug)]
pub(super) struct Vsock;

impl Transport for Vsock {
    fn name(&self) -> &'static str {
        "vsock"
    }

    fn about(&self) -> &'static str {
        "sockets between a virtual machine and its host, a stream"
    }

    fn properties(&self) -> Properties {
        Properties {
            reliable: true,
            bounded: false,
            one_host: true,
            waits: &[Wait::Block, Wait::Spin, Wait::Epoll],
        }
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        let nothing = Settings::default();
        let listening = exchange::listen(Family::Vsock, Family::Vsock.any_local(), &nothing)?;
        exchange::connect(Family::Vsock, listening.address()?, &nothing, PROBE)?;
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        StreamListener::on(Family::Vsock, hookup, &hookup.settings())
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        socket::connect_stream(Family::Vsock, at, hookup, &hookup.settings())
    }
}

/// A machine without the loopback of VSOCK does not refuse the connection, it never answers.
const PROBE: Duration = Duration::from_millis(100);
