//! The search for a path MTU over a router whose second link carries less than the first, and says so, or does not.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::role::Role;
use btu_core::traffic::probe::PathMtuFigures;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::traffic::Way;
use btu_engine::traffic::path_mtu;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::sysctl;

use crate::isolated::isolated;

/// Two hosts and the router between them.
struct Net {
    near: Arc<NetNs>,
    router: NetNs,
    far: Arc<NetNs>,
}

impl Net {
    fn new() -> Self {
        let [near, router, far] = [(); 3].map(|()| NetNs::create().unwrap());
        join([(&near, 1), (&router, 2)], FIRST);
        join([(&router, 3), (&far, 4)], SECOND);
        router.inside(|| sysctl::write("net.ipv4.ip_forward", "1")).unwrap().unwrap();
        lead(&near, FIRST, SECOND, address(FIRST, 2));
        lead(&far, SECOND, FIRST, address(SECOND, 3));
        Self { near: Arc::new(near), router, far: Arc::new(far) }
    }

    /// How much the second link carries, at both of its ends.
    fn set_mtu(&self, mtu: u32) {
        for end in [&self.router, &self.far] {
            let mut netlink = Netlink::open(end).unwrap();
            let link = netlink.link(&name(SECOND)).unwrap().index;
            netlink.set_mtu(link, mtu).unwrap();
        }
    }

    fn search(&self) -> PathMtuFigures {
        let place =
            |role, net: &Arc<NetNs>| Place { net: Some(Arc::clone(net)), ..Place::here(role) };
        let (near, far) = (place(Role::Test, &self.near), place(Role::Active, &self.far));
        let way = Way { near: &near, far: &far, address: address(SECOND, 4) };
        path_mtu(&way, Nanos::from_millis(100), &AtomicBool::new(false)).unwrap().figures()
    }
}

/// A veth pair, its addresses and the networks behind them.
fn join(ends: [(&NetNs, u8); 2], net: u8) {
    let device = name(net);
    let veths = ends.map(|(namespace, number)| VethEnd {
        namespace,
        name: &device,
        mac: Mac([2, 0, 0, 0, net, number]),
        mtu: 1500,
    });
    Netlink::open(&NetNs::create().unwrap()).unwrap().add_veth(&veths[0], &veths[1]).unwrap();
    for (namespace, number) in ends {
        let mut netlink = Netlink::open(namespace).unwrap();
        let link = netlink.link(&device).unwrap().index;
        netlink.add_address(link, address(net, number), 29).unwrap();
        netlink.set_up(link).unwrap();
        set_route(namespace, net, net, None);
    }
}

/// A route to another network over a router of this one.
fn lead(namespace: &NetNs, own: u8, other: u8, router: IpAddr) {
    set_route(namespace, own, other, Some(router));
}

fn set_route(namespace: &NetNs, own: u8, to: u8, gateway: Option<IpAddr>) {
    let mut netlink = Netlink::open(namespace).unwrap();
    let link = netlink.link(&name(own)).unwrap().index;
    let destination = Prefix { address: address(to, 0), length: 29 };
    let kind = RouteKind::Unicast;
    let route = Route { destination, link, gateway, source: None, congestion: None, kind };
    netlink.set_route(&route).unwrap();
}

fn name(net: u8) -> String {
    format!("link{net}")
}

fn address(net: u8, number: u8) -> IpAddr {
    IpAddr::from([198, 18, net, number])
}

const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// The router tells its host of each packet that is too large: that is neither believed nor in the way. Once the link
/// carries more again, the kernel still remembers the less, and the search does not.
#[test]
fn a_path_that_is_narrower_behind_a_router_is_found_to_the_byte_and_again_when_it_has_changed() {
    let test = "path_mtu::a_path_that_is_narrower_behind_a_router_is_found_to_the_byte_and_again_when_it_has_changed";
    isolated(test, || {
        let net = Net::new();
        for mtu in [1500, 1399, 1420, 700, 1500] {
            net.set_mtu(mtu);
            let found = net.search();
            assert_eq!(found.path_mtu, Some(Bytes::new(mtu.into())), "{found:?}");
            assert!(found.is_exact && found.device == Bytes::new(1500), "{found:?}");
        }
    });
}
