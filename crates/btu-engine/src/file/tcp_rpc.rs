//! Procedure calls over one TCP connection: a block there, four bytes back, and nothing else on the wire.
//!
//! A client says once what it comes for ([`Order`](super::order::Order)); the server answers that it is taken. From then on
//! every call is its block alone, in one write, under `TCP_NODELAY`, and its answer is how many bytes came. A stream is
//! COUNT blocks with one answer; a file that is stored is a call that is written 64 KiB at a time; a file that is
//! retrieved is asked for by its number.

mod client;
mod pipe;
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

/// The protocol `tcp-rpc`.
#[derive(Debug)]
pub(super) struct TcpRpc;

impl FileProtocol for TcpRpc {
    fn name(&self) -> &'static str {
        "tcp-rpc"
    }

    fn about(&self) -> &'static str {
        "calls over one TCP connection, each a block in one write and an answer of 4 bytes; files too"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Call, Operation::Get, Operation::Put, Operation::Stream]
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        Ok(Box::new(Reception::open(offer, Account::default(), serve)?))
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(Client::connect(visit)?))
    }
}
