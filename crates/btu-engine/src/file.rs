//! File protocols, each in a folder of its own, and the registry of them.

pub mod ftp;
pub mod service;

use std::fmt::Debug;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;

use btu_core::units::Bytes;

use crate::error::EngineError;
use crate::place::Place;

/// Every file protocol of this build, in the order in which `btu list` shows them.
pub static FILE_PROTOCOLS: &[&dyn FileProtocol] = &[&ftp::Ftp];

/// A way to store files on another host and to retrieve them.
///
/// To add one: a folder with this trait, and a line in [`FILE_PROTOCOLS`]. The conformance suite
/// then holds it to the contract: what was put is got back, byte for byte, until it is removed; a
/// file that is not there is an error; a server that is dropped takes its threads with it.
pub trait FileProtocol: Debug + Sync {
    /// The name in plans and results.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// Starts a server on a free port of `address`, which keeps files in memory.
    fn serve(&self, place: &Place, address: IpAddr) -> Result<Box<dyn Served>, EngineError>;

    /// Opens a session with a server. The calling thread is in the network of the client.
    fn open(&self, server: SocketAddr) -> Result<Box<dyn Session>, EngineError>;
}

/// A server of this program. Dropped, it stops at once.
pub trait Served: Debug + Send {
    /// Where it listens.
    fn address(&self) -> SocketAddr;
}

/// A client's session with a server.
pub trait Session: Debug + Send {
    /// Retrieves a file; returns its size.
    fn get(&mut self, name: &str, sink: &mut dyn Write) -> Result<Bytes, EngineError>;

    /// Stores a file and waits until the server has it; returns its size.
    fn put(&mut self, name: &str, source: &mut dyn Read) -> Result<Bytes, EngineError>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<(), EngineError>;
}
