//! Memory that the kernel also reads and writes.

use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;

use crate::error::Error;
use crate::error::Result;

/// A mapping, given back on drop. Only raw pointers lead into it: whose a byte is changes with the
/// rings.
pub(super) struct Mapping {
    start: NonNull<libc::c_void>,
    length: NonZeroUsize,
}

impl Mapping {
    /// Zeroed memory whose pages are there.
    pub(super) fn anonymous(length: usize) -> Result<Self> {
        let length = non_zero(length)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_POPULATE;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps nothing.
        let start = unsafe { nix::sys::mman::mmap_anonymous(None, length, ACCESS, flags) };
        let start = start.map_err(|cause| Error::new(format!("map {length} bytes"), cause))?;
        Ok(Self { start, length })
    }

    /// What the kernel keeps for a socket at this offset.
    pub(super) fn of_socket(socket: &OwnedFd, length: usize, offset: i64) -> Result<Self> {
        let length = non_zero(length)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_POPULATE;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let start = unsafe { nix::sys::mman::mmap(None, length, ACCESS, flags, socket, offset) };
        let start = start.map_err(|cause| Error::new("map a ring of an AF_XDP socket", cause))?;
        Ok(Self { start, length })
    }

    /// The byte at `offset`. Whoever follows the pointer has to know that it lies inside.
    #[inline]
    pub(super) fn at(&self, offset: usize) -> *mut u8 {
        self.start.as_ptr().cast::<u8>().wrapping_add(offset)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that was made; no borrow of it outlives `self`.
        let _ = unsafe { nix::sys::mman::munmap(self.start, self.length.get()) };
    }
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Mapping {}

fn non_zero(length: usize) -> Result<NonZeroUsize> {
    NonZeroUsize::new(length).ok_or_else(|| Error::new("map 0 bytes", nix::errno::Errno::EINVAL))
}

const ACCESS: ProtFlags = ProtFlags::PROT_READ.union(ProtFlags::PROT_WRITE);
