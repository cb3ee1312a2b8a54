//! Procedure calls over QUIC (RFC 9000): a connection for each client, and a stream for each call.
//!
//! A client knocks at a TCP port, says what it comes for ([`Order`](super::order::Order)), and hears the UDP port and
//! the certificate of the end that waits for it alone. Over QUIC a call is a bidirectional stream: the block there, its
//! end, and an answer of four bytes; a stream of blocks is one such call; a file that is retrieved is asked for by its
//! number of four bytes. The TCP connection says nothing more: its end is the server's.

mod client;
mod line;
mod server;

use btu_core::file::sample::Operation;

use self::client::Client;
use self::server::serve;
use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::account::Account;
use super::reception::Reception;
use crate::error::EngineError;
use crate::traffic::quic::Keys;

/// The protocol `quic`.
#[derive(Debug)]
pub(super) struct Quic;

impl FileProtocol for Quic {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn about(&self) -> &'static str {
        "calls over QUIC, each a stream of one connection, encrypted; files too"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Call, Operation::Get, Operation::Put, Operation::Stream]
    }

    /// Makes a key that nobody uses, which tells whether this build has QUIC.
    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        Keys::new()?;
        Ok(Box::new(Reception::open(offer, Account::without_calls(UNCOUNTED), serve)?))
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(Client::connect(visit)?))
    }
}

/// Why the server does not know how many calls it makes.
const UNCOUNTED: &str = "QUIC's library makes calls for packets, which nobody counts";
