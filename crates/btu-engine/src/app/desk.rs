//! The directory of a launch whose ranks are processes: the order for them, and what each of them tells.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::app::sample::Job;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::life::Ended;
use crate::error::EngineError;
use crate::message::Start;

/// The directory of the launching side, for its user alone; it goes with it.
#[derive(Debug)]
pub(super) struct Desk(PathBuf);

/// What a rank is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) start: Start,
    pub(super) job: Job,
    /// How long a rank waits for one that is silent.
    pub(super) patience: Nanos,
    /// The CPUs of each rank, as the kernel lists them: `0-3,8`.
    pub(super) cpus: Vec<String>,
}

impl Desk {
    /// A new one, in the directory for temporary files.
    pub(super) fn new() -> Result<Self, EngineError> {
        loop {
            let path = named(MADE.fetch_add(1, Relaxed));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // An earlier process of this number was killed.
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(EngineError::file("make directory", path)(cause)),
            }
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The file of the order.
    pub(super) fn order(&self) -> PathBuf {
        self.0.join(ORDER)
    }

    /// Writes the order.
    pub(super) fn give(&self, order: &Order) -> Result<(), EngineError> {
        write(&self.order(), order)
    }

    /// Where the launcher and the ranks say what is no report.
    pub(super) fn open_talk(&self) -> Result<File, EngineError> {
        let path = self.0.join(TALK);
        File::create(&path).map_err(EngineError::file("create", path))
    }

    /// What they said.
    pub(super) fn talk(&self) -> String {
        let mut said = Vec::new();
        if let Ok(file) = File::open(self.0.join(TALK)) {
            // What cannot be read is no reason either.
            let _ = file.take(MOST_TALK).read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Why a rank did not come to be one.
    pub(super) fn complaint(&self) -> Option<String> {
        fs::read_to_string(self.0.join(COMPLAINT)).ok()
    }

    /// Which library carries the messages, as the first rank told.
    pub(super) fn library(&self) -> Option<String> {
        fs::read_to_string(self.0.join(LIBRARY)).ok()
    }

    /// What a rank has told so far.
    pub(super) fn told(&self, rank: u32) -> Option<Ended> {
        read(&report(&self.0, rank)).ok()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Whoever could make it can remove it; where not, it is one of many in that directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Order {
    /// That of this file.
    pub(super) fn read(file: &Path) -> Result<Self, EngineError> {
        read(file)
    }
}

/// Tells beside the file of the order what became of a rank, wholly or not at all.
pub(super) fn tell(order: &Path, ended: &Ended) -> Result<(), EngineError> {
    let whole = report(folder(order), ended.sample.rank);
    let begun = whole.with_extension("begun");
    write(&begun, ended)?;
    fs::rename(&begun, &whole).map_err(EngineError::file("rename", begun))
}

/// Tells beside the file of the order which library carries the messages.
pub(super) fn tell_library(order: &Path, library: &str) -> Result<(), EngineError> {
    let path = folder(order).join(LIBRARY);
    fs::write(&path, library).map_err(EngineError::file("write", path))
}

/// Tells beside the file of the order why this process is no rank; all of a launch have the same reason.
pub(super) fn complain(order: &Path, reason: &str) {
    // Where it cannot be written, what the launcher says is told.
    let _ = fs::write(folder(order).join(COMPLAINT), reason);
}

/// True where so many ranks have told.
pub(super) fn have_told(order: &Path, ranks: usize) -> bool {
    (0..).take(ranks).all(|rank| report(folder(order), rank).exists())
}

fn named(count: u32) -> PathBuf {
    std::env::temp_dir().join(format!("btu-ranks-{}-{count}", process::id()))
}

fn folder(order: &Path) -> &Path {
    order.parent().unwrap_or(Path::new("."))
}

fn report(folder: &Path, rank: u32) -> PathBuf {
    folder.join(format!("rank-{rank}.json"))
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), EngineError> {
    let text = serde_json::to_vec(value).map_err(io::Error::from);
    text.and_then(|text| fs::write(path, text)).map_err(EngineError::file("write", path))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, EngineError> {
    let text = fs::read(path).map_err(EngineError::file("read", path))?;
    serde_json::from_slice(&text).map_err(io::Error::from).map_err(EngineError::file("read", path))
}

/// How many were made, or were there already.
static MADE: AtomicU32 = AtomicU32::new(0);
/// Of a library that says more, the begin is kept.
const MOST_TALK: u64 = 1 << 16;
const ORDER: &str = "order.json";
const TALK: &str = "talk";
const LIBRARY: &str = "library";
const COMPLAINT: &str = "complaint";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_a_killed_process_left_is_in_nobodys_way() {
        let next = MADE.load(Relaxed);
        let left = [next, next + 1].map(named);
        for path in &left {
            fs::create_dir(path).unwrap();
        }
        let desk = Desk::new().unwrap();
        assert!(!left.contains(&desk.0) && desk.order().parent().unwrap().is_dir());
        for path in &left {
            fs::remove_dir(path).unwrap();
        }
        let own = desk.0.clone();
        drop(desk);
        assert!(!own.exists());
    }
}
