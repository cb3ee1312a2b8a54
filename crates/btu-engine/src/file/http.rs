//! HTTP/1.1 (RFC 9112) over one connection that is kept alive.

use btu_core::file::sample::Operation;

use super::FileProtocol;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::hypertext;
use super::hypertext::ABROAD;
use super::hypertext::OPERATIONS;
use super::hypertext::Version;
use super::site::Abroad;
use crate::error::EngineError;

/// The protocol `http`.
#[derive(Debug)]
pub(super) struct Http;

impl FileProtocol for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn about(&self) -> &'static str {
        "HTTP/1.1 over one connection that is kept alive, without TLS; calls too"
    }

    fn operations(&self) -> &'static [Operation] {
        OPERATIONS
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        hypertext::serve(offer, Version::One)
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        hypertext::open(visit, Version::One)
    }

    fn abroad(&self) -> Option<&dyn Abroad> {
        ABROAD
    }
}
