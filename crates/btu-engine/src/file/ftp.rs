//! FTP: a server of our own and a client, for the host activity `ftp`.
//!
//! The server is the subset of RFC 959 that clients need to store, retrieve, list and remove files
//! over passive connections, with FEAT (RFC 2389), EPSV (RFC 2428) and SIZE (RFC 3659). It owns
//! its sources and sinks, so that no disk takes part: `/zero/N` and `/random/N` are files of N
//! bytes to be read, `/null/NAME` throws away what is written to it, `/disk/NAME` is a file of a
//! directory where the server is given one, any other name is kept in memory up to a limit. It has
//! no TLS and passes files unchanged in both types.

mod abroad;
mod client;
mod command;
mod data;
mod dialogue;
mod files;
mod gauge;
mod guests;
mod limits;
mod line;
mod name;
mod protocol;
mod reply;
mod server;
mod session;
mod sink;
mod source;
mod store;
mod transfer;

pub use client::Access;
pub use client::Breaker;
pub use client::Client;
pub use dialogue::FtpFault;
pub use gauge::Gauge;
pub use gauge::Reading;
pub use limits::Limits;
pub use limits::Login;
#[cfg(feature = "http")]
pub(super) use name::Meaning;
#[cfg(feature = "http")]
pub(super) use name::Name;
pub use protocol::Ftp;
pub use server::Server;
pub use server::Serving;
#[cfg(feature = "http")]
pub(super) use source::Pattern;
#[cfg(feature = "http")]
pub(super) use source::Patterns;
pub(crate) use source::scramble;
#[cfg(feature = "http")]
pub(super) use store::Object;
#[cfg(feature = "http")]
pub(super) use store::Store;
#[cfg(feature = "http")]
pub(super) use store::StoreError;
pub use transfer::Transfer;
