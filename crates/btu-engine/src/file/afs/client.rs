//! The end that reads: a process `afsio` for each file, which has no cache.

use std::io;
use std::io::Read;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;

use btu_core::units::Bytes;
use btu_sys::memory::Buffer;

use super::CELL;
use super::cell;
use super::cell::House;
use super::tools;
use super::tools::Running;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::Keeping;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Sockets;
use crate::file::Visit;
use crate::time::now;
use crate::transport::retried;

/// A client that knows the FIDs of its files.
#[derive(Debug)]
pub(super) struct Client {
    house: Arc<House>,
    errand: Errand,
    fids: Vec<String>,
    opening: Opening,
    sockets: Arc<Sockets>,
    buffer: Buffer,
}

impl Client {
    /// Hears the FIDs, and lets a process start that asks nobody: what each request takes before it is one.
    pub(super) fn introduce(visit: &Visit) -> Result<Self, EngineError> {
        let house = cell::at(visit.server)?;
        let errand = visit.errand.clone();
        let fids = house.fids(&errand)?;
        let buffer = Buffer::prefaulted(BUFFER)?;
        let sockets = Arc::clone(&visit.sockets);
        let mut client = Self { house, errand, fids, opening: Opening::default(), sockets, buffer };
        let begun = now();
        let _ = client.hear(&["version"], |_| ())?;
        client.opening.connect_ns = now().since(begun);
        Ok(client)
    }

    fn start(&self, words: &[&str]) -> Result<(Arc<UnixStream>, Running), EngineError> {
        let (ours, theirs) = UnixStream::pair().map_err(named("make a pair of sockets"))?;
        let gone = || named("start")(io::ErrorKind::ConnectionAborted.into());
        let ours = self.sockets.admit(ours).ok_or_else(gone)?;
        let mut command = Command::new(tools::AFSIO);
        command.args(words).stdout(OwnedFd::from(theirs)).stderr(Stdio::piped());
        self.house.mounts.admit(&mut command).map_err(named("start"))?;
        let process = Running::start(&mut command)?;
        Ok((ours, process))
    }

    /// Lets `afsio` say something, and hands it on; how much that was, whether it was content, and what is left of it.
    fn hear(
        &mut self,
        words: &[&str],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(u64, bool, Running), EngineError> {
        let (stream, mut process) = self.start(words)?;
        let (mut stream, mut came) = (&*stream, 0);
        loop {
            let count = retried(|| stream.read(&mut self.buffer)).map_err(named("read"))?;
            if count == 0 {
                break;
            }
            came += count as u64;
            each(&self.buffer[..count]);
        }
        if self.sockets.is_closed() {
            return Err(named("read")(io::ErrorKind::ConnectionAborted.into()));
        }
        let is_content = process.end().map_err(named("wait for afsio"))?;
        Ok((came, is_content, process))
    }

    /// Reads a file by its FID, and hands on what comes; how much that was. `afsio` says by no status that a file is
    /// missing: the bytes decide.
    fn read(&mut self, fid: &str, each: impl FnMut(&[u8])) -> Result<u64, EngineError> {
        let words = ["fidread", "-fid", fid, "-cell", CELL, "-clear"];
        let (came, is_content, mut process) = self.hear(&words, each)?;
        if came == 0 || !is_content {
            let complaint = process.complaint();
            return Err(EngineError::Refused(format!("afs: read {fid}: {complaint}")));
        }
        self.house.count(came);
        Ok(came)
    }
}

impl Session for Client {
    fn opening(&self) -> Opening {
        self.opening
    }

    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        let turn = usize::try_from(number).unwrap_or(0) % self.fids.len().max(1);
        let fid = self.fids.get(turn).cloned().unwrap_or_default();
        let (size, mut so_far) = (self.errand.size.count(), 0);
        let came = self.read(&fid, |bytes| {
            so_far += bytes.len() as u64;
            moments.passed(bytes.len(), so_far == size);
        })?;
        match size.checked_sub(came) {
            None => return Err(self.errand.is_too_long("afs")),
            Some(0) => moments.committed(),
            Some(left) => return Err(self.errand.is_short("afs", left)),
        }
        Ok(self.errand.size)
    }

    /// There is no connection that anybody could take leave of.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }

    fn keeping(&mut self) -> Option<&mut dyn Keeping> {
        Some(self)
    }
}

/// The names of files are their FIDs.
impl Keeping for Client {
    fn get(&mut self, name: &str, sink: &mut dyn Write) -> Result<Bytes, EngineError> {
        let mut written = Ok(());
        let came = self.read(name, |bytes| {
            if written.is_ok() {
                written = sink.write_all(bytes);
            }
        })?;
        written.map_err(named("hand on a file"))?;
        Ok(Bytes::new(came))
    }

    fn put(&mut self, _name: &str, _source: &mut dyn Read) -> Result<Bytes, EngineError> {
        Err(EngineError::Refused(WRITTEN_ONCE.to_owned()))
    }

    fn remove(&mut self, _name: &str) -> Result<(), EngineError> {
        Err(EngineError::Refused(WRITTEN_ONCE.to_owned()))
    }
}

fn named(operation: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |cause| EngineError::peer(format!("afs: {operation}"))(cause)
}

/// `afsio` can write into a file that is there, and make none.
const WRITTEN_ONCE: &str = "afs: the files of a cell are written once, by its server";

const BUFFER: usize = 65536;
