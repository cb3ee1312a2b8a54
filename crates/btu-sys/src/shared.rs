//! Memory that two ends share, as two rings of bytes, one for each direction.
//!
//! Each ring has one writer and one reader. Positions only ever grow; the writer owns `written`,
//! the reader owns `read`, on cache lines of their own. Who sleeps says so first and looks again
//! (a futex), so that nobody is forgotten and a peer that spins makes no system call.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::Ordering::Release;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;

use crate::error::Error;
use crate::error::Result;
use crate::futex;

/// One end of the shared memory: it writes into one ring and reads from the other.
#[derive(Debug)]
pub struct Duct {
    region: Arc<Region>,
    out: usize,
}

/// Ends both directions of a duct from any thread.
#[derive(Clone, Debug)]
pub struct DuctEnd(Arc<Region>);

/// The mapping with both rings.
struct Region {
    mapping: NonNull<libc::c_void>,
    length: NonZeroUsize,
    /// Keeps the memory by its descriptor, as a second process would have it.
    _memory: OwnedFd,
}

/// The positions of one ring. Lives in the mapping, shared with the other end.
#[repr(C, align(128))]
#[derive(Default)]
struct Positions {
    written: Line<AtomicU64>,
    read: Line<AtomicU64>,
    /// Changes whenever something happened; what sleepers wait on.
    bell: Line<AtomicU32>,
    /// Non-zero while somebody sleeps or is about to.
    sleepers: Line<AtomicU32>,
    /// Non-zero once either end is gone.
    over: Line<AtomicU32>,
}

#[repr(C, align(128))]
#[derive(Default)]
struct Line<T>(T);

/// Two ends with rings of `capacity` bytes, which must be a power of two.
pub fn ducts(capacity: usize) -> Result<(Duct, Duct)> {
    let region = Arc::new(Region::new(capacity)?);
    Ok((Duct { region: Arc::clone(&region), out: 0 }, Duct { region, out: 1 }))
}

impl Duct {
    /// Writes what fits; 0 where the ring is full. Fails once the duct is over.
    #[inline]
    pub fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let ring = self.region.positions(self.out);
        if ring.over.0.load(Relaxed) != 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = ring.written.0.load(Relaxed);
        let used = written.wrapping_sub(ring.read.0.load(Acquire));
        let room = self.region.capacity().saturating_sub(size(used));
        let count = data.len().min(room);
        self.region.copy_in(self.out, written, &data[..count]);
        if count > 0 {
            ring.written.0.store(written.wrapping_add(wide(count)), Release);
            ring.ring_bell();
        }
        Ok(count)
    }

    /// Reads what is there; 0 where the ring is empty. Fails once the duct is over and empty.
    #[inline]
    pub fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let ring = self.region.positions(1 - self.out);
        let read = ring.read.0.load(Relaxed);
        let mut waiting = ring.waiting(read);
        if waiting == 0 {
            if ring.over.0.load(Acquire) == 0 {
                return Ok(0);
            }
            // Data and end may have come since the first look; what was written before the end is there by now.
            waiting = ring.waiting(read);
            if waiting == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let count = space.len().min(waiting).min(self.region.capacity());
        self.region.copy_out(1 - self.out, read, &mut space[..count]);
        ring.read.0.store(read.wrapping_add(wide(count)), Release);
        ring.ring_bell();
        Ok(count)
    }

    /// Sleeps until the outgoing ring has room.
    pub fn sleep_for_room(&self) {
        let (ring, capacity) = (self.region.positions(self.out), self.region.capacity());
        ring.sleep_while(|ring| ring.used() >= capacity);
    }

    /// Sleeps until the incoming ring holds something.
    pub fn sleep_for_data(&self) {
        self.region.positions(1 - self.out).sleep_while(|ring| ring.used() == 0);
    }

    /// True where a read gives something, the end included.
    pub fn can_read(&self) -> bool {
        let ring = self.region.positions(1 - self.out);
        ring.used() > 0 || ring.over.0.load(Acquire) != 0
    }

    /// True where a write takes something, or fails.
    pub fn can_write(&self) -> bool {
        let ring = self.region.positions(self.out);
        ring.used() < self.region.capacity() || ring.over.0.load(Acquire) != 0
    }

    /// True where the incoming ring was full before the read that gave `count` bytes: only then can the other end wait
    /// for room. To be asked just after that read.
    #[inline]
    pub fn was_full_before(&self, count: usize) -> bool {
        // The bell of the read is a fence: either the other end, after it announced its sleep, sees the room, or what
        // it wrote before that is seen here.
        let ring = self.region.positions(1 - self.out);
        ring.used() + count >= self.region.capacity()
    }

    /// What ends both ends.
    pub fn end(&self) -> DuctEnd {
        DuctEnd(Arc::clone(&self.region))
    }
}

