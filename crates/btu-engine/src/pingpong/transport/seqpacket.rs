//! Unix sockets that keep messages apart.

use std::fs;

use btu_core::units::Bytes;
use btu_sys::exchange::Family;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Rendezvous;
use super::Transport;
use super::unix;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `seqpacket`.
#[derive(Debug)]
pub(super) struct SeqPacket;

impl Transport for SeqPacket {
    fn name(&self) -> &'static str {
        "seqpacket"
    }

    fn about(&self) -> &'static str {
        "Unix sockets, messages kept apart; both ends on one host"
    }

    fn properties(&self) -> Properties {
        Properties { reliable: true, bounded: true, one_host: true, waits: unix::WAITS }
    }

    /// A message must fit into the send buffer, beside what the kernel counts for itself.
    fn largest(&self) -> Bytes {
        let text = fs::read_to_string("/proc/sys/net/core/wmem_default");
        let buffer = text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(SMALLEST_BUFFER);
        Bytes::new(buffer).saturating_sub(KERNEL_SHARE)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        unix::pair::<true>(Family::UnixMessages, hookup)
    }

    fn connect(&self, at: &Rendezvous, _: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        at.take()
    }
}

/// What every Linux gives a socket.
const SMALLEST_BUFFER: u64 = 212_992;

/// `unix_dgram_sendmsg` refuses what is longer than the buffer less 32 bytes.
const KERNEL_SHARE: Bytes = Bytes::new(32);
