//! The files of a cell: written through its cache manager once, and known by their FIDs.

use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::units::Bytes;

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

/// The cell as a directory, as long as the value is there.
#[derive(Debug)]
struct Mounted {
    cache_manager: Running,
    at: PathBuf,
}

/// Writes a file into the cell. The calling thread is in the network and the mount namespace of the cell.
pub(super) fn keep(
    layout: &Layout,
    volume: &str,
    name: &str,
    source: &mut dyn Read,
) -> Result<Kept, EngineError> {
    let before: BTreeSet<_> = inodes(layout)?.into_iter().collect();
    let mounted = Mounted::of(layout)?;
    let to = mounted.at.join(CELL).join(name);
    let named = || EngineError::file("write", &to);
    let mut written = File::create(&to).map_err(named())?;
    let size = io::copy(source, &mut written).map_err(named())?;
    // The last close of a file hands it to the file server, and tells of it.
    drop(written);
    let vnode = fs::metadata(&to).map_err(named())?.ino() & VNODE;
    mounted.leave()?;
    let path = new_inode(&before, inodes(layout)?, Bytes::new(size))?;
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

/// The one of this size that was not there before.
fn new_inode(
    before: &BTreeSet<PathBuf>,
    after: Vec<PathBuf>,
    size: Bytes,
) -> Result<PathBuf, EngineError> {
    let is_size = |path: &Path| fs::metadata(path).is_ok_and(|found| found.len() == size.count());
    let mut new = after.into_iter().filter(|path| !before.contains(path) && is_size(path));
    match (new.next(), new.next()) {
        (Some(path), None) => Ok(path),
        (one, _) => {
            let how_many = if one.is_some() { "several files" } else { "no file" };
            Err(EngineError::Refused(format!("afs: {how_many} of {size} came into the partition")))
        }
    }
}

impl Mounted {
    fn of(layout: &Layout) -> Result<Self, EngineError> {
        let (at, said) = (layout.at("mnt"), layout.at("afsd.fuse"));
        let mut command = Command::new(tools::CACHE_MANAGER);
        command.args(["-dynroot", "-fakestat", "-memcache", "-blocks", "65536", "-f"]);
        command.args(["-confdir", "/etc/openafs", "-cachedir"]).arg(layout.at("cache"));
        command.arg("-mountdir").arg(&at);
        command.stdout(tools::record(&said)?).stderr(tools::record(&said)?);
        let mut mounted = Self { cache_manager: Running::start(&mut command)?, at };
        mounted.await_cell()?;
        Ok(mounted)
    }

    fn await_cell(&mut self) -> Result<(), EngineError> {
        let (end, cell) = (Instant::now() + PATIENCE, self.at.join(CELL));
        while !cell.is_dir() {
            if self.cache_manager.has_ended() || Instant::now() >= end {
                let what = format!("afs: afsd.fuse does not show {CELL}");
                return Err(EngineError::Refused(what));
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Unmounts it, and waits until the cache manager has ended.
    fn leave(mut self) -> Result<(), EngineError> {
        btu_sys::namespace::unmount(&self.at)?;
        let ended = self.cache_manager.end_before(Instant::now() + PATIENCE);
        // One that goes on is killed when the value goes.
        ended.map(drop).map_err(EngineError::peer("afs: wait for afsd.fuse"))
    }
}

/// The part of an inode of `afsd.fuse` that is the vnode.
const VNODE: u64 = 0xffff;

/// How long the cache manager may take to come or to go.
const PATIENCE: Duration = Duration::from_secs(30);

const GLANCE: Duration = Duration::from_millis(20);

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
