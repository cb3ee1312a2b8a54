//! The I/O activity of maly1996, 4.2: a large file is read and copied into another, again and again.

use std::fs::File;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::units::Bytes;
use btu_sys::disk;

use super::Activity;
use super::Prepared;
use super::Setup;
use super::Worker;
use crate::error::EngineError;

/// The activity `io`.
#[derive(Debug)]
pub struct Io;

/// Two files without a name: gone when the process is, however it ends.
#[derive(Debug)]
struct Files {
    source: Arc<File>,
    target: Arc<File>,
    directory: PathBuf,
    blocks: u64,
}

/// The copying thread.
#[derive(Debug)]
struct Copier {
    source: Arc<File>,
    target: Arc<File>,
    directory: PathBuf,
    blocks: u64,
    next: u64,
    block: Vec<u8>,
}

impl Activity for Io {
    fn name(&self) -> &'static str {
        "io"
    }

    fn about(&self) -> &'static str {
        "reads a file and copies it into another, with fdatasync after each copy"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>, EngineError> {
        let blocks = setup.io_file.count().div_ceil(BLOCK.count()).max(1);
        let directory = setup.io_directory.clone();
        let (source, target) = (nameless(&directory)?, nameless(&directory)?);
        has_room(&directory, Bytes::new(blocks.saturating_mul(2 * BLOCK.count())))?;
        let files = Files { source: Arc::new(source), target: Arc::new(target), directory, blocks };
        files.write_source()?;
        Ok(Box::new(files))
    }
}

/// A disk that others use is not filled to its last byte to find out that it is too small.
fn has_room(directory: &Path, needed: Bytes) -> Result<(), EngineError> {
    let free = Bytes::new(disk::file_system(directory)?.free_bytes);
    if needed <= free {
        return Ok(());
    }
    let at = directory.display();
    Err(EngineError::Refused(format!(
        "{at}: no space left: the io activity writes {needed}, and {free} are free; make room, name \
         another directory with --io-dir, or a smaller io_file in a plan"
    )))
}

impl Files {
    /// Fills both files once, so that the first cell copies like the last.
    fn write_source(&self) -> Result<(), EngineError> {
        let mut block = noise(BLOCK.len());
        let write = |file: &File, block: &[u8], offset| {
            file.write_all_at(block, offset)
                .map_err(EngineError::file("write a file in", &self.directory))
        };
        for index in 0..self.blocks {
            block[..8].copy_from_slice(&index.to_le_bytes());
            write(&self.source, &block, index * BLOCK.count())?;
            write(&self.target, &block, index * BLOCK.count())?;
        }
        for file in [&self.source, &self.target] {
            file.sync_data().map_err(EngineError::file("sync a file in", &self.directory))?;
        }
        Ok(())
    }
}

impl Prepared for Files {
    fn unit(&self) -> String {
        format!("{BLOCK} block read and written, fdatasync each {} blocks", self.blocks)
    }

    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
        Ok(vec![Box::new(Copier {
            source: Arc::clone(&self.source),
            target: Arc::clone(&self.target),
            directory: self.directory.clone(),
            blocks: self.blocks,
            next: 0,
            block: Vec::new(),
        })])
    }
}

impl Drop for Copier {
    /// A copy that was stopped in its middle is on the disk before what runs next: the kernel would write it half a minute
    /// later, beside a run that has nothing to do with it.
    fn drop(&mut self) {
        if self.next > 0 {
            // What was measured is over.
            let _ = self.target.sync_data();
        }
    }
}

impl Worker for Copier {
    fn begin(&mut self) -> Result<(), EngineError> {
        self.block = vec![0; BLOCK.len()];
        Ok(())
    }

    /// One block; the last of a copy includes the time until the disk has the whole copy.
    fn step(&mut self) -> Result<f64, EngineError> {
        let at = |operation| EngineError::file(operation, &self.directory);
        let offset = self.next * BLOCK.count();
        self.source.read_exact_at(&mut self.block, offset).map_err(at("read a file in"))?;
        self.target.write_all_at(&self.block, offset).map_err(at("write a file in"))?;
        self.next += 1;
        if self.next == self.blocks {
            self.target.sync_data().map_err(at("sync a file in"))?;
            self.next = 0;
        }
        Ok(1.0)
    }
}