impl Drop for Duct {
    fn drop(&mut self) {
        self.region.end();
    }
}

impl DuctEnd {
    /// Ends both directions: nobody sleeps any more, nothing more is written.
    pub fn abort(&self) {
        self.0.end();
    }
}

impl Positions {
    fn used(&self) -> usize {
        self.waiting(self.read.0.load(Acquire))
    }

    /// Bytes behind this position.
    #[inline]
    fn waiting(&self, read: u64) -> usize {
        size(self.written.0.load(Acquire).wrapping_sub(read))
    }

    /// Wakes whoever sleeps; costs a fence and a load where nobody does.
    #[inline]
    fn ring_bell(&self) {
        // Orders the position just stored before the look at the sleepers: either this end sees
        // the sleeper, or the sleeper, after announcing itself, sees the new position.
        fence(SeqCst);
        if self.sleepers.0.load(Relaxed) != 0 {
            self.bell.0.fetch_add(1, Release);
            futex::wake_all(&self.bell.0);
        }
    }

    fn sleep_while(&self, idle: impl Fn(&Self) -> bool) {
        self.sleepers.0.fetch_add(1, SeqCst);
        fence(SeqCst);
        loop {
            let bell = self.bell.0.load(Acquire);
            if self.over.0.load(Acquire) != 0 || !idle(self) {
                break;
            }
            futex::sleep(&self.bell.0, bell, None);
        }
        self.sleepers.0.fetch_sub(1, SeqCst);
    }
}

impl Region {
    fn new(capacity: usize) -> Result<Self> {
        let named = |call: &str| format!("{call} {capacity} bytes of shared memory");
        let length = capacity.checked_mul(2).and_then(|rings| rings.checked_add(HEAD));
        let length = length.filter(|_| capacity.is_power_of_two()).and_then(NonZeroUsize::new);
        let length = length.ok_or_else(|| Error::new(named("make"), nix::errno::Errno::EINVAL))?;
        let memory = crate::memory::file(c"btu-duct");
        let memory = memory.map_err(|cause| Error::new(named("make"), cause))?;
        let size = i64::try_from(length.get()).unwrap_or(i64::MAX);
        nix::unistd::ftruncate(&memory, size).map_err(|cause| Error::new(named("size"), cause))?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let mapping = unsafe { nix::sys::mman::mmap(None, length, access, flags, &memory, 0) };
        let mapping = mapping.map_err(|cause| Error::new(named("map"), cause))?;
        Ok(Self { mapping, length, _memory: memory })
    }

    fn capacity(&self) -> usize {
        (self.length.get() - HEAD) / 2
    }

    fn base(&self) -> *mut u8 {
        self.mapping.as_ptr().cast()
    }

    #[inline]
    fn positions(&self, ring: usize) -> &Positions {
        let start = self.mapping.as_ptr().cast::<Positions>().wrapping_add(ring);
        // SAFETY: the head of the mapping holds two zeroed, aligned `Positions` of atomics alone.
        unsafe { &*start }
    }

    /// Where the bytes of a ring start.
    fn ring(&self, ring: usize) -> *mut u8 {
        self.base().wrapping_add(HEAD + ring * self.capacity())
    }

    /// Copies into a ring at a position, around its end where necessary. The caller has found room.
    #[inline]
    fn copy_in(&self, ring: usize, at: u64, data: &[u8]) {
        let at = size(at) & (self.capacity() - 1);
        let (first, second) = data.split_at(data.len().min(self.capacity() - at));
        let start = self.ring(ring);
        // SAFETY: `at + first` lies within the ring, in the part that the reader does not touch.
        unsafe { start.wrapping_add(at).copy_from_nonoverlapping(first.as_ptr(), first.len()) };
        // SAFETY: the rest starts at the ring's first byte, in the part that the reader does not touch.
        unsafe { start.copy_from_nonoverlapping(second.as_ptr(), second.len()) };
    }

