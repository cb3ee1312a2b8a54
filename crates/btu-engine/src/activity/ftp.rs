//! The FTP activity of maly1996, 4.2: files go to a server on the active black box and come back.

use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::clock;
use btu_sys::memory::Buffer;

use super::Activity;
use super::Prepared;
use super::Setup;
use super::Worker;
use crate::error::EngineError;
use crate::file::ftp::Access;
use crate::file::ftp::Breaker;
use crate::file::ftp::Client;
use crate::file::ftp::Transfer;
use crate::file::ftp::scramble;

/// The activity `ftp`.
#[derive(Debug)]
pub struct Ftp;

/// A server that was reached once.
#[derive(Clone, Debug)]
struct Site {
    access: Access,
    transfer: Bytes,
}

/// The thread that stores and retrieves in turn, over one control connection.
#[derive(Debug)]
struct Shuttle {
    site: Site,
    session: Option<Session>,
}

/// What the thread makes when it gets ready.
#[derive(Debug)]
struct Session {
    client: Client,
    buffer: Buffer,
    next: Direction,
    current: Option<Passage>,
}

/// A file on its way, and how much of it arrived.
#[derive(Debug)]
struct Passage {
    transfer: Transfer,
    direction: Direction,
    size: Bytes,
    /// Taken or given by the calls so far.
    moved: Bytes,
    /// Known to have arrived, and counted.
    arrived: Bytes,
    is_over: bool,
}

/// Where a file goes, seen from the test host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Retrieve,
    Store,
}

impl Activity for Ftp {
    fn name(&self) -> &'static str {
        "ftp"
    }

    fn about(&self) -> &'static str {
        "stores files on an FTP server of the active host and retrieves files from it, in turn"
    }

    /// Logs in once, so that a server that is not there is a refusal and no failed cell.
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>, EngineError> {
        let access = setup.ftp_server.clone().ok_or_else(no_server)?;
        if setup.ftp_transfer.is_empty() {
            return Err(EngineError::Refused("ftp transfers of 0 B do no work".to_owned()));
        }
        let site = Site { access, transfer: setup.ftp_transfer };
        let visit = site.clone();
        let tried = setup.place.spawn("ftp-visit", move || Client::connect(&visit.access)?.close());
        tried?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(Box::new(site))
    }
}

impl Prepared for Site {
    fn unit(&self) -> String {
        format!("FTP transfer of {}, stored and retrieved in turn", self.transfer)
    }

    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
        Ok(vec![Box::new(Shuttle { site: self.clone(), session: None })])
    }
}

impl Worker for Shuttle {
    fn begin(&mut self) -> Result<(), EngineError> {
        let mut buffer = Buffer::prefaulted(BUFFER)?;
        scramble(&mut buffer);
        let client = Client::connect(&self.site.access)?;
        self.session = Some(Session { client, buffer, next: Direction::Store, current: None });
        Ok(())
    }

    /// Moves bytes for a moment, of one file at most.
    fn step(&mut self) -> Result<f64, EngineError> {
        let session = self.session.as_mut().ok_or_else(not_begun)?;
        let mut passage = match session.current.take() {
            Some(passage) => passage,
            None => session.depart(self.site.transfer)?,
        };
        let before = passage.arrived;
        passage.travel(&mut session.buffer)?;
        let arrived = if passage.is_over {
            passage.arrive()?
        } else {
            session.current.insert(passage).arrived
        };
        Ok(share(arrived.saturating_sub(before), self.site.transfer))
    }

    fn breaker(&self) -> Option<Box<dyn Fn() + Send>> {
        let breaker: Breaker = self.session.as_ref()?.client.breaker();
        Some(Box::new(move || breaker.end()))
    }
}

impl Session {
    /// The next file sets out; the one after it goes the other way.
    fn depart(&mut self, size: Bytes) -> Result<Passage, EngineError> {
        let direction = self.next;
        let transfer = match direction {
            Direction::Retrieve => self.client.retrieve(&format!("/random/{}", size.count())),
            Direction::Store => self.client.store("/null/btu"),
        }?;
        self.next = match direction {
            Direction::Retrieve => Direction::Store,
            Direction::Store => Direction::Retrieve,
        };
        let (moved, arrived) = (Bytes::ZERO, Bytes::ZERO);
        Ok(Passage { transfer, direction, size, moved, arrived, is_over: false })
    }
}

impl Passage {
    /// Call after call, until the file is through or the moment is over.
    fn travel(&mut self, buffer: &mut Buffer) -> Result<(), EngineError> {
        let end = clock::monotonic_ns() + MOMENT.count();
        while !self.is_over && clock::monotonic_ns() < end {
            match self.direction {
                Direction::Retrieve => self.receive(buffer)?,
                Direction::Store => self.send(buffer)?,
            }
        }
        self.count_arrived()
    }

    fn receive(&mut self, buffer: &mut Buffer) -> Result<(), EngineError> {
        let count = self.transfer.receive(buffer)?;
        self.moved += Bytes::new(count as u64);
        self.is_over = count == 0;
        if self.is_over && self.moved != self.size {
            let (moved, size) = (self.moved, self.size);
            return Err(EngineError::Refused(format!("ftp: {moved} of {size} came back")));
        }
        Ok(())
    }

    /// What was sent as a whole is on its way for as long as the server has not confirmed it.
    fn send(&mut self, buffer: &Buffer) -> Result<(), EngineError> {
        let rest = self.size.saturating_sub(self.moved).len().min(buffer.len());
        if rest == 0 {
            self.is_over = self.transfer.is_confirmed(MOMENT.into())?;
            return Ok(());
        }
        let count = self.transfer.send(&buffer[..rest])?;
        self.moved += Bytes::new(count as u64);
        Ok(())
    }

    /// What the send buffer still holds has not arrived: on a slow path it is the whole file.
    fn count_arrived(&mut self) -> Result<(), EngineError> {
        self.arrived = match self.direction {
            Direction::Retrieve => self.moved,
            Direction::Store => self.transfer.arrived()?,
        };
        Ok(())
    }

    /// The whole file, once the server has confirmed it.
    fn arrive(self) -> Result<Bytes, EngineError> {
        self.transfer.finish()?;
        Ok(self.size)
    }
}

/// The part of a unit that so many bytes are.
#[expect(clippy::cast_precision_loss, reason = "a share of a transfer needs no 53 bits")]
fn share(moved: Bytes, unit: Bytes) -> f64 {
    moved.count() as f64 / unit.count() as f64
}

fn no_server() -> EngineError {
    EngineError::Refused("the activity ftp needs an FTP server on the active host".to_owned())
}

fn not_begun() -> EngineError {
    EngineError::Refused("the activity ftp steps before it begins".to_owned())
}

/// Bytes per call.
const BUFFER: usize = 65536;

/// How long a step moves bytes before it reports.
const MOMENT: Nanos = Nanos::from_millis(1);
