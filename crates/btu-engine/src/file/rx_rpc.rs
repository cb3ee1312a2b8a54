//! Procedure calls over Rx: a call for each block, and four bytes back.

use btu_core::file::sample::Operation;

use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::rx;
use crate::error::EngineError;

/// The protocol `rx-rpc`.
#[derive(Debug)]
pub(super) struct RxRpc;

impl FileProtocol for RxRpc {
    fn name(&self) -> &'static str {
        "rx-rpc"
    }

    fn about(&self) -> &'static str {
        "calls over Rx, the RPC of AFS: one for each block, with an answer of 4 bytes"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Call]
    }

    fn has_processes(&self) -> bool {
        true
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        Ok(Box::new(rx::Server::start(offer)?))
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(rx::Client::open(visit)?))
    }
}