    #[inline]
    fn copy_out(&self, ring: usize, at: u64, space: &mut [u8]) {
        let at = size(at) & (self.capacity() - 1);
        let split = space.len().min(self.capacity() - at);
        let (first, second) = space.split_at_mut(split);
        let start = self.ring(ring);
        // SAFETY: `at + first` lies within the ring, in the part that the writer has published.
        unsafe { first.as_mut_ptr().copy_from_nonoverlapping(start.wrapping_add(at), first.len()) };
        // SAFETY: the rest starts at the ring's first byte, in the part that the writer has published.
        unsafe { second.as_mut_ptr().copy_from_nonoverlapping(start, second.len()) };
    }

    fn end(&self) {
        for ring in [0, 1].map(|ring| self.positions(ring)) {
            ring.over.0.store(1, Release);
            ring.bell.0.fetch_add(1, Release);
            futex::wake_all(&ring.bell.0);
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; nobody has a borrow of it any more.
        let _ = unsafe { nix::sys::mman::munmap(self.mapping, self.length.get()) };
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Region").field("length", &self.length).finish_non_exhaustive()
    }
}

// SAFETY: the mapping lives as long as the value and belongs to no thread.
unsafe impl Send for Region {}

// SAFETY: positions are atomics; each part of a ring is touched by one end at a time, handed over
// by release and acquire of the positions, and each end is one `Duct` used through `&mut`.
unsafe impl Sync for Region {}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A position or difference as a size; the machine is a 64-bit one, so nothing is cut off.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The positions of both rings, and the start of the first ring on a page.
const HEAD: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in_around_the_end_of_the_ring() {
        let (mut near, mut far) = ducts(4096).unwrap();
        let mut next = 0_u8;
        for length in [1, 4096, 4095, 17, 2000, 3000, 4096] {
            let bytes = (0..=250).cycle().take(length);
            let data: Vec<u8> = bytes.map(|at: u8| next.wrapping_add(at)).collect();
            assert_eq!(near.write(&data).unwrap(), length);
            let mut space = vec![0; length];
            assert_eq!(far.read(&mut space).unwrap(), length);
            assert!(space == data, "{length} bytes");
            next = next.wrapping_add(1);
        }
    }

    #[test]
    fn a_full_ring_takes_no_more_and_an_empty_one_gives_nothing() {
        let (mut near, mut far) = ducts(4096).unwrap();
        assert_eq!(near.write(&[1; 5000]).unwrap(), 4096);
        assert!(!near.can_write() && far.can_read());
        assert_eq!(near.write(&[1; 5000]).unwrap(), 0);
        assert_eq!(far.read(&mut [0; 100]).unwrap(), 100);
        assert!(near.can_write() && !near.can_read() && far.was_full_before(100));
        assert_eq!(far.read(&mut [0; 1]).unwrap(), 1);
        assert!(!far.was_full_before(1));
        assert_eq!(near.write(&[1; 5000]).unwrap(), 101);
        assert_eq!(near.read(&mut [0; 100]).unwrap(), 0);
        near.end().abort();
        assert!(near.can_write() && near.can_read());
    }

    #[test]
    fn sleepers_are_woken_by_data_room_and_the_end() {
        let (mut near, mut far) = ducts(4096).unwrap();
        let echo = std::thread::spawn(move || {
            let (mut space, mut total) = ([0; 1000], 0);
            loop {
                match far.read(&mut space) {
                    Ok(0) => far.sleep_for_data(),
                    Ok(count) => total += count,
                    Err(_) => return total,
                }
            }
        });
        let mut left = 1_000_000;
        while left > 0 {
            match near.write(&[5; 3000][..left.min(3000)]).unwrap() {
                0 => near.sleep_for_room(),
                count => left -= count,
            }
        }
        near.end().abort();
        assert_eq!(echo.join().unwrap(), 1_000_000);
        assert!(near.write(&[1]).is_err());
    }

    #[test]
    fn a_capacity_that_is_no_power_of_two_is_refused() {
        let fault = ducts(5000).unwrap_err();
        assert_eq!(fault.to_string(), "make 5000 bytes of shared memory");
    }

    #[test]
    fn what_was_written_before_the_end_is_read() {
        for _ in 0..500 {
            let (mut near, mut far) = ducts(64).unwrap();
            let writer = std::thread::spawn(move || near.write(b"last").map(drop));
            let mut space = [0; 8];
            let got = loop {
                match far.read(&mut space) {
                    Ok(0) => std::hint::spin_loop(),
                    done => break done.unwrap(),
                }
            };
            assert_eq!(&space[..got], b"last");
            writer.join().unwrap().unwrap();
        }
    }
}
