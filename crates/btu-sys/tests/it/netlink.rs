//! Links made through rtnetlink carry traffic, and refusals name operation, operand and cause.

use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netem;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::sysctl;

use crate::isolated::isolated;
use crate::wait::wait_until;

/// What only a packet that never comes takes longer than.
const PATIENCE: Duration = Duration::from_secs(10);
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

/// Two pairs of devices, and between their inner ends nothing but redirections.
fn joined_by_redirections() -> (Host, Host, Host, [u32; 2]) {
    let (mut near, mut far, mut wire) = (Host::new(), Host::new(), Host::new());
    let end = |host: &Host, name: &'static str, mac: Mac| {
        let namespace = host.namespace.try_clone().unwrap();
        (namespace, name, mac)
    };
    let pairs = [
        (end(&near, "data", NEAR_MAC), end(&wire, "inner-n", Mac([2, 0, 0, 0, 1, 1]))),
        (end(&far, "data", FAR_MAC), end(&wire, "inner-f", Mac([2, 0, 0, 0, 1, 2]))),
    ];
    let mtu = 1400;
    for ((one, name, mac), (other, inner, inner_mac)) in &pairs {
        let outer = VethEnd { namespace: one, name, mac: *mac, mtu };
        let inner = VethEnd { namespace: other, name: inner, mac: *inner_mac, mtu };
        wire.netlink.add_veth(&outer, &inner).unwrap();
    }
    let links = ["inner-n", "inner-f"].map(|name| wire.netlink.link(name).unwrap().index);
    near.settle("data", NEAR, (FAR, FAR_MAC), "reno");
    far.settle("data", FAR, (NEAR, NEAR_MAC), "reno");
    (near, far, wire, links)
}

#[test]
fn what_comes_in_by_one_link_leaves_by_the_other_or_is_counted() {
    isolated("netlink::what_comes_in_by_one_link_leaves_by_the_other_or_is_counted", || {
        let (near, far, mut wire, [inner_near, inner_far]) = joined_by_redirections();
        wire.netlink.redirect(inner_near, inner_far).unwrap();
        wire.netlink.redirect(inner_far, inner_near).unwrap();
        wire.netlink.set_up(inner_near).unwrap();
        let [sender, receiver] = [(&near, NEAR), (&far, FAR)]
            .map(|(host, own)| host.namespace.inside(|| UdpSocket::bind((own, 4711))).unwrap());
        let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
        // Each device carries packets only when the kernel has seen its carrier. The other link is down: what is
        // handed to it is refused.
        wait_until("a packet that is refused", || {
            sender.send_to(b"lost", (FAR, 4711)).unwrap();
            wire.netlink.refused(inner_near).unwrap() > 0
        });
        assert_eq!(wire.netlink.refused(inner_far).unwrap(), 0);
        wire.netlink.set_up(inner_far).unwrap();
        for one in [&sender, &receiver] {
            one.set_read_timeout(Some(PATIENCE / 100)).unwrap();
        }
        let mut text = [0; 8];
        let mut came = |from: &UdpSocket, word: &[u8], to: &UdpSocket, address| {
            let mut came = None;
            wait_until("a packet by the other link", || {
                from.send_to(word, (address, 4711)).unwrap();
                came = to.recv_from(&mut text).ok();
                came.is_some()
            });
            came
        };
        assert_eq!(came(&sender, b"found", &receiver, FAR), Some((5, (NEAR, 4711).into())));
        let refused = wire.netlink.refused(inner_near).unwrap();
        assert_eq!(came(&receiver, b"back", &sender, NEAR), Some((4, (FAR, 4711).into())));
        assert_eq!(came(&sender, b"found", &receiver, FAR), Some((5, (NEAR, 4711).into())));
        assert_eq!(wire.netlink.refused(inner_near).unwrap(), refused);
    });
}

#[test]
fn what_left_by_the_root_of_a_link_is_counted() {
    isolated("netlink::what_left_by_the_root_of_a_link_is_counted", || {
        let (mut near, far) = connected_hosts();
        let link = near.netlink.link("data").unwrap().index;
        near.netlink.set_root_qdisc(link, "pfifo").unwrap();
        let before = near.netlink.root_counters(link).unwrap();
        let [sender, receiver] = [(&near, NEAR), (&far, FAR)]
            .map(|(host, own)| host.namespace.inside(|| UdpSocket::bind((own, 4711))).unwrap());
        let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
        for one in [&sender, &receiver] {
            one.set_read_timeout(Some(PATIENCE)).unwrap();
        }
        for _ in 0..3 {
            sender.send_to(&[0; 100], (FAR, 4711)).unwrap();
            assert_eq!(receiver.recv(&mut [0; 100]).unwrap(), 100);
        }
        let after = near.netlink.root_counters(link).unwrap();
        assert_eq!(after.packets - before.packets, 3);
        assert_eq!(after.bytes - before.bytes, 3 * (100 + 8 + 20 + 14));
        assert_eq!((after.dropped, after.held), (0, 0));
    });
}

/// Where the kernel has netem this puts it there; elsewhere the kernel's own sentence is told.
#[test]
fn netem_is_put_at_the_root_or_the_kernel_says_why_not() {
    isolated("netlink::netem_is_put_at_the_root_or_the_kernel_says_why_not", || {
        let (mut near, _far) = connected_hosts();
        let link = near.netlink.link("data").unwrap().index;
        let netem = Netem { delay_ns: 5_000_000, ..Netem::default() };
        match near.netlink.set_netem(link, &netem) {
            Ok(()) => {
                let roots = near.netlink.qdiscs().unwrap();
                assert!(roots.iter().any(|it| it.link == link && it.kind == "netem"), "{roots:?}");
            }
            Err(refused) => {
                assert_eq!(refused.errno(), Some(2), "ENOENT: {refused}");
                let told = refused.to_string();
                assert!(told.starts_with(&format!("set qdisc netem on link {link}")), "{told}");
            }
        }
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
