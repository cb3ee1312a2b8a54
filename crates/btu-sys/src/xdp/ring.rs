//! The rings of an `AF_XDP` socket: one side writes entries, the other takes them, without a call.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;

use super::mapping::Mapping;
use crate::error::Error;
use crate::error::Result;
use crate::option;

/// What a ring is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Chunks whose frames have left. The kernel writes.
    Completion,
    /// Chunks for frames to come. We write.
    Fill,
    /// Frames that came. The kernel writes.
    Receive,
    /// Frames to send. We write.
    Send,
}

/// One ring, seen from our side: either we write or we take.
pub(super) struct Ring<T> {
    mapping: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    mask: u32,
    /// How many entries we have written or taken.
    own: u32,
    of: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    /// `entries` must be a power of two.
    pub(super) fn new(socket: &OwnedFd, kind: Kind, entries: u32) -> Result<Self> {
        let named = |cause| Error::new(format!("make the ring {kind:?}"), cause);
        let (name, offset) = kind.option();
        option::set(socket, (libc::SOL_XDP, name), entries).map_err(named)?;
        let all = offsets(socket).map_err(named)?;
        let places = match kind {
            Kind::Completion => all.cr,
            Kind::Fill => all.fr,
            Kind::Receive => all.rx,
            Kind::Send => all.tx,
        };
        let first = index(places.desc);
        let length = first + entries as usize * size_of::<T>();
        Ok(Self {
            mapping: Mapping::of_socket(socket, length, offset)?,
            producer: index(places.producer),
            consumer: index(places.consumer),
            entries: first,
            mask: entries - 1,
            own: 0,
            of: PhantomData,
        })
    }

    /// Writes an entry, which the kernel sees with the next [`publish`](Self::publish). There are
    /// never more chunks in a ring than it has entries, so there is room.
    #[inline]
    pub(super) fn put(&mut self, entry: T) {
        let place = self.entry(self.own);
        // SAFETY: the place is inside the mapping and aligned; the kernel reads it only after
        // `publish`, and has taken what was there before, since no ring is ever overfull.
        unsafe { place.write(entry) };
        self.own = self.own.wrapping_add(1);
    }

    /// Lets the kernel see what was put.
    #[inline]
    pub(super) fn publish(&self) {
        self.word(self.producer).store(self.own, Release);
    }

    /// The next entry of the kernel, if there is one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        if !self.has_entry() {
            return None;
        }
        let place = self.entry(self.own);
        // SAFETY: the place is inside the mapping and aligned; the kernel wrote it before it moved
        // the producer (loaded by `has_entry`) and writes it again only after the consumer was moved.
        let entry = unsafe { place.read() };
        self.own = self.own.wrapping_add(1);
        self.word(self.consumer).store(self.own, Release);
        Some(entry)
    }

    /// True where the kernel has written an entry that was not taken.
    #[inline]
    pub(super) fn has_entry(&self) -> bool {
        self.word(self.producer).load(Acquire) != self.own
    }

    #[inline]
    fn entry(&self, number: u32) -> *mut T {
        let offset = self.entries + (number & self.mask) as usize * size_of::<T>();
        self.mapping.at(offset).cast::<T>()
    }

    /// One of the two positions.
    #[inline]
    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the word is mapped and aligned for as long as `self` lives, and both sides
        // access it atomically.
        unsafe { AtomicU32::from_ptr(self.mapping.at(offset).cast()) }
    }
}

impl Kind {
    /// The option that sets the size, and where the ring is mapped (`linux/if_xdp.h`).
    fn option(self) -> (libc::c_int, i64) {
        match self {
            Self::Completion => (libc::XDP_UMEM_COMPLETION_RING, 0x1_8000_0000),
            Self::Fill => (libc::XDP_UMEM_FILL_RING, 0x1_0000_0000),
            Self::Receive => (libc::XDP_RX_RING, 0),
            Self::Send => (libc::XDP_TX_RING, 0x8000_0000),
        }
    }
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    const NONE: libc::xdp_ring_offset =
        libc::xdp_ring_offset { producer: 0, consumer: 0, desc: 0, flags: 0 };
    let none = libc::xdp_mmap_offsets { rx: NONE, tx: NONE, fr: NONE, cr: NONE };
    option::get(socket, (libc::SOL_XDP, libc::XDP_MMAP_OFFSETS), none)
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
