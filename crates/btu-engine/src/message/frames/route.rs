//! The way of frames from one rank to another: through which device, to whom.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use btu_core::app::frames::Addresses;
use btu_core::app::frames::Header;
use btu_sys::errno::ENOBUFS;
use btu_sys::frame::FrameSocket;
use btu_sys::frame::OwnLink;
use btu_sys::netlink::Mac;
use btu_sys::socket;

/// A device of one host, to send by.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) link: OwnLink,
    socket: Arc<FrameSocket>,
}

/// The way to one rank.
#[derive(Debug)]
pub(super) struct Route {
    socket: Arc<FrameSocket>,
    ethernet: [u8; ETHERNET],
    addresses: Addresses,
}

impl Device {
    /// The device of this link, in the network of the calling thread. It hears nothing.
    pub(super) fn open(link: OwnLink) -> Result<Self, btu_sys::Error> {
        let socket = FrameSocket::open(link.index, HEARS_NOTHING, SMALLEST)?;
        Ok(Self { link, socket: Arc::new(socket) })
    }
}

impl Route {
    /// Through this device to whom has the hardware address there.
    pub(super) fn new(device: &Device, to: Mac, addresses: Addresses) -> Self {
        let mut ethernet = [0; ETHERNET];
        ethernet[..6].copy_from_slice(&to.0);
        ethernet[6..12].copy_from_slice(&device.link.mac.0);
        ethernet[12..].copy_from_slice(&ETHER_TYPE.to_be_bytes());
        Self { socket: Arc::clone(&device.socket), ethernet, addresses }
    }

    /// Sends one frame. It waits for those before it to leave the socket; one that the device has no room for is lost.
    #[inline]
    pub(super) fn send(&self, header: &Header, payload: &[u8]) -> io::Result<()> {
        let mut top = [0; ETHERNET + Header::BYTES];
        top[..ETHERNET].copy_from_slice(&self.ethernet);
        top[ETHERNET..].copy_from_slice(&header.encode(self.addresses));
        let mut padded = [0; LEAST - ETHERNET - Header::BYTES];
        let payload = match padded.get_mut(..payload.len()) {
            Some(start) => {
                start.copy_from_slice(payload);
                &padded[..]
            }
            None => payload,
        };
        match socket::send_both(self.socket.as_fd(), &top, payload) {
            Err(cause) if cause.raw_os_error() == Some(ENOBUFS) => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

/// The first of the two `EtherType`s that IEEE 802 leaves to local experiments.
pub(super) const ETHER_TYPE: u16 = 0x88b5;
/// Of the Ethernet header.
pub(super) const ETHERNET: usize = 14;
/// The shortest frame without its check sequence.
const LEAST: usize = 60;
const HEARS_NOTHING: u16 = 0;
const SMALLEST: usize = 4096;
