//! What `http` and `h2` have in common: the words of HTTP (RFC 9110), which hyper writes and reads, over sockets that block
//! nobody but their own thread.
//!
//! No runtime of others takes part: a thread has one connection, moves its futures on, and sleeps in `poll` where none can
//! go on ([`driver`]). A socket that is closed from another thread wakes it.

mod abroad;
mod body;
mod chunk;
mod client;
mod dialogue;
mod door;
mod driver;
mod incoming;
mod keeping;
mod server;
mod shop;

use btu_core::file::sample::Operation;

use self::client::Client;
use self::shop::Shop;
use super::Offer;
use super::Served;
use super::Session;
use super::Visit;
use super::account::Account;
use super::order::BUFFER;
use super::reception::Reception;
use super::site::Abroad;
use crate::error::EngineError;

/// Which HTTP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

/// What clients can do.
pub(super) const OPERATIONS: &[Operation] =
    &[Operation::Call, Operation::Get, Operation::Put, Operation::Stream];

/// How clients use servers of others.
pub(super) const ABROAD: Option<&dyn Abroad> = Some(&abroad::Hypertext);

pub(super) fn serve(offer: &Offer, version: Version) -> Result<Box<dyn Served>, EngineError> {
    let shop = Shop::new()?;
    let serve = move |stream: &_, house: &_| server::serve(stream, house, (&shop, version));
    Ok(Box::new(Reception::open(offer, Account::default(), serve)?))
}

pub(super) fn open(visit: &Visit, version: Version) -> Result<Box<dyn Session>, EngineError> {
    Ok(Box::new(Client::connect(visit, version)?))
}

impl Version {
    fn protocol(self) -> &'static str {
        match self {
            Self::One => "http",
            Self::Two => "h2",
        }
    }
}

/// What one stream of HTTP/2 may have on the way, in bytes (RFC 9113, 5.2): what hyper grants where it receives files.
const STREAM_WINDOW: u32 = 2 << 20;

/// The same of a connection.
const CONNECTION_WINDOW: u32 = 5 << 20;
