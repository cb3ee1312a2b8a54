//! The files of a directory, as a server gives them: whole, one buffer at a time, and none that lies elsewhere.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::PathBuf;

use btu_core::units::Bytes;
use btu_sys::disk;
use btu_sys::memory::Buffer;

use crate::transport::retried;

/// A directory whose files can be read.
#[derive(Clone, Debug)]
pub(super) struct Directory(pub(super) PathBuf);

/// A file of it that is being read, into the buffer of whoever sends it.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    file: File,
    buffer: &'a mut Buffer,
    /// Why it broke off.
    fault: Option<io::Error>,
}

impl Directory {
    /// The file of this name, and its size.
    pub(super) fn open(&self, name: &str) -> io::Result<(File, Bytes)> {
        let file = disk::file_within(&self.0, name).map_err(io::Error::other)?;
        let size = Bytes::new(file.metadata()?.len());
        Ok((file, size))
    }
}

impl<'a> Reading<'a> {
    pub(super) fn of(file: File, buffer: &'a mut Buffer) -> Self {
        Self { file, buffer, fault: None }
    }

    /// The next bytes; none at the end, or where reading failed.
    pub(super) fn chunk(&mut self) -> Option<&[u8]> {
        match retried(|| self.file.read(self.buffer)) {
            Ok(count) => self.buffer.get(..count).filter(|chunk| !chunk.is_empty()),
            Err(cause) => {
                self.fault = Some(cause);
                None
            }
        }
    }

    /// Whether all of the file was read.
    pub(super) fn end(self) -> io::Result<()> {
        self.fault.map_or(Ok(()), Err)
    }
}
