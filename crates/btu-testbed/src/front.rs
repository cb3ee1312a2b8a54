//! A front: an emulated link in front of the sockets of a black box on a real network.
//!
//! The data sockets live in a namespace of their own, behind a veth pair, the emulator, and a
//! macvlan device on top of the host's own device. The front has an address of its own in that
//! network; everything else of the host goes past the emulator.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::link::ChainSpec;
use btu_core::sample::DirectionSample;
use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;

use crate::backend::BackendError;
use crate::backend::Emulator;
use crate::backend::LinkPorts;
use crate::backend::Order;
use crate::capture::Capture;
use crate::offload;
use crate::sysctls;

/// Where a front is.
#[derive(Clone, Debug)]
pub struct Site<'s> {
    /// The device that leads to the test host.
    pub device: &'s str,
    /// The front's own address in that network.
    pub address: IpAddr,
    /// Length of that network's prefix.
    pub prefix: u8,
}

/// Starts what emulates the link between these devices of a namespace.
pub type Starter<'s> = &'s dyn Fn(&NetNs, LinkPorts) -> Result<Box<dyn Emulator>, BackendError>;

/// A namespace behind an emulator. Gone when it is dropped, or when the process dies.
#[derive(Debug)]
pub struct Front {
    net: NetNs,
    emulator: Box<dyn Emulator>,
}

/// What kept a front from being made.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// The emulator did not start.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A device, an address or a route was refused.
    #[error("make a front on {device}")]
    Join {
        /// The host's device.
        device: String,
        /// Which request, and the kernel's answer.
        source: btu_sys::Error,
    },
    /// A namespace was refused.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl Front {
    /// Makes namespaces and devices and has the emulator started. Needs
    /// `btu_sys::namespace::is_privileged`.
    pub fn make(site: &Site<'_>, start: Starter<'_>) -> Result<Self, FrontError> {
        let refused = |source| FrontError::Join { device: site.device.to_owned(), source };
        let (net, wire) = (NetNs::create()?, NetNs::create()?);
        for place in [&net, &wire] {
            place.inside(|| sysctls::write_all(sysctls::QUIET))?.map_err(refused)?;
        }
        join(site, &net, &wire).map_err(refused)?;
        let emulator = start(&wire, ports())?;
        Ok(Self { net, emulator })
    }

    /// Moves the calling thread behind the emulator; what it starts from then on is there, too.
    pub fn enter(&self) -> Result<(), FrontError> {
        Ok(self.net.enter()?)
    }

    /// Gives the link its elements, away from the test host and towards it, and counts anew.
    pub fn impair(&self, up: ChainSpec, down: ChainSpec, seed: u64) -> Result<(), FrontError> {
        let order = Order { link: LINK.to_owned(), up, down };
        Ok(self.emulator.configure(&[order], seed)?)
    }

    /// Records the wire packets of the link from now on, up to `limit` in each direction.
    pub fn record(&self, limit: usize) -> Result<(), FrontError> {
        Ok(self.emulator.start_capture(limit)?)
    }

    /// Ends that, and hands over what was recorded.
    pub fn recorded(&self) -> Result<Capture, FrontError> {
        Ok(self.emulator.end_capture()?.into_iter().next().unwrap_or_default())
    }

    /// What the emulator did since then.
    pub fn samples(&self) -> Result<Vec<DirectionSample>, FrontError> {
        Ok(self.emulator.samples()?)
    }
}

/// The link between the network and the sockets, in the emulator's namespace.
pub fn ports() -> LinkPorts {
    LinkPorts { name: LINK.into(), near: OUTER.into(), far: INNER.into() }
}

/// `device` - macvlan - emulator - veth - the front's address.
fn join(site: &Site<'_>, net: &NetNs, wire: &NetNs) -> btu_sys::Result<()> {
    let mut host = Netlink::here()?;
    let device = host.link(site.device)?;
    // The address below makes the hardware address: two fronts of one network differ.
    let mac = own_mac(site.address);
    let end = |namespace, name, mac| VethEnd { namespace, name, mac, mtu: device.mtu };
    host.add_macvlan(&end(wire, OUTER, mac), device.index)?;
    let inner_mac = Mac([mac.0[0], b'w', mac.0[2], mac.0[3], mac.0[4], mac.0[5]]);
    host.add_veth(&end(wire, INNER, inner_mac), &end(net, DATA, mac))?;
    offload::restrain(net, DATA);
    let mut wired = Netlink::open(wire)?;
    for name in [OUTER, INNER] {
        let link = wired.link(name)?.index;
        set_up(&mut wired, link)?;
    }
    let mut front = Netlink::open(net)?;
    let loopback = front.link("lo")?.index;
    front.set_up(loopback)?;
    let link = front.link(DATA)?.index;
    front.set_up(link)?;
    front.add_address(link, site.address, site.prefix)?;
    front.set_route(&Route {
        destination: Prefix { address: network(site.address, site.prefix), length: site.prefix },
        link,
        gateway: None,
        source: Some(site.address),
        congestion: None,
        kind: RouteKind::Unicast,
    })
}

/// The devices of an agent that was just killed have the same hardware address until the kernel has taken
/// their namespace apart.
fn set_up(wired: &mut Netlink, link: u32) -> btu_sys::Result<()> {
    let until = Instant::now() + TAKEN_APART;
    loop {
        match wired.set_up(link) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                thread::sleep(A_MOMENT);
            }
            done => return done,
        }
    }
}

/// Locally administered, and as unique as the address.
fn own_mac(address: IpAddr) -> Mac {
    let octets = match address {
        IpAddr::V4(four) => four.octets(),
        IpAddr::V6(six) => six.octets()[12..].try_into().unwrap_or_default(),
    };
    let [a, b, c, d] = octets;
    Mac([0x02, b'b', a, b, c, d])
}

fn network(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(four) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4((u32::from(four) & mask).into())
        }
        IpAddr::V6(six) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6((u128::from(six) & mask).into())
        }
    }
}

/// The link's name, until the conductor gives it its own.
const LINK: &str = "front";
/// The emulator's end towards the network, its end towards the sockets, and the sockets' device.
const OUTER: &str = "outer";
const INNER: &str = "inner";
const DATA: &str = "data";
/// Long for that, on a host that is busy with ending other namespaces, too.
const TAKEN_APART: Duration = Duration::from_secs(5);
const A_MOMENT: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_its_address_without_the_host() {
        let of = |text: &str, prefix| network(text.parse().unwrap(), prefix).to_string();
        assert_eq!(of("10.0.4.200", 24), "10.0.4.0");
        assert_eq!(of("10.0.4.200", 32), "10.0.4.200");
        assert_eq!(of("10.0.4.200", 0), "0.0.0.0");
        assert_eq!(of("fd00::1:2", 64), "fd00::");
    }
}
