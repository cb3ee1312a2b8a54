//! The file system under a directory: whether it is a disk at all, and how much room it has.

use std::fs::File;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::sys::statfs::FsType;
use nix::sys::statfs::TMPFS_MAGIC;
use nix::sys::statfs::statfs;

use crate::error::Error;
use crate::error::Result;

/// What `statfs` says of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// True for a file system that keeps its files in memory only (tmpfs, ramfs).
    pub in_memory: bool,
    /// The kernel's number of the file system type.
    pub magic: i64,
    /// Room for an ordinary user, bytes.
    pub free_bytes: u64,
}

/// The file system that holds `path`.
pub fn file_system(path: &Path) -> Result<FileSystem> {
    let operation = || format!("read the file system of {}", path.display());
    let found = statfs(path).map_err(|cause| Error::new(operation(), cause))?;
    let kind = found.filesystem_type();
    let block = u64::try_from(found.block_size()).unwrap_or(0);
    Ok(FileSystem {
        in_memory: kind == TMPFS_MAGIC || kind == FsType(RAMFS_MAGIC),
        magic: kind.0,
        free_bytes: found.blocks_available().saturating_mul(block),
    })
}

/// A new file that never has a name: however this process ends, nothing is left of it (`O_TMPFILE`).
///
/// # Errors
/// No file can be made there, or the file system has none without a name (NFS, some FUSE).
pub fn nameless_file(folder: &Path) -> Result<File> {
    let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
    let made = nix::fcntl::open(folder, flags, Mode::S_IRUSR | Mode::S_IWUSR);
    let operation = || format!("make a file without a name in {}", folder.display());
    made.map(File::from).map_err(|cause| Error::new(operation(), cause))
}

/// `include/uapi/linux/magic.h`; nix has no name for it.
const RAMFS_MAGIC: i64 = 0x8584_58f6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_directory_is_named() {
        let fault = file_system(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(fault.to_string(), "read the file system of /nowhere/at/all");
        assert_eq!(fault.kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn tmpfs_is_told_from_a_disk() {
        assert!(!file_system(Path::new("/proc")).unwrap().in_memory);
        let memory = Path::new("/dev/shm");
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        if mounts
            .lines()
            .any(|line| line.starts_with("tmpfs /dev/shm ") || line.contains(" /dev/shm tmpfs "))
        {
            assert!(file_system(memory).unwrap().in_memory);
        } else {
            skip!("device missing: /dev/shm is no tmpfs");
        }
    }
}
