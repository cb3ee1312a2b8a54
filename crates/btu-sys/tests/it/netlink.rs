//! Links made through rtnetlink carry traffic, and refusals name operation, operand and cause.

use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::thread;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::sysctl;

use crate::isolated::isolated;

const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 12, 1));
const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 12, 2));
pub(crate) const NEAR_MAC: Mac = Mac([2, 0, 0, 0, 0, 1]);
pub(crate) const FAR_MAC: Mac = Mac([2, 0, 0, 0, 0, 2]);

/// One namespace with one end of a veth pair.
pub(crate) struct Host {
    pub(crate) namespace: NetNs,
    pub(crate) netlink: Netlink,
}

impl Host {
    fn new() -> Self {
        let namespace = NetNs::create().unwrap();
        let netlink = Netlink::open(&namespace).unwrap();
        Self { namespace, netlink }
    }

    fn end(&self, mac: Mac) -> VethEnd<'_> {
        VethEnd { namespace: &self.namespace, name: "data", mac, mtu: 1400 }
    }

    fn settle(&mut self, name: &str, address: IpAddr, peer: (IpAddr, Mac), congestion: &str) {
        let link = self.netlink.link(name).unwrap();
        self.netlink.add_address(link.index, address, 29).unwrap();
        self.netlink.set_up(link.index).unwrap();
        self.netlink.add_neighbour(link.index, peer.0, peer.1).unwrap();
        let route = Route {
            destination: Prefix { address: "198.18.12.0".parse().unwrap(), length: 29 },
            link: link.index,
            gateway: None,
            source: Some(address),
            congestion: Some(congestion),
            kind: RouteKind::Unicast,
        };
        self.netlink.set_route(&route).unwrap();
    }
}

pub(crate) fn connected_hosts() -> (Host, Host) {
    let (mut near, mut far) = (Host::new(), Host::new());
    let mut neutral = Host::new();
    // Both ends may have the same name, since neither ever is in the neutral namespace.
    neutral_veth(&mut neutral, &near.end(NEAR_MAC), &far.end(FAR_MAC));
    near.settle("data", NEAR, (FAR, FAR_MAC), "reno");
    far.settle("data", FAR, (NEAR, NEAR_MAC), "reno");
    (near, far)
}

fn neutral_veth(neutral: &mut Host, near: &VethEnd<'_>, far: &VethEnd<'_>) {
    neutral.netlink.add_veth(near, far).unwrap();
    assert!(neutral.netlink.link("data").is_err());
}

#[test]
fn two_namespaces_talk_over_a_veth_pair() {
    isolated("netlink::two_namespaces_talk_over_a_veth_pair", || {
        let (mut near, far) = connected_hosts();
        let listener = far.namespace.inside(|| TcpListener::bind((FAR, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let answer = thread::spawn(move || {
            let (mut stream, from) = listener.accept().unwrap();
            stream.write_all(b"bits to the user").unwrap();
            from.ip()
        });
        let mut text = String::new();
        let mut stream = near.namespace.inside(|| TcpStream::connect(address)).unwrap().unwrap();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "bits to the user");
        assert_eq!(answer.join().unwrap(), NEAR);
        assert_eq!(congestion_of(&stream), "reno");
        let link = near.netlink.link("data").unwrap();
        assert_eq!((link.mac, link.mtu, link.up), (NEAR_MAC, 1400, true));
        assert!(link.counters.rx_packets >= 3 && link.counters.tx_packets >= 3);
    });
}

fn congestion_of(stream: &TcpStream) -> String {
    let name = socket2::SockRef::from(stream).tcp_congestion().unwrap();
    String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()
}

#[test]
fn a_refusal_names_operation_operand_and_the_kernels_sentence() {
    isolated("netlink::a_refusal_names_operation_operand_and_the_kernels_sentence", || {
        let (mut near, _far) = connected_hosts();
        let absent = near.netlink.link("absent").unwrap_err();
        assert_eq!(absent.to_string(), "look up link absent");
        assert_eq!(absent.errno(), Some(19), "ENODEV");
        let link = near.netlink.link("data").unwrap();
        let route = Route {
            destination: Prefix { address: FAR, length: 32 },
            link: link.index,
            gateway: None,
            source: None,
            congestion: Some("no-such"),
            kind: RouteKind::Unicast,
        };
        let refused = near.netlink.set_route(&route).unwrap_err().to_string();
        assert!(refused.starts_with("set route to 198.18.12.2/32"), "{refused}");
        assert!(refused.contains("(kernel: Unknown tcp congestion algorithm)"), "{refused}");
    });
}

#[test]
fn sysctls_of_a_namespace_are_its_own() {
    isolated("netlink::sysctls_of_a_namespace_are_its_own", || {
        let before = sysctl::read("net.ipv4.ip_forward").unwrap();
        let other = if before == "0" { "1" } else { "0" };
        let host = Host::new();
        let inside = host.namespace.inside(|| {
            sysctl::write("net.ipv4.ip_forward", other).unwrap();
            sysctl::read("net.ipv4.ip_forward").unwrap()
        });
        assert_eq!(inside.unwrap(), other);
        assert_eq!(sysctl::read("net.ipv4.ip_forward").unwrap(), before);
    });
}
