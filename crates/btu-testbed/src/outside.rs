//! The way from the far end of a link to the network of the caller, end to end for TCP and UDP.

use std::io;
use std::net::Ipv4Addr;

use btu_sys::namespace::NamespaceError;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::nftables::Masquerade;
use btu_sys::sysctl;

use crate::around::Around;

/// A veth pair from the far end to the host, and a masquerade at both. Device, addresses and rules
/// go with this value and with the process; no setting of the host is changed.
#[derive(Debug)]
pub struct Outside {
    _at_far_end: Masquerade,
    _at_host: Masquerade,
}

/// Why the far end cannot be joined to the host's network.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// The host does not forward packets, and changing that would outlive us.
    #[error("the host does not forward packets (net.ipv4.ip_forward is 0)")]
    NotForwarding,
    /// All addresses are taken by other links.
    #[error("{MOST} links are joined to this host already")]
    Full,
    /// A namespace was refused.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A device, an address, a route or a rule was refused.
    #[error("join the far end to the host")]
    Join(#[from] btu_sys::Error),
}

/// One of the pairs of addresses beside the link's own.
#[derive(Clone, Copy, Debug)]
struct Pair {
    network: Ipv4Addr,
    number: u8,
}

impl Outside {
    /// Joins the far end of `around` to the network namespace of the calling thread.
    pub fn join(around: &Around) -> Result<Self, OutsideError> {
        let host = NetNs::current()?;
        let forwards = host.inside(|| sysctl::read("net.ipv4.ip_forward"))??;
        if forwards == "0" {
            return Err(OutsideError::NotForwarding);
        }
        let pair = add_devices(around, &host)?;
        settle(&host, &pair.host_device(), pair.host(), pair, None)?;
        settle(around.far(), FAR_DEVICE, pair.far(), pair, Some(pair.host()))?;
        Ok(Self {
            _at_far_end: Masquerade::install(around.far(), None)?,
            _at_host: Masquerade::install(&host, Some(pair.far()))?,
        })
    }
}

impl Pair {
    fn of(around: &Around, number: u8) -> Self {
        let link = around.depth().far().octets();
        Self { network: Ipv4Addr::new(link[0], link[1], link[2], 4 * number), number }
    }

    fn address(self, place: u8) -> Ipv4Addr {
        let [a, b, c, d] = self.network.octets();
        Ipv4Addr::new(a, b, c, d + place)
    }

    fn host(self) -> Ipv4Addr {
        self.address(1)
    }

    fn far(self) -> Ipv4Addr {
        self.address(2)
    }

    fn host_device(self) -> String {
        format!("btu-nat{}", self.number)
    }
}

/// The first pair whose device nobody has on this host.
fn add_devices(around: &Around, host: &NetNs) -> Result<Pair, OutsideError> {
    let mut netlink = Netlink::open(around.far())?;
    for pair in (1..=MOST).map(|number| Pair::of(around, number)) {
        let mac = |end: u8| Mac([0x02, b'b', b'n', b'a', pair.number, end]);
        let name = pair.host_device();
        let far = VethEnd { namespace: around.far(), name: FAR_DEVICE, mac: mac(2), mtu: MTU };
        let near = VethEnd { namespace: host, name: &name, mac: mac(1), mtu: MTU };
        match netlink.add_veth(&far, &near) {
            Ok(()) => return Ok(pair),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    Err(OutsideError::Full)
}

/// Brings one end up, with its address, the route to the other end, and the default route.
fn settle(
    namespace: &NetNs,
    device: &str,
    own: Ipv4Addr,
    pair: Pair,
    gateway: Option<Ipv4Addr>,
) -> btu_sys::Result<()> {
    let mut netlink = Netlink::open(namespace)?;
    let link = netlink.link(device)?.index;
    netlink.set_up(link)?;
    netlink.add_address(link, own.into(), 30)?;
    let route = Route {
        destination: Prefix { address: pair.network.into(), length: 30 },
        link,
        gateway: None,
        source: Some(own.into()),
        congestion: None,
        kind: RouteKind::Unicast,
    };
    netlink.set_route(&route)?;
    let Some(gateway) = gateway else { return Ok(()) };
    let destination = Prefix { address: Ipv4Addr::UNSPECIFIED.into(), length: 0 };
    netlink.set_route(&Route { destination, gateway: Some(gateway.into()), ..route })
}

/// Networks of four addresses beside the link's own.
const MOST: u8 = 62;
const FAR_DEVICE: &str = "outside";
const MTU: u32 = 1500;
