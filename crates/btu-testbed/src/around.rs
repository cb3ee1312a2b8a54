//! The namespaces of one link around a command: its near end, its far end, the emulator's between.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::VethEnd;

use crate::offload;
use crate::sysctls;

mod family;

use family::Family;

/// How deep a link lies inside others: 1 for the outermost.
///
/// Depth D has the addresses 198.19.(200 + D).0/30 of the benchmarking range (RFC 2544) and, where
/// the kernel has IPv6, `2001:2:0:D::/64` of the other one (RFC 5180): far 1, near 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth(u8);

/// Where the far end lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// In a namespace of its own, joined to nothing else.
    Alone,
    /// In the namespace of the caller, which is the near end of an enclosing link and will forward
    /// what comes for other depths.
    Here,
}

/// The namespaces and devices of one link. They go with the last descriptor, and the far end's device
/// in the namespace of an enclosing link when this is dropped.
#[derive(Debug)]
pub struct Around {
    depth: Depth,
    far_end: FarEnd,
    near: NetNs,
    wire: NetNs,
    far: NetNs,
    families: Vec<Family>,
}

/// What kept the namespaces of a link from being made.
#[derive(Debug, thiserror::Error)]
pub enum AroundError {
    /// A namespace was refused.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A device, an address, a route or a setting was refused.
    #[error("{end} end of the link")]
    End {
        /// `near`, `wire` or `far`.
        end: &'static str,
        /// Which request, and the kernel's answer.
        source: btu_sys::Error,
    },
    /// Another link of this depth has its far end in this namespace.
    #[error("depth {0} is taken: another link already starts in this namespace")]
    Taken(Depth),
}

impl Depth {
    /// The outermost link.
    pub const OUTERMOST: Self = Self(1);
    /// Addresses are left for this many.
    pub const DEEPEST: u8 = 55;

    /// Depth `number`; `None` where no addresses are left for it.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= Self::DEEPEST { Some(Self(number)) } else { None }
    }

    /// The depth inside this one; `None` below the deepest.
    pub const fn inner(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }

    /// Its number, from 1.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The address of the near end, where the command runs.
    pub const fn near(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 19, 200 + self.0, 2)
    }

    /// The address of the far end.
    pub const fn far(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 19, 200 + self.0, 1)
    }

    /// The near end's other address; [`Around::has_ipv6`] says whether it is there.
    pub const fn near6(self) -> Ipv6Addr {
        Ipv6Addr::new(0x2001, 2, 0, self.0 as u16, 0, 0, 0, 2)
    }

    /// The far end's other address.
    pub const fn far6(self) -> Ipv6Addr {
        Ipv6Addr::new(0x2001, 2, 0, self.0 as u16, 0, 0, 0, 1)
    }

    /// True where the calling thread's namespace is the near end of this depth.
    pub fn is_here(self) -> bool {
        UdpSocket::bind((self.near(), 0)).is_ok()
    }

    fn mac(self, end: u8) -> Mac {
        Mac([0x02, b'b', b't', b'u', self.0, end])
    }

    fn near_device(self) -> String {
        format!("btu{}", self.0)
    }

    fn far_device(self) -> String {
        format!("btu{}far", self.0)
    }
}

impl Around {
    /// Makes the namespaces, two veth pairs, addresses, routes and permanent neighbours.
    ///
    /// Needs `btu_sys::namespace::is_privileged`, or a user namespace entered before.
    pub fn create(depth: Depth, far: FarEnd, mtu: u32) -> Result<Self, AroundError> {
        let near = NetNs::create()?;
        let wire = NetNs::create()?;
        let far_ns = match far {
            FarEnd::Alone => NetNs::create()?,
            FarEnd::Here => NetNs::current()?,
        };
        let ipv6 = mtu >= LEAST_OF_IPV6 && near.inside(sysctls::has_ipv6)?;
        let families = Family::all(depth, ipv6);
        let around = Self { depth, far_end: far, near, wire, far: far_ns, families };
        around.set_rules(far)?;
        around.add_devices(mtu)?;
        around.address_near()?;
        around.address_far()?;
        if far == FarEnd::Here {
            around.keep_outer_levels()?;
        }
        Ok(around)
    }

