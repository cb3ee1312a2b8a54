//! A masquerade hides who connects, and goes with its value.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::nftables::Masquerade;
use btu_sys::sysctl;

use crate::isolated::isolated;

const INSIDE: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 2);
const ROUTER_IN: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 1);
const ROUTER_OUT: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 1);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 2);

/// A veth pair with an address at each end; the first end sends everything to the second if asked.
fn join(a: (&NetNs, Ipv4Addr), b: (&NetNs, Ipv4Addr), name: &str, default: bool) {
    let mac = |number: u8| Mac([2, 0, 0, 1, name.len().try_into().unwrap(), number]);
    let end = |namespace, number| VethEnd { namespace, name, mac: mac(number), mtu: 1500 };
    Netlink::open(a.0).unwrap().add_veth(&end(a.0, 1), &end(b.0, 2)).unwrap();
    for ((namespace, own), gateway) in [(a, default.then_some(b.1)), (b, None)] {
        let mut netlink = Netlink::open(namespace).unwrap();
        let link = netlink.link(name).unwrap().index;
        netlink.set_up(link).unwrap();
        netlink.add_address(link, own.into(), 30).unwrap();
        let route = Route {
            destination: Prefix { address: IpAddr::V4(own), length: 30 },
            link,
            gateway: None,
            source: Some(own.into()),
            congestion: None,
            kind: RouteKind::Unicast,
        };
        let network = Ipv4Addr::from_bits(own.to_bits() & !3).into();
        netlink
            .set_route(&Route { destination: Prefix { address: network, length: 30 }, ..route })
            .unwrap();
        if let Some(gateway) = gateway {
            let everywhere = Prefix { address: Ipv4Addr::UNSPECIFIED.into(), length: 0 };
            let default = Route { destination: everywhere, gateway: Some(gateway.into()), ..route };
            netlink.set_route(&default).unwrap();
        }
    }
}

#[test]
fn a_masquerade_gives_connections_the_address_of_the_way_out_until_it_goes() {
    isolated(
        "nftables::a_masquerade_gives_connections_the_address_of_the_way_out_until_it_goes",
        || {
            let [inside, router, outside] = [(); 3].map(|()| NetNs::create().unwrap());
            router.inside(|| sysctl::write("net.ipv4.ip_forward", "1")).unwrap().unwrap();
            join((&inside, INSIDE), (&router, ROUTER_IN), "in", true);
            join((&outside, OUTSIDE), (&router, ROUTER_OUT), "outer", true);
            let masquerade = match Masquerade::install(&router, Some(INSIDE)) {
                Ok(masquerade) => masquerade,
                Err(cause) => skip!("kernel lacks: {cause}: masquerade"),
            };
            let listener = outside.inside(|| TcpListener::bind((OUTSIDE, 80))).unwrap().unwrap();
            let connected = inside.inside(|| TcpStream::connect((OUTSIDE, 80))).unwrap();
            assert_eq!(listener.accept().unwrap().1.ip(), IpAddr::V4(ROUTER_OUT));
            drop(connected.unwrap());
            drop(masquerade);
            // The outside answers everybody here, so the true source shows.
            let connected = inside.inside(|| TcpStream::connect((OUTSIDE, 80))).unwrap();
            assert_eq!(listener.accept().unwrap().1.ip(), IpAddr::V4(INSIDE));
            drop(connected.unwrap());
        },
    );
}
