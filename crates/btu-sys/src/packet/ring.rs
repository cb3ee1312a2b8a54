//! A `TPACKET_V2` ring, mapped once: the receive form of ordinary users, and of whoever only listens.
//!
//! The kernel copies each frame into a place of fixed size and marks the place as ours; we mark it
//! as the kernel's again. Blocks are of 1 MiB, because the kernel rounds every block up to a power
//! of two.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use nix::sys::mman::MapFlags;
use nix::sys::mman::ProtFlags;

use super::Head;
use super::Losses;
use super::Received;
use super::VNET_HDR_LEN;
use super::tag;
use super::tag::TAG_LEN;
use super::tag::Tag;
use crate::link_layer;
use crate::option;

/// The mapped ring and our place in it.
#[derive(Debug)]
pub(super) struct Ring {
    mapping: NonNull<libc::c_void>,
    length: NonZeroUsize,
    place: usize,
    places: usize,
    next: usize,
    /// True while the previous frame is lent out.
    lent: bool,
    losses: Losses,
}

/// Size of a place, a multiple of 16, and how many blocks of places there should be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) place: usize,
    pub(super) blocks: usize,
}

impl Geometry {
    /// Whole frames: 1035 places for super-packets of 64 KiB with all headers, 69 MiB.
    pub(super) const WHOLE: Self = Self { place: 69_632, blocks: 69 };
}

impl Ring {
    /// A ring of these places, or of as many as the kernel has memory for.
    pub(super) fn new(
        socket: &OwnedFd,
        Geometry { place, mut blocks }: Geometry,
    ) -> io::Result<Self> {
        let version = i32::try_from(libc::tpacket_versions::TPACKET_V2 as u32).unwrap_or(1);
        link_layer::set(socket, libc::PACKET_VERSION, version)?;
        let fewest = blocks.div_ceil(4);
        while let Err(cause) = request(socket, place, blocks) {
            blocks /= 2;
            if blocks < fewest || cause.raw_os_error() != Some(libc::ENOMEM) {
                return Err(cause);
            }
        }
        let length = NonZeroUsize::new(blocks * BLOCK).ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing of ours.
        let mapping =
            unsafe { nix::sys::mman::mmap(None, length, access, MapFlags::MAP_SHARED, socket, 0) }?;
        let places = blocks * per_block(place);
        let losses = Losses::default();
        Ok(Self { mapping, length, place, places, next: 0, lent: false, losses })
    }

    /// The next frame that is whole.
    pub(super) fn receive(&mut self) -> Option<Received<'_>> {
        loop {
            if !self.advance() {
                return None;
            }
            if self.header().tp_snaplen == self.header().tp_len {
                return Some(self.frame());
            }
            self.losses.truncated += 1;
        }
    }

    /// The next frame, as much of it as its place holds.
    pub(super) fn receive_head(&mut self) -> Option<Head<'_>> {
        if !self.advance() {
            return None;
        }
        let header = self.header();
        let (start, kept) = (usize::from(header.tp_mac), index(header.tp_snaplen));
        Some(Head {
            bytes: self.place().get(start..start.saturating_add(kept)).unwrap_or_default(),
            length: index(header.tp_len),
            stamp_ns: stamp(&header),
            is_outgoing: self.place().get(PACKET_TYPE) == Some(&libc::PACKET_OUTGOING),
        })
    }

    /// Gives the previous place back and takes the next; false where the kernel has not filled it.
    fn advance(&mut self) -> bool {
        self.give_back();
        let filled = self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0;
        self.lent = filled;
        filled
    }

    pub(super) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    pub(super) fn bytes(&self) -> usize {
        self.length.get()
    }

    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// Ends the loan of the previous frame.
    fn give_back(&mut self) {
        if std::mem::take(&mut self.lent) {
            self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.places;
        }
    }

    /// The frame at the current place, which is ours until its status says otherwise.
    fn frame(&mut self) -> Received<'_> {
        let header = self.header();
        let tag = Tag::of(header.tp_status, header.tp_vlan_tci, header.tp_vlan_tpid);
        let start = usize::from(header.tp_mac);
        let end = start.saturating_add(index(header.tp_snaplen));
        let place = self.place_mut();
        let vnet = place.get(start - VNET_HDR_LEN..start).and_then(|bytes| bytes.try_into().ok());
        let mut vnet = vnet.unwrap_or_default();
        // The tag may take the place of the header that was read just now.
        let space = place.get_mut(start - TAG_LEN..end).unwrap_or_default();
        let frame = tag::restored(tag, &mut vnet, space);
        Received { vnet, frame, stamp_ns: stamp(&header) }
    }

    fn address(&self) -> *mut libc::c_void {
        let per_block = per_block(self.place);
        let block = self.next / per_block * BLOCK;
        let within = self.next % per_block * self.place;
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
        unsafe { std::slice::from_raw_parts(self.address().cast(), self.place) }
    }

    fn place_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; the kernel neither reads nor writes it while it is ours, and no other
        // borrow of it lives, since this one is of all of `self`.
        unsafe { std::slice::from_raw_parts_mut(self.address().cast(), self.place) }
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

fn request(socket: &OwnedFd, place: usize, blocks: usize) -> io::Result<()> {
    let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let wanted = libc::tpacket_req {
        tp_block_size: small(BLOCK),
        tp_block_nr: small(blocks),
        tp_frame_size: small(place),
        tp_frame_nr: small(blocks * per_block(place)),
    };
    option::set(socket, (libc::SOL_PACKET, libc::PACKET_RX_RING), wanted)
}

fn stamp(header: &libc::tpacket2_hdr) -> u64 {
    u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec)
}

fn per_block(place: usize) -> usize {
    BLOCK / place
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

const BLOCK: usize = 1 << 20;
/// `sll_pkttype` of the address that follows the header of a place (`linux/if_packet.h`).
const PACKET_TYPE: usize = 32 + std::mem::offset_of!(libc::sockaddr_ll, sll_pkttype);
