//! A directory of this process alone, below one that somebody named, removed with everything in it.
//!
//! It is locked as long as somebody uses it: what a program left that was killed is removed by the next.

use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::path::PathBuf;

use crate::error::EngineError;

/// The directory.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    kind: Kind,
    _lock: File,
}

/// What such a directory is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// How the names begin; the number of the process and another one follow.
    pub(super) prefix: &'static str,
    /// Removes one with what is made in it. What cannot be removed now is in nobody's way.
    pub(super) remove: fn(&Path),
}

impl Scratch {
    /// One below this directory, from which it removes what was left by others.
    pub(super) fn below(above: &Path, kind: Kind) -> Result<Self, EngineError> {
        kind.remove_what_was_left(above);
        let first = format!("{}{}", kind.prefix, std::process::id());
        for number in 0..MOST_NAMES {
            if let Some(made) = Self::at(above.join(format!("{first}-{number}")), kind)? {
                return Ok(made);
            }
        }
        let above = above.display();
        Err(EngineError::Refused(format!("{above} has too many directories {first}-N")))
    }

    /// `None` where somebody else has the name, or takes the directory for one that was left: until it is locked it
    /// looks like one.
    fn at(path: PathBuf, kind: Kind) -> Result<Option<Self>, EngineError> {
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            outcome => outcome.map_err(EngineError::file("make directory", &path))?,
        }
        match lock(&path) {
            Ok(lock) => Ok(path.is_dir().then_some(Self { path, kind, _lock: lock })),
            Err(cause) if is_taken(&cause) => Ok(None),
            Err(cause) => {
                (kind.remove)(&path);
                Err(EngineError::file("lock", path)(cause))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        (self.kind.remove)(&self.path);
    }
}

impl Kind {
    /// Directories of this kind that nobody holds.
    fn remove_what_was_left(self, above: &Path) {
        for entry in fs::read_dir(above).into_iter().flatten().flatten() {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().into_string().unwrap_or_default();
            if !is_directory || !name.strip_prefix(self.prefix).is_some_and(is_two_numbers) {
                continue;
            }
            // Held until it is gone: nobody else begins to use it.
            if let Ok(_held) = lock(&entry.path()) {
                (self.remove)(&entry.path());
            }
        }
    }
}

/// `1024-0`, as directories are named after their prefix.
pub(super) fn is_two_numbers(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(one, other)| is_number(one) && is_number(other))
}

fn is_taken(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound)
}

/// An error where somebody else holds it.
fn lock(directory: &Path) -> io::Result<File> {
    let directory = File::open(directory)?;
    directory.try_lock()?;
    Ok(directory)
}

/// Directories of one process in one place; more are a fault.
const MOST_NAMES: u32 = 1000;
