//! Unix sockets that keep messages apart.

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_sys::exchange::Family;
use btu_sys::sysctl;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
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
        Properties { reliable: true, bounded: true, reach: Reach::OneHost, waits: unix::WAITS }
    }

    fn nature(&self, wanted: &Configuration) -> Nature {
        let bound = if self.largest_with(wanted) >= LONGEST_MESSAGE {
            "no message is longer, however large its send buffer"
        } else {
            "a message must fit its send buffer: --send-buffer, and net.core.wmem_max"
        };
        Nature { bound: Some(bound.to_owned()), ..unix::nature() }
    }

    /// A message must fit into the send buffer, beside what the kernel counts for itself.
    fn largest(&self) -> Bytes {
        Bytes::new(limit("wmem_default")).saturating_sub(KERNEL_SHARE).min(LONGEST_MESSAGE)
    }

    /// Linux doubles what is set, up to twice `wmem_max` (socket(7)).
    fn largest_with(&self, wanted: &Configuration) -> Bytes {
        let Some(asked) = wanted.send_buffer_bytes else { return self.largest() };
        let given = asked.count().min(limit("wmem_max")).saturating_mul(2).max(LEAST_BUFFER);
        Bytes::new(given).saturating_sub(KERNEL_SHARE).min(LONGEST_MESSAGE)
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

/// The longest message, however large its send buffer. The kernel keeps a message in one piece of memory,
/// but for 68 KiB of it (`unix_dgram_sendmsg`): what is longer than 1 MiB less 32 bytes finds no room
/// (ENOBUFS) long before a large buffer is full.
const LONGEST_MESSAGE: Bytes = Bytes::new((1 << 20) - 32);

/// A limit of this machine on the send buffer.
fn limit(name: &str) -> u64 {
    let text = sysctl::read(&format!("net.core.{name}"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(SMALLEST_BUFFER)
}

/// The kernel gives no less, however little is asked for (`SOCK_MIN_SNDBUF`, include/net/sock.h).
const LEAST_BUFFER: u64 = 4_608;

/// What every Linux gives a socket.
const SMALLEST_BUFFER: u64 = 212_992;

/// `unix_dgram_sendmsg` refuses what is longer than the buffer less 32 bytes.
const KERNEL_SHARE: Bytes = Bytes::new(32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_buffer_is_advised_only_where_it_helps() {
        let bound = |buffer| {
            let send_buffer_bytes = Some(Bytes::new(buffer));
            let wanted = Configuration { send_buffer_bytes, ..Configuration::new("seqpacket") };
            SeqPacket.nature(&wanted).bound.unwrap()
        };
        assert!(bound(8_192).contains("--send-buffer"), "{}", bound(8_192));
        if limit("wmem_max") >= LONGEST_MESSAGE.count() {
            assert!(bound(1 << 30).contains("no message is longer"), "{}", bound(1 << 30));
        }
    }
}