/// The directory for the files of `io`: the one that was asked for, else the first candidate on a disk in
/// which files can be made.
///
/// A file system that keeps its files in memory measures no disk: it is refused unless
/// `allow_memory`, and never chosen unasked.
pub fn choose_directory(
    asked: Option<&Path>,
    candidates: &[PathBuf],
    allow_memory: bool,
) -> Result<PathBuf, EngineError> {
    let Some(asked) = asked else {
        let on_disk = |path: &Path| disk::file_system(path).is_ok_and(|found| !found.in_memory);
        let fits = |path: &&PathBuf| on_disk(path) && nameless(path).is_ok();
        return candidates.iter().find(fits).cloned().ok_or_else(|| no_disk(candidates));
    };
    if disk::file_system(asked)?.in_memory && !allow_memory {
        let asked = asked.display();
        return Err(EngineError::Refused(format!(
            "{asked} is in memory (tmpfs): io would measure no disk; choose another --io-dir, or add --allow-tmpfs"
        )));
    }
    nameless(asked)?;
    Ok(asked.to_owned())
}

fn no_disk(candidates: &[PathBuf]) -> EngineError {
    let tried: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
    let tried = tried.join(", ");
    EngineError::Refused(format!(
        "no directory on a disk in which files can be made, among {tried}; name one with --io-dir"
    ))
}

/// A new file without a name.
fn nameless(directory: &Path) -> Result<File, EngineError> {
    disk::nameless_file(directory).or_else(|_| unnamed(directory))
}

/// The same where the file system has only files with a name: between two calls it has one.
fn unnamed(directory: &Path) -> Result<File, EngineError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!(".btu-io-{}-{}", process::id(), NUMBER.fetch_add(1, Relaxed));
    let path = directory.join(name);
    let opened = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
    let file = opened.map_err(EngineError::file("create", &path))?;
    std::fs::remove_file(&path).map_err(EngineError::file("remove", &path))?;
    Ok(file)
}

/// Bytes that no file system compresses away (xorshift64, Marsaglia 2003).
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(length.div_ceil(8)).flatten().take(length).collect()
}

/// One unit of work.
const BLOCK: Bytes = Bytes::new(1 << 20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_candidate_on_a_disk_is_chosen() {
        let disk = tempfile::tempdir_in("/var/tmp").unwrap();
        if disk::file_system(disk.path()).unwrap().in_memory {
            skip!("device missing: /var/tmp is in memory");
        }
        // Nobody makes files in /proc, not even root.
        let [missing, full] = ["/nowhere/at/all", "/proc"].map(PathBuf::from);
        let all = [missing.clone(), full.clone(), disk.path().to_owned()];
        assert_eq!(choose_directory(None, &all, false).unwrap(), disk.path());
        let none = choose_directory(None, &[missing, full.clone()], false).unwrap_err().to_string();
        assert!(none.ends_with("among /nowhere/at/all, /proc; name one with --io-dir"), "{none}");
        let asked = choose_directory(Some(&full), &[], false).unwrap_err().to_string();
        assert!(asked.starts_with("create /proc/.btu-io-"), "{asked}");
    }

    #[test]
    fn a_file_of_io_never_has_a_name() {
        let here = tempfile::tempdir().unwrap();
        if disk::nameless_file(here.path()).is_err() {
            skip!("kernel lacks: O_TMPFILE in {}", here.path().display());
        }
        let name = |file: &File| {
            let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
            std::fs::read_link(link).unwrap().display().to_string()
        };
        let had = name(&unnamed(here.path()).unwrap());
        assert!(had.contains("/.btu-io-"), "{had}");
        let has = name(&nameless(here.path()).unwrap());
        assert!(!has.contains("/.btu-io-"), "{has}");
        assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0);
    }

    #[test]
    fn memory_is_refused_unless_it_is_asked_for() {
        let memory = Path::new("/dev/shm");
        if !disk::file_system(memory).is_ok_and(|found| found.in_memory) {
            skip!("device missing: /dev/shm is no tmpfs");
        }
        let refused = choose_directory(Some(memory), &[], false).unwrap_err().to_string();
        assert!(refused.contains("--allow-tmpfs"), "{refused}");
        assert_eq!(choose_directory(Some(memory), &[], true).unwrap(), memory);
    }

    #[test]
    fn noise_does_not_repeat_itself_soon() {
        let bytes = noise(4096);
        assert_eq!(bytes.len(), 4096);
        let distinct: std::collections::HashSet<_> = bytes.chunks_exact(8).collect();
        assert_eq!(distinct.len(), 512);
    }
}
