//! Memory straight from the kernel: page-aligned for buffers of data threads and chunks of a CPU load, and files
//! that are nowhere but in memory.

use std::ffi::CStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::ops::DerefMut;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::slice;

use nix::errno::Errno;
use nix::sys::memfd::MFdFlags;
use nix::sys::memfd::memfd_create;
use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;
use nix::unistd::SysconfVar;
use nix::unistd::sysconf;

use crate::error::Error;
use crate::error::Result;

/// Bytes of a page of memory, by which the kernel counts.
pub fn page_bytes() -> u64 {
    let told = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    told.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(4096)
}

/// An empty file in memory that nobody can execute, and that nobody finds: the name is for humans.
///
/// # Errors
/// A filter refuses it, as that of a confined process does before Linux 6.3, whose files all can be executed.
pub(crate) fn file(name: &CStr) -> nix::Result<OwnedFd> {
    let unsealed = MFdFlags::MFD_CLOEXEC;
    let sealed = unsealed | MFdFlags::from_bits_retain(MFD_NOEXEC_SEAL);
    match memfd_create(name, sealed) {
        Err(Errno::EINVAL) => memfd_create(name, unsealed),
        made => made,
    }
}

/// `linux/memfd.h`, since Linux 6.3; nix has no name for it.
pub(crate) const MFD_NOEXEC_SEAL: u32 = 8;

/// Anonymous memory of its own mapping, given back to the kernel on drop.
pub struct Buffer {
    mapping: NonNull<libc::c_void>,
    mapped: NonZeroUsize,
    offset: usize,
    length: usize,
}

/// When the pages of a buffer are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// At the first touch of each page: a fault each.
    OnTouch,
    /// Before the call returns: no fault later.
    Now,
}

impl Buffer {
    /// `length` bytes that start on a page, all pages present.
    pub fn prefaulted(length: usize) -> Result<Self> {
        Self::new(length, 0, Pages::Now)
    }

    /// `length` zero bytes that start `offset` bytes after the start of a page.
    pub fn new(length: usize, offset: usize, pages: Pages) -> Result<Self> {
        let operation = || format!("map {length} bytes of memory");
        let wanted =
            length.checked_add(offset).and_then(|sum| sum.max(1).checked_next_multiple_of(PAGE));
        let mapped = wanted
            .and_then(NonZeroUsize::new)
            .ok_or_else(|| Error::new(operation(), Errno::ENOMEM))?;
        let mut flags = MapFlags::MAP_PRIVATE;
        flags |= match pages {
            Pages::Now => MapFlags::MAP_POPULATE,
            // Most of it may never be touched.
            Pages::OnTouch => MapFlags::MAP_NORESERVE,
        };
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps nothing.
        let mapping = unsafe { nix::sys::mman::mmap_anonymous(None, mapped, access, flags) };
        let mapping = mapping.map_err(|cause| Error::new(operation(), cause))?;
        Ok(Self { mapping, mapped, offset, length })
    }

    /// The first byte.
    fn start(&self) -> *mut u8 {
        self.mapping.as_ptr().cast::<u8>().wrapping_add(self.offset)
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: `offset + length` bytes are mapped, readable and zeroed for as long as `self` lives.
        unsafe { slice::from_raw_parts(self.start(), self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the exclusive borrow of `self` is the only way to the memory.
        unsafe { slice::from_raw_parts_mut(self.start(), self.length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; no borrow of it outlives `self`.
        let _ = unsafe { nix::sys::mman::munmap(self.mapping, self.mapped.get()) };
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Buffer")
            .field("offset", &self.offset)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

// SAFETY: the mapping belongs to this value alone; plain memory has no thread of its own.
unsafe impl Send for Buffer {}

// SAFETY: a shared borrow gives only shared slices.
unsafe impl Sync for Buffer {}

/// The smallest page of every supported machine; larger pages are multiples of it.
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_starts_on_a_page_or_at_its_offset() {
        for (length, offset) in [(1, 0), (100, 0), (4096, 3), (1 << 20, 64), (0, 0)] {
            let mut buffer = Buffer::new(length, offset, Pages::Now).unwrap();
            assert_eq!(buffer.as_ptr().addr() % PAGE, offset);
            assert_eq!(buffer.len(), length);
            buffer.fill(7);
            assert!(buffer.iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        let fault = Buffer::prefaulted(usize::MAX).unwrap_err();
        assert_eq!(fault.to_string(), format!("map {} bytes of memory", usize::MAX));
        assert!(Buffer::new(usize::MAX / 4, 0, Pages::OnTouch).is_err());
    }
}
