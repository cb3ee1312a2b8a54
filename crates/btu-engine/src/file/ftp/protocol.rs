//! FTP as one of the file protocols.

use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;

use btu_core::units::Bytes;

use super::client::Access;
use super::client::Client;
use super::server::Server;
use super::server::Serving;
use crate::error::EngineError;
use crate::file::FileProtocol;
use crate::file::Served;
use crate::file::Session;
use crate::place::Place;
use crate::transport::retried;

/// The protocol `ftp`.
#[derive(Debug)]
pub struct Ftp;

impl FileProtocol for Ftp {
    fn name(&self) -> &'static str {
        "ftp"
    }

    fn about(&self) -> &'static str {
        "FTP over passive connections, binary, without TLS"
    }

    fn serve(&self, place: &Place, address: IpAddr) -> Result<Box<dyn Served>, EngineError> {
        Ok(Box::new(Server::start(Serving::at(place.clone(), address))?))
    }

    fn open(&self, server: SocketAddr) -> Result<Box<dyn Session>, EngineError> {
        Ok(Box::new(Client::connect(&Access::anonymous(server))?))
    }
}

impl Served for Server {
    fn address(&self) -> SocketAddr {
        Self::address(self)
    }
}

impl Session for Client {
    fn get(&mut self, name: &str, sink: &mut dyn Write) -> Result<Bytes, EngineError> {
        let transfer = self.retrieve(name)?;
        let (mut space, mut total) = (vec![0; BUFFER], Bytes::ZERO);
        loop {
            let count = transfer.receive(&mut space)?;
            if count == 0 {
                break;
            }
            let kept = sink.write_all(&space[..count]);
            kept.map_err(EngineError::peer(format!("keep what came of {name}")))?;
            total += Bytes::new(count as u64);
        }
        transfer.finish()?;
        Ok(total)
    }

    fn put(&mut self, name: &str, source: &mut dyn Read) -> Result<Bytes, EngineError> {
        let mut transfer = self.store(name)?;
        let (mut space, mut total) = (vec![0; BUFFER], Bytes::ZERO);
        loop {
            let read = retried(|| source.read(&mut space));
            let count = read.map_err(EngineError::peer(format!("read what goes to {name}")))?;
            if count == 0 {
                break;
            }
            let mut rest = &space[..count];
            while !rest.is_empty() {
                rest = &rest[transfer.send(rest)?..];
            }
            total += Bytes::new(count as u64);
        }
        transfer.finish()?;
        Ok(total)
    }

    fn remove(&mut self, name: &str) -> Result<(), EngineError> {
        Self::remove(self, name)
    }
}

/// Bytes per call.
const BUFFER: usize = 65536;