    /// Its depth.
    pub const fn depth(&self) -> Depth {
        self.depth
    }

    /// Whether both ends have an IPv6 address: not on a kernel without IPv6, nor where packets of 1280 bytes are too large.
    pub const fn has_ipv6(&self) -> bool {
        self.families.len() > 1
    }

    /// Where the command runs.
    pub const fn near(&self) -> &NetNs {
        &self.near
    }

    /// Where the emulator runs: the devices [`NEAR_PORT`] and [`FAR_PORT`].
    pub const fn wire(&self) -> &NetNs {
        &self.wire
    }

    /// What the command reaches through the link.
    pub const fn far(&self) -> &NetNs {
        &self.far
    }

    /// Settings that must stand before a device exists. The far end forwards, so that a packet for
    /// an address that does not exist is answered (ICMP) instead of lost in silence.
    fn set_rules(&self, far: FarEnd) -> Result<(), AroundError> {
        inside(&self.wire, "wire", || sysctls::write_all(sysctls::QUIET))?;
        inside(&self.near, "near", || sysctls::write_all(sysctls::STILL))?;
        inside(&self.far, "far", || {
            if far == FarEnd::Alone {
                sysctls::write_all(sysctls::STILL)?;
            }
            sysctls::write_all(FORWARDING)
        })
    }

    fn add_devices(&self, mtu: u32) -> Result<(), AroundError> {
        let pairs = [
            ("near", &self.near, self.depth.near_device(), NEAR_PORT, 2),
            ("far", &self.far, self.depth.far_device(), FAR_PORT, 1),
        ];
        for (end, namespace, device, port, number) in pairs {
            let mut netlink = Netlink::open(&self.wire).map_err(at(end))?;
            let mac = self.depth.mac(number);
            let outer = VethEnd { namespace, name: &device, mac, mtu };
            let inner_mac = self.depth.mac(number + 0x10);
            let inner = VethEnd { namespace: &self.wire, name: port, mac: inner_mac, mtu };
            add_patiently(&mut netlink, &outer, &inner)
                .map_err(|cause| self.taken_or(end, cause))?;
            offload::restrain(namespace, &device);
            let link = netlink.link(port).map_err(at(end))?;
            netlink.set_up(link.index).map_err(at(end))?;
        }
        Ok(())
    }

    fn address_near(&self) -> Result<(), AroundError> {
        let configure = || -> btu_sys::Result<()> {
            let mut netlink = Netlink::open(&self.near)?;
            let link = up(&mut netlink, &self.depth.near_device())?;
            self.families.iter().try_for_each(|family| {
                self.address(&mut netlink, link, family.near_end(), 1)?;
                netlink.set_route(&family.near_end().route(link, family.beyond))
            })
        };
        configure().map_err(at("near"))
    }

    /// All depths lie in one network, so an outer far end reaches inner depths without NAT.
    fn address_far(&self) -> Result<(), AroundError> {
        let configure = || -> btu_sys::Result<()> {
            let mut netlink = Netlink::open(&self.far)?;
            let link = up(&mut netlink, &self.depth.far_device())?;
            self.families.iter().try_for_each(|family| {
                self.address(&mut netlink, link, family.far_end(), 2)?;
                netlink.set_route(&family.far_end().route(link, family.all_levels))
            })
        };
        configure().map_err(at("far"))
    }

