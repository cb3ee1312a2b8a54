//! The files of a cell: written through its cache manager once, and known by their FIDs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use blake3::Hash;
use blake3::Hasher;

use super::CELL;
use super::layout::Layout;
use super::layout::files_below;
use super::tools;
use super::tools::Running;
use crate::error::EngineError;

/// A file that the cell has.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// `VOLUME.VNODE.UNIQUIFIER`
    pub(super) fid: String,
    /// Where the file server has its bytes.
    pub(super) path: PathBuf,
}

/// The cell as a directory, as long as the value is there. It stays: to a server whose client ends and comes again, the old
/// one is a client that does not answer.
#[derive(Debug)]
pub(super) struct Mounted(Running);

/// Writes a file into the cell. The calling thread is in the network and the mount namespace of the cell.
pub(super) fn keep(
    layout: &Layout,
    volume: &str,
    name: &str,
    source: &mut dyn Read,
) -> Result<Kept, EngineError> {
    let before: BTreeSet<_> = inodes(layout)?.into_iter().collect();
    let to = layout.mounted().join(CELL).join(name);
    let named = || EngineError::file("write", &to);
    let mut written = File::create(&to).map_err(named())?;
    let hash = copy(source, &mut written).map_err(named())?;
    let vnode = written.metadata().map_err(named())?.ino() & VNODE;
    // The cache manager hands a file over after its last close, and nobody hears of it.
    drop(written);
    let path = await_inode(layout, &before, hash)?;
    Ok(Kept { fid: fid(volume, vnode), path })
}

/// Vnodes of files are even, from 2, and each file of a volume gets the next uniquifier; that of the root directory is 1.
/// Nothing is ever removed here, so that one follows from the other.
fn fid(volume: &str, vnode: u64) -> String {
    format!("{volume}.{vnode}.{}", vnode / 2 + 1)
}

/// The plain files of the partition, of which each file of the cell is one.
fn inodes(layout: &Layout) -> Result<Vec<PathBuf>, EngineError> {
    let partition = layout.partition();
    files_below(&partition).map_err(EngineError::file("read", partition))
}

/// Waits for a file that was not there before and has all these bytes. One that is still being written cannot be read
/// through the file server, which holds it until then.
fn await_inode(
    layout: &Layout,
    before: &BTreeSet<PathBuf>,
    hash: Hash,
) -> Result<PathBuf, EngineError> {
    let has_all = |path: &Path| {
        let found = File::open(path).and_then(|mut file| copy(&mut file, &mut io::sink()));
        found.is_ok_and(|found| found == hash)
    };
    let is_it = |path: &PathBuf| !before.contains(path) && has_all(path);
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(path) = inodes(layout)?.into_iter().find(is_it) {
            return Ok(path);
        }
        thread::sleep(GLANCE);
    }
    Err(EngineError::Refused("afs: a file did not come into the partition".to_owned()))
}

/// Copies all bytes; their hash.
fn copy(source: &mut dyn Read, sink: &mut dyn Write) -> io::Result<Hash> {
    let (mut hasher, mut space) = (Hasher::new(), vec![0; BLOCK]);
    loop {
        let count = source.read(&mut space)?;
        if count == 0 {
            return Ok(hasher.finalize());
        }
        hasher.update(&space[..count]);
        sink.write_all(&space[..count])?;
    }
}

impl Mounted {
    /// Starts the cache manager. It dies with the calling thread, which is where the cell is.
    pub(super) fn of(layout: &Layout) -> Result<Self, EngineError> {
        let said = layout.at("afsd.fuse");
        let mut command = Command::new(tools::CACHE_MANAGER);
        command.args(["-dynroot", "-fakestat", "-memcache", "-blocks", "65536", "-f"]);
        command.args(["-confdir", "/etc/openafs", "-cachedir"]).arg(layout.at("cache"));
        command.arg("-mountdir").arg(layout.mounted());
        command.stdout(tools::record(&said)?).stderr(tools::record(&said)?);
        let mut mounted = Self(Running::start(&mut command)?);
        mounted.await_cell(&layout.mounted().join(CELL))?;
        Ok(mounted)
    }

    fn await_cell(&mut self, cell: &Path) -> Result<(), EngineError> {
        let end = Instant::now() + PATIENCE;
        while !cell.is_dir() {
            if self.0.has_ended() || Instant::now() >= end {
                let what = format!("afs: afsd.fuse does not show {CELL}");
                return Err(EngineError::Refused(what));
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }
}

/// The part of an inode of `afsd.fuse` that is the vnode.
const VNODE: u64 = 0xffff;

/// How long the cache manager may take to come, and to hand over a file.
const PATIENCE: Duration = Duration::from_secs(30);

const GLANCE: Duration = Duration::from_millis(20);

const BLOCK: usize = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two files of a fresh cell, as `afsio fidread` finds them.
    #[test]
    fn uniquifiers_follow_from_vnodes() {
        assert_eq!(fid("536870915", 2), "536870915.2.2");
        assert_eq!(fid("536870915", 4), "536870915.4.3");
    }
}
