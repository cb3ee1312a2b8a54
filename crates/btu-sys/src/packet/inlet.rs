//! Frames of one `EtherType` for one receiver, in a ring that the kernel fills: no call for each of them.

use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;

use super::Geometry;
use super::Ring;
use super::filter;
use crate::Error;
use crate::Result;
use crate::link_layer;

/// A receiver on every link of its network.
#[derive(Debug)]
pub struct Inlet {
    socket: OwnedFd,
    ring: Ring,
}

impl Inlet {
    /// Receives the frames of this type whose payload begins with `word`, the highest byte first; what this network
    /// sends is not among them. All others take no place in the ring.
    pub fn open(ether_type: u16, word: u32) -> Result<Self> {
        let what = |step: &str| format!("{step} of a ring for frames of type {ether_type:#06x}");
        let socket = link_layer::open().map_err(|cause| Error::new(what("creation"), cause))?;
        link_layer::set(&socket, libc::PACKET_IGNORE_OUTGOING, 1)
            .map_err(|cause| Error::new(what("PACKET_IGNORE_OUTGOING"), cause))?;
        let ring = Ring::new(&socket, SMALL).map_err(|cause| Error::new(what("memory"), cause))?;
        filter::attach(&socket, filter::beginning_with(word))
            .map_err(|cause| Error::new(what("filter"), cause))?;
        link_layer::bind(&socket, EVERY_LINK, ether_type)
            .map_err(|cause| Error::new(what("binding"), cause))?;
        Ok(Self { socket, ring })
    }

    /// The next frame, if one came, from its Ethernet header on. Its place is given back at the next call.
    #[inline]
    pub fn next_frame(&mut self) -> Option<&[u8]> {
        self.ring.receive_head().map(|head| head.bytes)
    }

    /// How many frames may wait for their reader.
    pub fn places(&self) -> usize {
        self.ring.places()
    }
}

impl AsFd for Inlet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// 2048 places for frames of an Ethernet, 4 MiB.
const SMALL: Geometry = Geometry { place: 2048, blocks: 4 };
const EVERY_LINK: u32 = 0;
