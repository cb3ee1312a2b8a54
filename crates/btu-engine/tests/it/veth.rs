//! Two hosts with nothing between them but a veth pair: network namespaces that go with the test.

use std::net::IpAddr;
use std::sync::Arc;

use btu_core::role::Role;
use btu_engine::Party;
use btu_engine::Place;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::socket::Settings;

/// Both hosts; needs the right to make namespaces.
pub(crate) fn hosts() -> [Party; 2] {
    let [neutral, near, far] = [(); 3].map(|()| NetNs::create().unwrap());
    let ends = [(&near, 1), (&far, 2)].map(|(namespace, number)| VethEnd {
        namespace,
        name: LINK,
        mac: Mac([2, 0, 0, 0, 0, number]),
        mtu: 1500,
    });
    Netlink::open(&neutral).unwrap().add_veth(&ends[0], &ends[1]).unwrap();
    settle(&near, 1);
    settle(&far, 2);
    parties([near, far])
}

/// The same hosts in other hands.
pub(crate) fn parties(namespaces: [NetNs; 2]) -> [Party; 2] {
    let [near, far] = namespaces.map(|namespace| Some(Arc::new(namespace)));
    let party = |role, net, number| Party {
        place: Place { net, ..Place::here(role) },
        address: address(number),
        sockets: Settings::default(),
    };
    [party(Role::Test, near, 1), party(Role::Active, far, 2)]
}

/// The near host has the odd ones, the far host the even ones, up to 6.
pub(crate) fn address(number: u8) -> IpAddr {
    IpAddr::from([198, 18, 13, number])
}

/// Brings the link up with its addresses. Neighbours are found by ARP, as on any network.
fn settle(namespace: &NetNs, first: u8) {
    let mut netlink = Netlink::open(namespace).unwrap();
    let link = netlink.link(LINK).unwrap().index;
    for number in [first, first + 2, first + 4] {
        netlink.add_address(link, address(number), 29).unwrap();
    }
    netlink.set_up(link).unwrap();
    let route = Route {
        destination: Prefix { address: address(0), length: 29 },
        link,
        gateway: None,
        source: Some(address(first)),
        congestion: None,
        kind: RouteKind::Unicast,
    };
    netlink.set_route(&route).unwrap();
}

/// The name of the link in both.
pub(crate) const LINK: &str = "data";
