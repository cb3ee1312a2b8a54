//! The receive form of ordinary users: a `TPACKET_V2` ring, mapped once.
//!
//! The kernel copies each frame into a place of fixed size and marks the place as ours; we mark it
//! as the kernel's again. Blocks of 1 MiB hold fifteen places each, because the kernel rounds every
//! block up to a power of two.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;

use super::Losses;
use super::Received;
use super::VNET_HDR_LEN;

/// The mapped ring and our place in it.
#[derive(Debug)]
pub(super) struct Ring {
    mapping: NonNull<libc::c_void>,
    length: NonZeroUsize,
    places: usize,
    next: usize,
    /// True while the previous frame is lent out.
    lent: bool,
    losses: Losses,
}

impl Ring {
    /// A ring of at least 1024 places, or of as many as the kernel has memory for.
    pub(super) fn new(socket: &OwnedFd) -> io::Result<Self> {
        let version = i32::try_from(libc::tpacket_versions::TPACKET_V2 as u32).unwrap_or(1);
        super::set_packet_option(socket, libc::PACKET_VERSION, &version)?;
        let mut blocks = BLOCKS;
        while let Err(cause) = request(socket, blocks) {
            blocks /= 2;
            if blocks < FEWEST_BLOCKS || cause.raw_os_error() != Some(libc::ENOMEM) {
                return Err(cause);
            }
        }
        let length = NonZeroUsize::new(blocks * BLOCK).ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let mapping =
            unsafe { nix::sys::mman::mmap(None, length, access, MapFlags::MAP_SHARED, socket, 0) }?;
        let places = blocks * PLACES_PER_BLOCK;
        Ok(Self { mapping, length, places, next: 0, lent: false, losses: Losses::default() })
    }

    pub(super) fn receive(&mut self) -> Option<Received<'_>> {
        loop {
            self.give_back();
            let status = self.status().load(Ordering::Acquire);
            if status & libc::TP_STATUS_USER == 0 {
                return None;
            }
            self.lent = true;
            if self.header().tp_snaplen == self.header().tp_len {
                return Some(self.frame());
            }
            self.losses.truncated += 1;
        }
    }

    pub(super) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    pub(super) fn bytes(&self) -> usize {
        self.length.get()
    }

    /// Ends the loan of the previous frame.
    fn give_back(&mut self) {
        if std::mem::take(&mut self.lent) {
            self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.places;
        }
    }

    /// The frame at the current place, which is ours until its status says otherwise.
    fn frame(&self) -> Received<'_> {
        let header = self.header();
        let start = usize::from(header.tp_mac);
        let length = usize::try_from(header.tp_snaplen).unwrap_or(usize::MAX);
        let place = self.place();
        let vnet = place.get(start - VNET_HDR_LEN..start).and_then(|bytes| bytes.try_into().ok());
        let frame = place.get(start..start.saturating_add(length)).unwrap_or_default();
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Received { vnet: vnet.unwrap_or_default(), frame, stamp_ns }
    }

    fn address(&self) -> *mut libc::c_void {
        let block = self.next / PLACES_PER_BLOCK * BLOCK;
        let within = self.next % PLACES_PER_BLOCK * PLACE;
        self.mapping.as_ptr().wrapping_byte_add(block + within)
    }

    /// The first word of a place says whose it is.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: the word is mapped and aligned for as long as `self` lives, and both sides
        // access it atomically.
        unsafe { AtomicU32::from_ptr(self.address().cast()) }
    }

    fn header(&self) -> libc::tpacket2_hdr {
        // SAFETY: the place starts with this structure, is aligned to 16 bytes, and is ours: the
        // kernel does not write to it while its status says "user".
        unsafe { self.address().cast::<libc::tpacket2_hdr>().read() }
    }

    fn place(&self) -> &[u8] {
        // SAFETY: the whole place is mapped; the kernel does not write to it while it is ours,
        // and it stays ours for the borrow, since giving it back needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.address().cast(), PLACE) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; no borrow of it outlives `self`.
        let _ = unsafe { nix::sys::mman::munmap(self.mapping, self.length.get()) };
    }
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Ring {}

fn request(socket: &OwnedFd, blocks: usize) -> io::Result<()> {
    let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let wanted = libc::tpacket_req {
        tp_block_size: small(BLOCK),
        tp_block_nr: small(blocks),
        tp_frame_size: small(PLACE),
        tp_frame_nr: small(blocks * PLACES_PER_BLOCK),
    };
    super::set_packet_option(socket, libc::PACKET_RX_RING, &wanted)
}

/// A super-packet of 64 KiB with all headers; a multiple of the page and of 16.
const PLACE: usize = 69_632;
const BLOCK: usize = 1 << 20;
const PLACES_PER_BLOCK: usize = BLOCK / PLACE;
/// 1035 places, 69 MiB.
const BLOCKS: usize = 69;
const FEWEST_BLOCKS: usize = 17;
