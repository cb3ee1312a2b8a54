//! A result directory that nobody else writes to: taken before any host is asked, and given back where nothing
//! came of it.

use btu_core::journal::file;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;

use crate::exit::Failure;
use crate::measurement::place;

/// A directory that is taken.
#[derive(Debug)]
pub(super) struct Claim {
    /// Its file of samples, locked.
    path: PathBuf,
    samples: File,
    /// Whether there was no such directory before.
    made: bool,
    /// Whether there was no such file before.
    fresh: bool,
}

impl Claim {
    /// Takes a directory in which a new result may be made. Who comes second finds it locked, or not free
    /// any more: one of the two is asked behind the lock.
    pub(super) fn free(out: &Path) -> Result<Self, Failure> {
        place::free(out)?;
        let made = !out.exists();
        std::fs::create_dir_all(out)
            .with_context(|| format!("create {}", out.display()))
            .map_err(Failure::environment)?;
        let fresh = !out.join(file::SAMPLES).exists();
        let taken = |cause| Failure::usage(cause).hint("name another directory with --out");
        let mut claim = Self::held(out).map_err(taken)?;
        (claim.made, claim.fresh) = (made, fresh);
        place::free(out).map(|()| claim)
    }

    /// Takes a directory with a result that is not at its end.
    pub(super) fn held(out: &Path) -> anyhow::Result<Self> {
        let path = out.join(file::SAMPLES);
        let samples = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let samples = samples.with_context(|| format!("write {}", path.display()))?;
        let claim = Self { path, samples, made: false, fresh: false };
        let locked = claim.samples.try_lock().is_ok() && claim.is_there();
        if locked { Ok(claim) } else { Err(anyhow!("{}: {TAKEN}", out.display())) }
    }

    /// The first samples, or none of them.
    pub(super) fn begin(&mut self, samples: &[u8]) -> anyhow::Result<()> {
        let written = self.samples.write_all(samples).and_then(|()| self.samples.sync_data());
        if written.is_err() {
            drop(self.samples.set_len(0));
        }
        written.with_context(|| format!("write {}", self.path.display()))
    }

    /// Takes away what is behind so many bytes of samples.
    pub(super) fn cut(&self, length: usize) -> std::io::Result<()> {
        self.samples.set_len(length as u64)
    }

    /// True where the locked file is the one that others find: not one that its owner gave back meanwhile,
    /// and not one that a whole result replaced.
    fn is_there(&self) -> bool {
        let file = |found: std::fs::Metadata| (found.dev(), found.ino());
        let own = self.samples.metadata().map(file);
        own.is_ok_and(|own| std::fs::metadata(&self.path).map(file).is_ok_and(|one| one == own))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let is_empty = self.samples.metadata().is_ok_and(|file| file.len() == 0);
        if !(self.fresh && is_empty && self.is_there()) {
            return;
        }
        drop(std::fs::remove_file(&self.path));
        if let Some(out) = self.path.parent().filter(|_| self.made) {
            // It stays where somebody put something into it.
            drop(std::fs::remove_dir(out));
        }
    }
}

const TAKEN: &str = "another process writes to this result";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_take_one_directory_one_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("result");
        let first = Claim::free(&out).unwrap();
        let why = format!("{:#}", Claim::free(&out).unwrap_err().cause);
        assert!(why.contains(TAKEN), "{why}");
        drop(first);
        assert!(!out.exists(), "nothing came of it");
        let mut first = Claim::free(&out).unwrap();
        first.begin(b"1\n").unwrap();
        assert!(Claim::free(&out).is_err());
        drop(first);
        let why = format!("{:#}", Claim::free(&out).unwrap_err().cause);
        assert!(why.contains("not empty"), "{why}");
        assert_eq!(std::fs::read(out.join(file::SAMPLES)).unwrap(), b"1\n");
    }

    #[test]
    fn what_was_there_before_stays() {
        let folder = tempfile::tempdir().unwrap();
        drop(Claim::free(folder.path()).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "as it was");
        // What a run left that was killed before it began.
        std::fs::write(folder.path().join(file::SAMPLES), "").unwrap();
        std::fs::write(folder.path().join("hosts.json"), "{}").unwrap();
        drop(Claim::free(folder.path()).unwrap());
        drop(Claim::free(folder.path()).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_result_that_was_put_in_its_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (out, whole) = (folder.path().join("result"), folder.path().join("whole"));
        let claim = Claim::free(&out).unwrap();
        std::fs::write(&whole, "").unwrap();
        std::fs::rename(&whole, out.join(file::SAMPLES)).unwrap();
        drop(claim);
        assert!(out.join(file::SAMPLES).exists());
    }

    #[test]
    fn a_directory_that_is_given_back_is_not_held_by_who_opened_it_before() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("result");
        let first = Claim::free(&out).unwrap();
        let late = File::open(out.join(file::SAMPLES)).unwrap();
        drop(first);
        late.try_lock().unwrap();
        let late = Claim { path: out.join(file::SAMPLES), samples: late, made: true, fresh: true };
        assert!(!late.is_there());
        let second = Claim::free(&out).unwrap();
        drop(late);
        assert!(second.is_there());
    }
}