    /// The route to all depths would lead the outer ones inwards, where the caller's namespace is
    /// the near end of the next one.
    fn keep_outer_levels(&self) -> Result<(), AroundError> {
        let configure = || -> btu_sys::Result<()> {
            let Some(next) = Depth::new(self.depth.0 - 1) else { return Ok(()) };
            let mut netlink = Netlink::open(&self.far)?;
            let link = netlink.link(&next.near_device())?;
            let ipv6 = self.has_ipv6() && link.mtu >= LEAST_OF_IPV6;
            for outer in (1..next.0).map(Depth) {
                let outwards = Family::all(next, ipv6);
                let networks = Family::all(outer, ipv6);
                for (way, to) in outwards.iter().zip(networks) {
                    netlink.set_route(&way.near_end().route(link.index, to.network))?;
                }
            }
            Ok(())
        };
        configure().map_err(at("far"))
    }

    /// Gives the device an address, the route to the other end, and its one neighbour.
    fn address(
        &self,
        netlink: &mut Netlink,
        link: u32,
        end: family::End,
        peer: u8,
    ) -> btu_sys::Result<()> {
        netlink.add_address(link, end.own, end.network.length)?;
        netlink.set_route(&end.direct(link))?;
        netlink.add_neighbour(link, end.peer, self.depth.mac(peer))
    }

    fn taken_or(&self, end: &'static str, source: btu_sys::Error) -> AroundError {
        let exists = source.kind() == io::ErrorKind::AlreadyExists;
        if exists { AroundError::Taken(self.depth) } else { AroundError::End { end, source } }
    }

    /// A veth pair goes with either end; this one is in a namespace that is ours alone.
    fn remove_far_device(&self) -> btu_sys::Result<()> {
        let mut netlink = Netlink::open(&self.wire)?;
        let link = netlink.link(FAR_PORT)?.index;
        netlink.remove(link)
    }
}

impl Drop for Around {
    /// The kernel takes a namespace away some time after its last descriptor (`cleanup_net` is a work queue), and
    /// until then its device keeps a name in the namespace around, where the next link wants it.
    fn drop(&mut self) {
        if self.far_end == FarEnd::Here {
            // Where this is refused, the kernel does it later and the next link waits.
            let _ = self.remove_far_device();
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Brings loopback and the device up; returns the device's index.
fn up(netlink: &mut Netlink, device: &str) -> btu_sys::Result<u32> {
    let loopback = netlink.link("lo")?;
    netlink.set_up(loopback.index)?;
    let link = netlink.link(device)?.index;
    netlink.set_up(link)?;
    Ok(link)
}

/// Adds a pair, and waits where a name is taken: what a killed link has left goes by itself.
fn add_patiently(
    netlink: &mut Netlink,
    outer: &VethEnd<'_>,
    inner: &VethEnd<'_>,
) -> btu_sys::Result<()> {
    let begin = Instant::now();
    loop {
        match netlink.add_veth(outer, inner) {
            Err(cause)
                if cause.kind() == io::ErrorKind::AlreadyExists
                    && begin.elapsed() < LEFTOVER_PATIENCE =>
            {
                thread::sleep(LEFTOVER_POLL);
            }
            result => return result,
        }
    }
}

fn inside(
    namespace: &NetNs,
    end: &'static str,
    work: impl FnOnce() -> btu_sys::Result<()> + Send,
) -> Result<(), AroundError> {
    namespace.inside(work)?.map_err(at(end))
}

fn at(end: &'static str) -> impl Fn(btu_sys::Error) -> AroundError {
    move |source| AroundError::End { end, source }
}

/// The emulator's device towards the near end.
pub const NEAR_PORT: &str = "near";
/// The emulator's device towards the far end.
pub const FAR_PORT: &str = "far";
/// How long the device of a link that was killed may stay; the kernel took up to some tenths of a second.
const LEFTOVER_PATIENCE: Duration = Duration::from_secs(2);
const LEFTOVER_POLL: Duration = Duration::from_millis(10);
/// Bytes from the IP header on that every device with an IPv6 address must take (RFC 8200, 5).
const LEAST_OF_IPV6: u32 = 1280;

const FORWARDING: &[sysctls::Setting] =
    &[("net.ipv4.ip_forward", "1"), ("net.ipv6.conf.all.forwarding", "1")];
