//! The result directory of a run: created once, appended to after each run, resumed after a crash.

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

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Record;
use btu_core::journal::codec;
use btu_core::journal::codec::CorruptedLine;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::codec::TornLine;
use btu_core::journal::file;
use serde::Serialize;

/// A result directory that this process writes to. Locked against a second writer.
#[derive(Debug)]
pub struct JournalDir {
    path: PathBuf,
    samples: File,
    events: File,
}

/// What a resumed journal holds.
#[derive(Debug)]
pub struct Stored<R = Record> {
    /// The canonical plan, as text.
    pub plan: String,
    /// The facts of the hosts.
    pub hosts: Disclosure,
    /// The whole lines of `samples.jsonl`.
    pub records: Vec<R>,
    /// The whole lines of `events.jsonl`.
    pub events: Vec<EventRecord>,
    /// The torn last line, moved to `samples.torn`.
    pub torn: Option<TornLine>,
}

impl<R> Stored<R> {
    /// True where the run came to its end: nothing is left to be measured.
    pub fn is_finished(&self) -> bool {
        let ended = self.events.last().is_some_and(|last| last.event == EventRecord::FINISHED);
        ended && self.torn.is_none()
    }
}

/// Why a result directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line in the middle cannot be read; nothing after it is passed over in silence.
    #[error("{}", path.display())]
    Corrupted {
        /// The directory.
        path: PathBuf,
        /// Which line, and what follows it.
        source: CorruptedLine,
    },
    /// A file operation failed.
    #[error("{operation} {}", path.display())]
    Io {
        /// `create`, `write`, `read`.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("{}: another process writes to this result", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// There is something in it already.
    #[error("{}: the directory is not empty", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// It holds no journal.
    #[error("{}: no result of a run is there (no {file})", path.display())]
    NotAResult {
        /// The directory.
        path: PathBuf,
        /// The file that is missing.
        file: &'static str,
    },
    /// `hosts.json` cannot be read.
    #[error("{}: not readable ({cause})", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
}

impl JournalDir {
    /// Makes a new result directory with its plan and hosts. The plan comes last: whoever is killed
    /// before it has begun nothing, and after it there is all that a resume needs.
    ///
    /// # Errors
    /// The directory is not empty, or a file cannot be written.
    pub fn create(
        path: &Path,
        plan: &str,
        given: Option<&str>,
        hosts: &Disclosure,
    ) -> Result<Self, JournalError> {
        std::fs::create_dir_all(path).map_err(io_error("create", path))?;
        must_be_free(path)?;
        let journal = Self::open(path)?;
        // Who waited for a lock that was given back meanwhile finds what came of it.
        must_be_free(path)?;
        let hosts = serde_json::to_vec_pretty(hosts).map_err(|cause| JournalError::Unreadable {
            path: path.join(file::HOSTS),
            cause: cause.to_string(),
        })?;
        journal.write(file::HOSTS, &hosts)?;
        match given {
            Some(given) => journal.write(file::PLAN_GIVEN, given.as_bytes())?,
            None => drop(std::fs::remove_file(path.join(file::PLAN_GIVEN))),
        }
        journal.write(file::PLAN, plan.as_bytes())?;
        sync_names(path).map_err(io_error("write", path))?;
        Ok(journal)
    }

    /// Opens the directory of a run that did not come to its end.
    ///
    /// # Errors
    /// It is no result directory, another process writes to it, or a line is corrupted.
    pub fn resume<R: StoredLine>(path: &Path) -> Result<(Self, Stored<R>), JournalError> {
        for file in [file::PLAN, file::HOSTS, file::SAMPLES] {
            if !path.join(file).is_file() {
                return Err(JournalError::NotAResult { path: path.to_owned(), file });
            }
        }
        let mut journal = Self::open(path)?;
        let plan = read_text(&path.join(file::PLAN))?;
        let hosts =
            serde_json::from_str(&read_text(&path.join(file::HOSTS))?).map_err(|cause| {
                JournalError::Unreadable { path: path.join(file::HOSTS), cause: cause.to_string() }
            })?;
        let (records, torn) = mend(path, file::SAMPLES, &mut journal.samples)?;
        let (events, _) = mend(path, file::EVENTS, &mut journal.events)?;
        Ok((journal, Stored { plan, hosts, records, events, torn }))
    }

    /// Where the result is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record and makes it durable.
    ///
    /// # Errors
    /// The disk refuses; the journal then ends with its last whole line.
    pub fn append<R: Serialize>(&mut self, record: &R) -> Result<(), JournalError> {
        append(&mut self.samples, &self.path.join(file::SAMPLES), record)
    }

    /// Appends a record of which many come in a second: it outlives this process at once, and the
    /// machine from the next [`JournalDir::sync`] on.
    ///
    /// # Errors
    /// As [`JournalDir::append`].
    pub fn keep<R: Serialize>(&mut self, record: &R) -> Result<(), JournalError> {
        write_line(&mut self.samples, &self.path.join(file::SAMPLES), record).map(drop)
    }

