//! What each IP version has on a link: its networks, and the addresses of both ends.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;

use super::Depth;

/// The addresses of one IP version on one link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    near: IpAddr,
    far: IpAddr,
    /// Both ends.
    pub(super) network: Prefix,
    /// Both ends of every link that lies in or around this one.
    pub(super) all_levels: Prefix,
    /// What the near end sends to the far end. Never the same as `all_levels`, since a near end is
    /// the far end of the next link and holds both routes.
    pub(super) beyond: Prefix,
}

/// One end's view of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) own: IpAddr,
    pub(super) peer: IpAddr,
    pub(super) network: Prefix,
}

impl Family {
    /// IPv4 and, where the kernel has it, IPv6.
    pub(super) fn all(depth: Depth, ipv6: bool) -> Vec<Self> {
        let families = [Self::ipv4(depth), Self::ipv6(depth)];
        families.into_iter().take(if ipv6 { 2 } else { 1 }).collect()
    }

    fn ipv4(depth: Depth) -> Self {
        let network = Ipv4Addr::from(u32::from(depth.near()) & !0b11);
        Self {
            near: depth.near().into(),
            far: depth.far().into(),
            network: Prefix { address: network.into(), length: 30 },
            all_levels: Prefix { address: Ipv4Addr::new(198, 19, 192, 0).into(), length: 18 },
            beyond: Prefix { address: Ipv4Addr::UNSPECIFIED.into(), length: 0 },
        }
    }

    /// Without a route to everywhere: a far end that is joined to the outside is so by IPv4 alone,
    /// and programs fall back to IPv4 at once where there is no route.
    fn ipv6(depth: Depth) -> Self {
        let network = Ipv6Addr::from(u128::from(depth.near6()) & !0xffff);
        let range = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0);
        Self {
            near: depth.near6().into(),
            far: depth.far6().into(),
            network: Prefix { address: network.into(), length: 64 },
            all_levels: Prefix { address: range.into(), length: 48 },
            beyond: Prefix { address: range.into(), length: 32 },
        }
    }

    pub(super) const fn near_end(&self) -> End {
        End { own: self.near, peer: self.far, network: self.network }
    }

    pub(super) const fn far_end(&self) -> End {
        End { own: self.far, peer: self.near, network: self.network }
    }
}

impl End {
    /// The route to the other end.
    pub(super) const fn direct(self, link: u32) -> Route<'static> {
        Route {
            destination: self.network,
            link,
            gateway: None,
            source: Some(self.own),
            congestion: None,
            kind: RouteKind::Unicast,
        }
    }

    /// A route by way of the other end.
    pub(super) const fn route(self, link: u32, destination: Prefix) -> Route<'static> {
        Route { destination, gateway: Some(self.peer), ..self.direct(link) }
    }
}
