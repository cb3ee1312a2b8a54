//! The file system under a directory: whether it is a disk at all, how much room it has, and which of a file's pages
//! are in memory.

use std::ffi::c_uchar;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::ptr::NonNull;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::fcntl::PosixFadviseAdvice;
use nix::fcntl::posix_fadvise;
use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;
use nix::sys::mman::mmap;
use nix::sys::mman::munmap;
use nix::sys::stat::Mode;
use nix::sys::statfs::FsType;
use nix::sys::statfs::TMPFS_MAGIC;
use nix::sys::statfs::statfs;

use crate::error::Error;
use crate::error::Result;
use crate::memory::page_bytes;

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

/// Opens a file that lies in `folder` itself for reading: no name leads out of it, neither by its parts nor by a link,
/// and nothing but a plain file is opened.
pub fn file_within(folder: &Path, name: &str) -> Result<File> {
    let refused =
        |cause: Errno| Error::new(format!("open {name:?} in {}", folder.display()), cause);
    if name.is_empty() || name == ".." || name == "." || name.contains(['/', '\0']) {
        return Err(refused(Errno::EINVAL));
    }
    // A pipe would wait for its writer.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = nix::fcntl::open(&folder.join(name), flags, Mode::empty()).map_err(refused)?;
    let file = File::from(opened);
    let is_plain = file.metadata().is_ok_and(|found| found.is_file());
    if is_plain { Ok(file) } else { Err(refused(Errno::EINVAL)) }
}

/// Writes what is not yet on the disk, and gives up the pages that the kernel keeps of the file. It may keep some.
pub fn give_up_pages(file: &File) -> Result<()> {
    file.sync_all().map_err(|cause| Error::new("write a file to its disk", cause))?;
    let given_up = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    given_up.map_err(|cause| Error::new("give up the pages of a file", cause))
}

/// How many bytes of the file are in memory, in whole pages (`mincore`).
pub fn resident_bytes(file: &File) -> Result<u64> {
    let named = |cause: io::Error| Error::new("ask which pages of a file are in memory", cause);
    let length = file.metadata().map_err(named)?.len();
    let Some(length) = usize::try_from(length).ok().and_then(NonZeroUsize::new) else {
        return Ok(0);
    };
    let mapped = Mapped::of(file, length).map_err(|cause| named(cause.into()))?;
    let page = usize::try_from(page_bytes()).unwrap_or(4096);
    let mut pages: Vec<c_uchar> = vec![0; length.get().div_ceil(page)];
    // SAFETY: the mapping is alive and as long as asked for; there is a byte for each of its pages.
    let refused = unsafe { libc::mincore(mapped.at.as_ptr(), length.get(), pages.as_mut_ptr()) };
    if refused != 0 {
        return Err(named(io::Error::last_os_error()));
    }
    let resident = pages.iter().filter(|page| **page & 1 == 1).count();
    Ok(resident as u64 * page_bytes())
}

/// A file in the address space of this process, not one byte of which is read.
struct Mapped {
    at: NonNull<libc::c_void>,
    length: NonZeroUsize,
}

impl Mapped {
    fn of(file: &File, length: NonZeroUsize) -> nix::Result<Self> {
        // SAFETY: a mapping at an address that the kernel chooses overlaps nothing, and nobody reads it.
        let at = unsafe { mmap(None, length, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, file, 0) };
        Ok(Self { at: at?, length })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `of` made; nobody borrows from it.
        let _ = unsafe { munmap(self.at, self.length.get()) };
    }
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
        assert_eq!(fault.kind(), io::ErrorKind::NotFound);
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

    #[test]
    fn a_name_leads_nowhere_but_to_a_plain_file_of_the_folder() {
        let folder = folder("names");
        std::fs::write(folder.join("here"), "bits").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
        std::fs::create_dir(folder.join("below")).unwrap();
        file_within(&folder, "here").unwrap();
        for name in ["", ".", "..", "../here", "/etc/passwd", "below/x", "link", "below", "a\0b"] {
            let fault = file_within(&folder, name).unwrap_err();
            assert!(fault.to_string().contains("in /"), "{name:?}: {fault}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn pages_of_a_file_are_in_memory_until_they_are_given_up() {
        let folder = folder("pages");
        let path = folder.join("file");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = file_within(&folder, "file").unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 1 << 20);
        give_up_pages(&file).unwrap();
        let left = resident_bytes(&file).unwrap();
        let in_memory = file_system(&folder).unwrap().in_memory;
        std::fs::remove_dir_all(folder).unwrap();
        if in_memory {
            skip!("device missing: temporary files of this machine are in memory");
        }
        assert!(left < 1 << 19, "{left} B");
    }

    /// A folder of this test alone.
    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("btu-disk-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}
