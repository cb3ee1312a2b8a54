//! Frames of one `EtherType` on one link, as they are: no protocol above the Ethernet header.
//!
//! The kernel takes a VLAN tag out and hands the frame over without it, which changes nothing here: we
//! send none.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::socket::SockaddrStorage;
use socket2::SockRef;

use crate::addresses::ip_of;
use crate::device::Devices;
use crate::error::Error;
use crate::error::Result;
use crate::link_layer;
use crate::netlink::Mac;
use crate::option;

/// A socket that receives the frames of one `EtherType` and sends whole frames.
#[derive(Debug)]
pub struct FrameSocket {
    socket: OwnedFd,
}

/// The link that carries an address of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLink {
    /// The number by which other calls name it.
    pub index: u32,
    /// Its hardware address; zero for the loopback.
    pub mac: Mac,
    /// Its largest packet, without the Ethernet header.
    pub mtu: u32,
}

impl FrameSocket {
    /// Opens a socket on the link of this index. Asks for a receive buffer of `buffer` bytes, beyond
    /// the system's limit where it may.
    pub fn open(link: u32, ether_type: u16, buffer: usize) -> Result<Self> {
        let what = |step: &str| format!("{step} of a frame socket on link {link}");
        let socket = link_layer::open().map_err(|cause| Error::new(what("creation"), cause))?;
        for (name, option) in [
            ("PACKET_IGNORE_OUTGOING", libc::PACKET_IGNORE_OUTGOING),
            ("PACKET_QDISC_BYPASS", libc::PACKET_QDISC_BYPASS),
        ] {
            link_layer::set(&socket, option, 1).map_err(|cause| Error::new(what(name), cause))?;
        }
        let size = i32::try_from(buffer).unwrap_or(i32::MAX);
        if option::set(&socket, (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE), size).is_err() {
            let asked = SockRef::from(&socket).set_recv_buffer_size(buffer);
            asked.map_err(|cause| Error::new(what("receive buffer"), cause))?;
        }
        link_layer::bind(&socket, link, ether_type)
            .map_err(|cause| Error::new(what("binding"), cause))?;
        Ok(Self { socket })
    }

    /// The receive buffer that was granted, as the kernel counts it.
    pub fn buffer_bytes(&self) -> usize {
        SockRef::from(&self.socket).recv_buffer_size().unwrap_or(0)
    }

    /// Lets a sleeping receive give up with `WouldBlock` after this time.
    pub fn bound_waits(&self, longest: Duration) -> Result<()> {
        crate::socket::bound_waits(&self.socket, longest)
    }
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The link of this namespace that has the address.
pub fn link_with(address: IpAddr) -> Result<OwnLink> {
    let what = || format!("find the link with the address {address}");
    let found = nix::ifaddrs::getifaddrs().map_err(|cause| Error::new(what(), cause))?;
    let all: Vec<_> = found.collect();
    let owns = |known: &Option<SockaddrStorage>| known.as_ref().and_then(ip_of) == Some(address);
    let link = all.iter().find(|entry| owns(&entry.address)).and_then(|owner| {
        let packet = |entry: &&nix::ifaddrs::InterfaceAddress| {
            entry.interface_name == owner.interface_name
                && entry.address.as_ref().is_some_and(|at| at.as_link_addr().is_some())
        };
        let entry = all.iter().find(packet)?;
        let at = entry.address.as_ref()?.as_link_addr()?;
        let index = u32::try_from(at.ifindex()).ok()?;
        Some((entry.interface_name.clone(), index, Mac(at.addr().unwrap_or_default())))
    });
    let nobody = || Error::new(what(), io::ErrorKind::AddrNotAvailable);
    let (name, index, mac) = link.ok_or_else(nobody)?;
    let mtu = Devices::here().and_then(|devices| devices.mtu(&name));
    let mtu = mtu.map_err(|cause| Error::new(format!("read the MTU of {name}"), cause))?;
    Ok(OwnLink { index, mac, mtu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_found_by_its_address() {
        let link = link_with(IpAddr::from([127, 0, 0, 1])).unwrap();
        assert_eq!((link.index, link.mac), (1, Mac([0; 6])));
        assert!(link.mtu >= 16_384);
        let fault = link_with(IpAddr::from([192, 0, 2, 77])).unwrap_err();
        assert_eq!(fault.to_string(), "find the link with the address 192.0.2.77");
    }
}
