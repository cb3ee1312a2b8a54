//! Streams over Rx: one call with many writes, or with a whole file.

use btu_core::file::sample::Operation;

use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::rx;
use crate::error::EngineError;

/// The protocol `rx-stream`.
#[derive(Debug)]
pub(super) struct RxStream;

impl FileProtocol for RxStream {
    fn name(&self) -> &'static str {
        "rx-stream"
    }

    fn about(&self) -> &'static str {
        "calls over Rx, the RPC of AFS: one for all blocks, each a write of it; files too"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Get, Operation::Put, Operation::Stream]
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
