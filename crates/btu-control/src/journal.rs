//! The result directory of a run: created once, appended to after each run, resumed after a crash.

mod appended;

use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::Record;
use btu_core::journal::codec::CorruptedLine;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::codec::TornLine;
use btu_core::journal::file;
use serde::Serialize;

use appended::Appended;

/// A result directory that this process writes to. Locked against a second writer.
#[derive(Debug)]
pub struct JournalDir {
    path: PathBuf,
    samples: Appended,
    events: Appended,
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
    /// The torn last line: it goes to `samples.torn` before anything follows it.
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
        let journal = Self::open(path, Appended::made)?;
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

    /// Opens the directory of a run that did not come to its end. Nothing in it changes before something is written:
    /// whoever finds that this host cannot go on with it leaves it as it was.
    ///
    /// # Errors
    /// It is no result directory, another process writes to it, or a line is corrupted.
    pub fn resume<R: StoredLine>(path: &Path) -> Result<(Self, Stored<R>), JournalError> {
        for file in [file::PLAN, file::HOSTS, file::SAMPLES] {
            if !path.join(file).is_file() {
                return Err(JournalError::NotAResult { path: path.to_owned(), file });
            }
        }
        let mut journal = Self::open(path, Appended::as_it_is)?;
        let plan = read_text(&path.join(file::PLAN))?;
        let hosts =
            serde_json::from_str(&read_text(&path.join(file::HOSTS))?).map_err(|cause| {
                JournalError::Unreadable { path: path.join(file::HOSTS), cause: cause.to_string() }
            })?;
        let samples = journal.samples.read()?;
        let events = journal.events.read()?.records;
        let (records, torn) = (samples.records, samples.torn);
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
        self.samples.append(record)
    }

    /// Appends a record of which many come in a second: it outlives this process at once, and the
    /// machine from the next [`JournalDir::sync`] on.
    ///
    /// # Errors
    /// As [`JournalDir::append`].
    pub fn keep<R: Serialize>(&mut self, record: &R) -> Result<(), JournalError> {
        self.samples.keep(record).map(drop)
    }

    /// Makes every record durable.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.samples.sync()
    }

    /// Appends an event and makes it durable. The first one of a resume comes before a torn sample is cut off: killed in
    /// between, a journal that ended with "finished" would seem whole, and its run would be missing for good.
    ///
    /// # Errors
    /// As [`JournalDir::append`].
    pub fn note(&mut self, event: &EventRecord) -> Result<(), JournalError> {
        self.events.set_aside()?;
        self.samples.set_aside()?;
        self.events.append(event)?;
        self.samples.mend()
    }

    /// Writes a whole file of the directory or of a folder in it: a new one beside it, then a rename.
    ///
    /// # Errors
    /// The disk refuses; an older file of that name then stays as it was.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        write_whole(&self.path.join(name), content)
    }

    fn open(
        path: &Path,
        open: fn(PathBuf) -> Result<Appended, JournalError>,
    ) -> Result<Self, JournalError> {
        let samples = open(path.join(file::SAMPLES))?;
        if !samples.is_locked_by_us()? {
            return Err(JournalError::Locked { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), samples, events: open(path.join(file::EVENTS))? })
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

fn read_text(path: &Path) -> Result<String, JournalError> {
    std::fs::read_to_string(path).map_err(io_error("read", path))
}

fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError::Io { operation, path: path.to_owned(), source }
}

/// What is written beside a file before it takes its name.
const FRESH: [&str; 3] = [".plan.toml.new", ".plan.given.toml.new", ".hosts.json.new"];
