//! The headers of every frame that passes a link, both ways: a listener that is in nobody's way.
//!
//! The kernel copies the first bytes of each frame into a ring and the frame goes on; nothing waits
//! for the reader, and what finds the ring full is counted.

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;

use super::Geometry;
use super::Head;
use super::Ring;
use super::filter;
use crate::Error;
use crate::Result;
use crate::link_layer;
use crate::link_layer::EVERY_TYPE;

/// A listener on one link.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    ring: Ring,
}

impl Tap {
    /// Listens on `link` (an interface index of the calling thread's namespace) from now on.
    pub fn open(link: u32) -> Result<Self> {
        let tap = Self::unbound()?;
        tap.bind(link)?;
        Ok(tap)
    }

    /// A listener that hears nothing yet, for whoever may open one now and not later.
    pub fn closed() -> Result<Self> {
        let tap = Self::unbound()?;
        tap.close().map(|()| tap)
    }

    /// From now on hears what passes `link` from and to `host`, and what passed before is forgotten.
    /// Frames of all other hosts do not reach this process.
    pub fn listen(&mut self, link: u32, host: IpAddr) -> Result<()> {
        self.close()?;
        self.bind(link)?;
        while self.next_head().is_some() {}
        self.lost()?;
        filter::attach(&self.socket, filter::of_host(host))
            .map_err(|cause| Error::new(format!("filter of a listener for {host}"), cause))
    }

    /// From now on hears nothing more.
    pub fn close(&self) -> Result<()> {
        let closed = filter::attach(&self.socket, filter::nothing());
        closed.map_err(|cause| Error::new("closing of a listener", cause))
    }

    /// The next frame, if one has passed. Its place is given back at the next call.
    pub fn next_head(&mut self) -> Option<Head<'_>> {
        self.ring.receive_head()
    }

    /// Frames that found the ring full since the previous call.
    pub fn lost(&mut self) -> Result<u64> {
        let read = super::read_statistics(&self.socket);
        let read = read.map_err(|cause| Error::new("read the losses of a listener", cause))?;
        Ok(u64::from(read.tp_drops))
    }

    fn unbound() -> Result<Self> {
        let what = |step: &str| format!("{step} of a listener");
        let socket = link_layer::open().map_err(|cause| Error::new(what("creation"), cause))?;
        let ring = Ring::new(&socket, HEADERS).map_err(|cause| Error::new(what("ring"), cause))?;
        Ok(Self { socket, ring })
    }

    fn bind(&self, link: u32) -> Result<()> {
        link_layer::bind(&self.socket, link, EVERY_TYPE)
            .map_err(|cause| Error::new(format!("binding of a listener to link {link}"), cause))
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// 65,536 places that keep 190 bytes of a frame each: Ethernet, IPv6 and TCP with every option.
const HEADERS: Geometry = Geometry { place: 256, blocks: 16 };
