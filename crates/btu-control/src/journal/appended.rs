//! A file of a journal that grows line by line, and what a crash left at its end.

use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Seek;
use std::io::SeekFrom;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use btu_core::journal::codec;
use btu_core::journal::codec::Lines;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::codec::TornLine;
use serde::Serialize;

use super::JournalError;
use super::io_error;
use super::sync_names;

/// `samples.jsonl` or `events.jsonl`, open for more. Its end is mended with the first line that follows: whoever opens
/// it and writes nothing leaves it as it was.
#[derive(Debug)]
pub(super) struct Appended {
    path: PathBuf,
    /// `None` where it is missing: it is made with its first line.
    file: Option<File>,
    end: Option<BrokenEnd>,
}

/// What follows the whole lines: a line that was cut off, or empty ones.
#[derive(Debug)]
struct BrokenEnd {
    /// Length of the whole lines.
    whole: u64,
    /// The torn line, until it is safe beside the file.
    torn: Option<TornLine>,
}

impl Appended {
    /// The file, made where it is missing.
    pub(super) fn made(path: PathBuf) -> Result<Self, JournalError> {
        let file = Some(open_append(&path)?);
        Ok(Self { path, file, end: None })
    }

    /// The file as it is.
    pub(super) fn as_it_is(path: PathBuf) -> Result<Self, JournalError> {
        let file = match OpenOptions::new().append(true).read(true).open(&path) {
            Ok(file) => Some(file),
            Err(cause) if cause.kind() == ErrorKind::NotFound => None,
            Err(cause) => return Err(io_error("open", &path)(cause)),
        };
        Ok(Self { path, file, end: None })
    }

    /// False where another process has it locked. A file that is missing cannot be locked.
    pub(super) fn is_locked_by_us(&self) -> Result<bool, JournalError> {
        match self.file.as_ref().map(File::try_lock) {
            Some(Ok(())) => Ok(true),
            Some(Err(std::fs::TryLockError::Error(cause))) => {
                Err(io_error("lock", &self.path)(cause))
            }
            Some(Err(std::fs::TryLockError::WouldBlock)) | None => Ok(false),
        }
    }

    /// The whole lines and the torn last one. What is broken at the end is kept in mind, and stays.
    pub(super) fn read<R: StoredLine>(&mut self) -> Result<Lines<R>, JournalError> {
        let bytes = self.bytes().map_err(io_error("read", &self.path))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let lines = codec::read(&name, &bytes).map_err(|source| JournalError::Corrupted {
            path: self.path.parent().unwrap_or(Path::new("")).to_owned(),
            source,
        })?;
        let whole = u64::try_from(lines.end).unwrap_or(u64::MAX);
        let end = || BrokenEnd { whole, torn: lines.torn.clone() };
        self.end = (lines.end < bytes.len()).then(end);
        Ok(lines)
    }

    /// Copies a torn last line to the file of torn ones beside it. It is safe there before it is cut off here: whoever
    /// is killed in between leaves it in both.
    pub(super) fn set_aside(&mut self) -> Result<(), JournalError> {
        let Some(end) = &mut self.end else { return Ok(()) };
        let Some(torn) = &end.torn else { return Ok(()) };
        set_aside(&self.path.with_extension(TORN), torn)?;
        end.torn = None;
        Ok(())
    }

    /// Cuts the file after its whole lines, a torn one set aside. Empty lines go, too: what is appended would make them
    /// empty lines in the middle.
    pub(super) fn mend(&mut self) -> Result<(), JournalError> {
        self.set_aside()?;
        if let (Some(end), Some(file)) = (&self.end, &self.file) {
            file.set_len(end.whole).map_err(io_error("truncate", &self.path))?;
        }
        self.end = None;
        Ok(())
    }

    /// One line, one write, then to the disk. What was written of a failed line is cut off again.
    pub(super) fn append<R: Serialize>(&mut self, record: &R) -> Result<(), JournalError> {
        let whole = self.keep(record)?;
        self.sync().inspect_err(|_| {
            if let Some(file) = &self.file {
                drop(file.set_len(whole));
            }
        })
    }

    /// One line, one write. Gives the length that the file had before.
    pub(super) fn keep<R: Serialize>(&mut self, record: &R) -> Result<u64, JournalError> {
        let line = codec::line(record).map_err(|cause| JournalError::Unreadable {
            path: self.path.clone(),
            cause: cause.to_string(),
        })?;
        self.mend()?;
        let file = match &mut self.file {
            Some(file) => file,
            missing => missing.insert(open_append(&self.path)?),
        };
        let whole = file.metadata().map_err(io_error("read", &self.path))?.len();
        let written = file.write_all(line.as_bytes()).map_err(|cause| {
            drop(file.set_len(whole));
            io_error("write", &self.path)(cause)
        });
        written.map(|()| whole)
    }

    /// Makes every line durable.
    pub(super) fn sync(&self) -> Result<(), JournalError> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        synced.map_err(io_error("write", &self.path))
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(mut file) = self.file.as_ref() {
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

/// Keeps a torn line for whoever wants to look at it.
fn set_aside(path: &Path, torn: &TornLine) -> Result<(), JournalError> {
    let line = [&torn.bytes[..], b"\n"].concat();
    let mut file = open_append(path)?;
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    written.and_then(|()| sync_names(path)).map_err(io_error("write", path))
}

fn open_append(path: &Path) -> Result<File, JournalError> {
    let options = OpenOptions::new().create(true).append(true).read(true).clone();
    options.open(path).map_err(io_error("open", path))
}

/// Ends the name of the file of torn lines: `samples.torn`, `events.torn`.
const TORN: &str = "torn";
