//! Raw Ethernet frames in memory that the kernel shares (`AF_XDP`), in copy mode.
//!
//! The program on the link looks at every packet that arrives there, and the queue belongs to one
//! socket: both stay for one visit only, so that the visits of others between two of ours are what
//! they were without.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use btu_core::pingpong::configuration::Wait;
use btu_core::units::Bytes;
use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::frame::OwnLink;
use btu_sys::frame::link_with;
use btu_sys::netlink::Mac;
use btu_sys::xdp;
use btu_sys::xdp::XdpSocket;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Rendezvous;
use super::Transport;
use super::frames;
use super::frames::Wire;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `xdp`.
#[derive(Debug)]
pub(super) struct Xdp;

/// A socket with its program.
struct XdpWire(XdpSocket);

impl Transport for Xdp {
    fn name(&self) -> &'static str {
        "xdp"
    }

    fn about(&self) -> &'static str {
        "Ethernet frames of an own EtherType in shared memory (AF_XDP, copy mode)"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, one_host: false, waits }
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    fn available(&self) -> Result<(), EngineError> {
        Ok(xdp::permitted()?)
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        refuse_loopback(hookup)?;
        frames::listen::<XdpWire>(hookup)
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        refuse_loopback(hookup)?;
        frames::connect::<XdpWire>(at, hookup)
    }
}

/// Both ends would need its one queue.
fn refuse_loopback(hookup: &Hookup<'_>) -> Result<(), EngineError> {
    if link_with(hookup.party.address)?.mac != Mac([0; 6]) {
        return Ok(());
    }
    let reason = "xdp: the loopback has one queue for both ends: use two hosts, \
                  or the namespaces of the local testbed";
    Err(EngineError::Refused(reason.to_owned()))
}

impl Wire for XdpWire {
    const FOR_A_VISIT: bool = true;
    const LONGEST: usize = xdp::LONGEST_FRAME;

    fn open(link: OwnLink, ether_type: u16) -> Result<Self, btu_sys::Error> {
        XdpSocket::open(link.index, ether_type).map(Self)
    }

    /// Half of what may wait, since credits and greetings need places as well.
    fn window(&self, _: usize) -> u32 {
        xdp::WAITING_FRAMES / 2
    }

    #[inline]
    fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.0.push(length, write)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    #[inline]
    fn next(&mut self, wait: Wait) -> io::Result<&[u8]> {
        if wait != Wait::Spin && !self.0.has_frame() {
            exchange::poll(self.0.as_fd(), Ready::Read, Some(GLANCE))?;
        }
        self.0.receive().ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    fn rest(&self) -> io::Result<()> {
        exchange::poll(self.0.as_fd(), Ready::Read, Some(Duration::from_millis(1))).map(drop)
    }
}

/// How long a sleeping end takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);