    /// Makes every record durable.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.samples.sync_data().map_err(io_error("write", &self.path.join(file::SAMPLES)))
    }

    /// Appends an event and makes it durable.
    ///
    /// # Errors
    /// As [`JournalDir::append`].
    pub fn note(&mut self, event: &EventRecord) -> Result<(), JournalError> {
        append(&mut self.events, &self.path.join(file::EVENTS), event)
    }

    /// Writes a whole file of the directory or of a folder in it: a new one beside it, then a rename.
    ///
    /// # Errors
    /// The disk refuses; an older file of that name then stays as it was.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        write_whole(&self.path.join(name), content)
    }

    fn open(path: &Path) -> Result<Self, JournalError> {
        let samples = open_append(&path.join(file::SAMPLES))?;
        match samples.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(JournalError::Locked { path: path.to_owned() });
            }
            Err(std::fs::TryLockError::Error(cause)) => return Err(io_error("lock", path)(cause)),
        }
        let events = open_append(&path.join(file::EVENTS))?;
        Ok(Self { path: path.to_owned(), samples, events })
    }
}

/// Writes a whole file: a new one beside it, then a rename.
///
/// # Errors
/// The disk refuses: nothing of it stays, and an older file of that name stays as it was.
pub fn write_whole(target: &Path, content: &[u8]) -> Result<(), JournalError> {
    let own = target.file_name().unwrap_or_default().to_string_lossy();
    let fresh = target.with_file_name(format!(".{own}.new"));
    let written = File::create(&fresh)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_data()))
        .and_then(|()| std::fs::rename(&fresh, target))
        .and_then(|()| sync_names(target));
    written.map_err(|cause| {
        drop(std::fs::remove_file(&fresh));
        io_error("write", target)(cause)
    })
}

/// True where a new result may be made in a directory: it is empty, or holds only what one that was
/// killed before it began left there.
///
/// # Errors
/// The directory cannot be read.
pub fn is_free(directory: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let empty = || entry.metadata().map(|file| file.is_file() && file.len() == 0);
        let left = match entry.file_name().to_str() {
            Some(file::SAMPLES | file::EVENTS) => empty()?,
            Some(file::HOSTS | file::PLAN_GIVEN) => directory.join(file::SAMPLES).is_file(),
            Some(fresh) => FRESH.contains(&fresh),
            None => false,
        };
        if !left {
            return Ok(false);
        }
    }
    Ok(true)
}

fn must_be_free(directory: &Path) -> Result<(), JournalError> {
    if is_free(directory).map_err(io_error("read", directory))? {
        return Ok(());
    }
    Err(JournalError::NotEmpty { path: directory.to_owned() })
}

/// One line, one write, then to the disk. What was written of a failed line is cut off again.
fn append<R: Serialize>(file: &mut File, path: &Path, record: &R) -> Result<(), JournalError> {
    let whole = write_line(file, path, record)?;
    file.sync_data().map_err(|cause| {
        drop(file.set_len(whole));
        io_error("write", path)(cause)
    })
}

/// One line, one write. Gives the length that the file had before.
fn write_line<R: Serialize>(file: &mut File, path: &Path, record: &R) -> Result<u64, JournalError> {
    let line = codec::line(record).map_err(|cause| JournalError::Unreadable {
        path: path.to_owned(),
        cause: cause.to_string(),
    })?;
    let whole = file.metadata().map_err(io_error("read", path))?.len();
    let written = file.write_all(line.as_bytes()).map_err(|cause| {
        drop(file.set_len(whole));
        io_error("write", path)(cause)
    });
    written.map(|()| whole)
}

/// Reads a journal file and moves a torn last line to the file of torn ones beside it. It is safe
/// there before it is cut off here: whoever is killed in between leaves it in both. Empty lines at the
/// end are cut off, too: what is appended would make them empty lines in the middle.
fn mend<R: StoredLine>(
    dir: &Path,
    name: &str,
    file: &mut File,
) -> Result<(Vec<R>, Option<TornLine>), JournalError> {
    let path = dir.join(name);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(io_error("read", &path))?;
    let lines = codec::read(name, &bytes)
        .map_err(|source| JournalError::Corrupted { path: dir.to_owned(), source })?;
    if let Some(torn) = &lines.torn {
        set_aside(&path.with_extension(TORN), torn)?;
    }
    if lines.end < bytes.len() {
        let whole = u64::try_from(lines.end).unwrap_or(u64::MAX);
        file.set_len(whole).map_err(io_error("truncate", &path))?;
    }
    Ok((lines.records, lines.torn))
}

/// Keeps a torn line for whoever wants to look at it.
fn set_aside(path: &Path, torn: &TornLine) -> Result<(), JournalError> {
    let line = [&torn.bytes[..], b"\n"].concat();
    let mut file = open_append(path)?;
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    written.and_then(|()| sync_names(path)).map_err(io_error("write", path))
}

/// Makes the name of a file or directory durable, with those beside it: a file that outlives a loss of power without its name
/// is gone. A file system that knows no such request keeps names as it likes.
fn sync_names(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()) {
        Err(cause) if matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        done => done,
    }
}

fn open_append(path: &Path) -> Result<File, JournalError> {
    let options = OpenOptions::new().create(true).append(true).read(true).clone();
    options.open(path).map_err(io_error("open", path))
}

fn read_text(path: &Path) -> Result<String, JournalError> {
    std::fs::read_to_string(path).map_err(io_error("read", path))
}

fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError::Io { operation, path: path.to_owned(), source }
}

/// What is written beside a file before it takes its name.
const FRESH: [&str; 3] = [".plan.toml.new", ".plan.given.toml.new", ".hosts.json.new"];
/// Ends the name of the file of torn lines: `samples.torn`, `events.torn`.
const TORN: &str = "torn";
