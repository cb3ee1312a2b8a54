//! Raw Ethernet frames: user-level networking without any protocol of the kernel (`AF_PACKET`).

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::nature::Nature;
use btu_core::units::Bytes;
use btu_sys::errno::ENOBUFS;
use btu_sys::exchange;
use btu_sys::exchange::Call;
use btu_sys::exchange::Framing;
use btu_sys::exchange::Ready;
use btu_sys::frame::FrameSocket;
use btu_sys::frame::OwnLink;

use super::Hookup;
use super::Listener;
use super::Properties;
use super::Reach;
use super::Rendezvous;
use super::Transport;
use super::frames;
use super::frames::Wire;
use super::socket;
use crate::error::EngineError;
use crate::pingpong::channel::End;

/// The transport `raw`.
#[derive(Debug)]
pub(super) struct Raw;

/// A packet socket with the memory for one frame in each direction.
struct PacketWire {
    socket: FrameSocket,
    out: Vec<u8>,
    space: Vec<u8>,
}

impl Transport for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn about(&self) -> &'static str {
        "Ethernet frames of an own EtherType (AF_PACKET), cut at the MTU"
    }

    fn properties(&self) -> Properties {
        let waits = &[Wait::Block, Wait::Spin];
        Properties { reliable: true, bounded: false, reach: Reach::Link, waits }
    }

    fn nature(&self, _: &Configuration) -> Nature {
        frames::nature()
    }

    fn largest(&self) -> Bytes {
        Bytes::new(socket::LARGEST_STREAM)
    }

    /// Needs `CAP_NET_RAW` over the network; a user has it in a namespace of his own.
    fn available(&self) -> Result<(), EngineError> {
        FrameSocket::open(0, 0, 4096)?;
        Ok(())
    }

    fn listen(&self, hookup: &Hookup<'_>) -> Result<Box<dyn Listener>, EngineError> {
        frames::listen::<PacketWire>(hookup)
    }

    fn connect(&self, at: &Rendezvous, hookup: &Hookup<'_>) -> Result<Box<dyn End>, EngineError> {
        frames::connect::<PacketWire>(at, hookup)
    }
}

impl Wire for PacketWire {
    const FOR_A_VISIT: bool = false;

    // The loopback would take 64 KiB: a frame here is what a cable carries.
    const LONGEST: usize = 9014;

    fn open(link: OwnLink, ether_type: u16) -> Result<Self, btu_sys::Error> {
        let socket = FrameSocket::open(link.index, ether_type, RECEIVE_BUFFER)?;
        socket.bound_waits(GLANCE)?;
        Ok(Self { socket, out: vec![0; Self::LONGEST], space: vec![0; Self::LONGEST] })
    }

    /// The kernel counts more than the bytes of a frame.
    fn window(&self, longest: usize) -> u32 {
        let cost = longest.next_power_of_two() + 1024;
        let fit = self.socket.buffer_bytes() / 2 / cost;
        u32::try_from(fit).unwrap_or(u32::MAX).clamp(8, 1024)
    }

    #[inline]
    fn push(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let frame = self.out.get_mut(..length).ok_or(io::ErrorKind::InvalidInput)?;
        write(frame);
        match exchange::send(self.socket.as_fd(), frame, Call::AtOnce) {
            Err(cause) if cause.raw_os_error() == Some(ENOBUFS) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            outcome => outcome.map(drop),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn next(&mut self, wait: Wait) -> io::Result<&[u8]> {
        let call = if wait == Wait::Spin { Call::AtOnce } else { Call::Sleeping };
        let socket = self.socket.as_fd();
        let length = exchange::recv(socket, &mut self.space, call, Framing::Message)?;
        Ok(self.space.get(..length).unwrap_or_default())
    }

    fn rest(&self) -> io::Result<()> {
        exchange::poll(self.socket.as_fd(), Ready::Read, Some(Duration::from_millis(1))).map(drop)
    }
}

const RECEIVE_BUFFER: usize = 8 << 20;

/// How long a sleeping end takes to see that its connection was ended.
const GLANCE: Duration = Duration::from_millis(100);
