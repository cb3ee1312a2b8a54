//! HTTP/2 (RFC 9113) over one connection whose server is known to speak it (prior knowledge, 3.3 there).

use btu_core::file::sample::Operation;

use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::hypertext;
use super::hypertext::OPERATIONS;
use super::hypertext::Version;
use crate::error::EngineError;

/// The protocol `h2`.
#[derive(Debug)]
pub(super) struct H2;

impl FileProtocol for H2 {
    fn name(&self) -> &'static str {
        "h2"
    }

    fn about(&self) -> &'static str {
        "HTTP/2 with prior knowledge over one connection, each request a stream, without TLS; calls too"
    }

    fn operations(&self) -> &'static [Operation] {
        OPERATIONS
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        hypertext::serve(offer, Version::Two)
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        hypertext::open(visit, Version::Two)
    }
}
