//! FTP as one of the file protocols.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;

use super::client::Access;
use super::client::Client;
use super::limits::Limits;
use super::server::Server;
use super::server::Serving;
use super::source::scramble;
use crate::error::EngineError;
use crate::file::Account;
use crate::file::Errand;
use crate::file::FileProtocol;
use crate::file::Keeping;
use crate::file::Moments;
use crate::file::Offer;
use crate::file::Opening;
use crate::file::Served;
use crate::file::Session;
use crate::file::Visit;
use crate::file::site::Abroad;
use crate::file::site::Stay;
use crate::transport::retried;

/// The protocol `ftp`.
#[derive(Debug)]
pub struct Ftp;

/// A client with its errand.
#[derive(Debug)]
struct Runner {
    client: Client,
    errand: Errand,
    /// At a server of others.
    stay: Option<Stay>,
    buffer: Buffer,
}

impl FileProtocol for Ftp {
    fn name(&self) -> &'static str {
        "ftp"
    }

    fn about(&self) -> &'static str {
        "FTP over passive connections, binary, without TLS"
    }

    fn operations(&self) -> &'static [Operation] {
        &[Operation::Get, Operation::Put]
    }

    fn serve(&self, offer: &Offer) -> Result<Box<dyn Served>, EngineError> {
        let limits = Limits { sessions: offer.clients, ..Limits::default() };
        let serving = Serving {
            sockets: offer.settings.clone(),
            limits,
            directory: offer.directory.clone(),
            ..Serving::at(offer.place.clone(), offer.address)
        };
        Ok(Box::new(Server::start(serving)?))
    }

    fn open(&self, visit: &Visit) -> Result<Box<dyn Session>, EngineError> {
        let access = match &visit.stay {
            Some(stay) => Access::to(&stay.site),
            None => Access::anonymous(visit.server),
        };
        let (sockets, patience) = (visit.settings.clone(), visit.patience);
        let access = Access { sockets, patience, ..access };
        let client = Client::connect_among(&visit.sockets, &access)?;
        let mut buffer = Buffer::prefaulted(BUFFER)?;
        scramble(&mut buffer);
        let (errand, stay) = (visit.errand.clone(), visit.stay.clone());
        Ok(Box::new(Runner { client, errand, stay, buffer }))
    }

    fn abroad(&self) -> Option<&dyn Abroad> {
        Some(self)
    }
}

impl Served for Server {
    fn address(&self) -> SocketAddr {
        Self::address(self)
    }

    fn account(&self) -> &Account {
        Self::account(self)
    }

    fn moved(&self) -> Bytes {
        Self::moved(self)
    }
}

impl Session for Runner {
    fn opening(&self) -> Opening {
        self.client.opening()
    }

    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        match self.errand.operation {
            Operation::Get => self.retrieve(number, moments),
            Operation::Put => self.store(moments),
            Operation::Call | Operation::Stream => {
                Err(EngineError::Refused("ftp: files are all that it passes".to_owned()))
            }
        }
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        self.client.close()
    }

    fn keeping(&mut self) -> Option<&mut dyn Keeping> {
        Some(&mut self.client)
    }
}

impl Runner {
    /// Throws away what comes.
    fn retrieve(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let transfer = self.client.retrieve(&self.retrieved(number))?;
        let mut left = self.errand.size.count();
        loop {
            let count = transfer.receive(&mut self.buffer)?;
            if count == 0 {
                break;
            }
            left = left.checked_sub(count as u64).ok_or_else(|| self.errand.is_too_long("ftp"))?;
            moments.passed(count, left == 0);
        }
        if left > 0 {
            return Err(self.errand.is_short("ftp", left));
        }
        transfer.finish()?;
        moments.committed();
        Ok(self.errand.size)
    }

    /// At our server a file of its own making, or one of its disk.
    fn retrieved(&self, number: u32) -> String {
        let own = || self.errand.name(number);
        self.stay.as_ref().map_or_else(own, |stay| stay.retrieved.clone())
    }

    fn store(&mut self, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let name = self.stay.as_ref().map_or("/null/btu", |stay| &stay.stored);
        let mut transfer = self.client.store(name)?;
        let mut left = self.errand.size.len();
        while left > 0 {
            let sent = transfer.send(&self.buffer[..left.min(BUFFER)])?;
            left -= sent;
            if sent > 0 {
                moments.passed(sent, left == 0);
            }
        }
        transfer.finish()?;
        moments.committed();
        Ok(self.errand.size)
    }
}

impl Keeping for Client {
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
