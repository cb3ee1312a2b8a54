//! Two links that are carried by a thread each: neither counts or drops what the other's packets are.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::thread;

use btu_core::link::ChainSpec;
use btu_core::link::Pattern;
use btu_core::link::Reader;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_testbed::backend::Emulator;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;
use btu_testbed::backend::Threads;
use btu_testbed::backend::relay::Relay;

use crate::isolated::isolated;
use crate::traffic::Ends;
use crate::traffic::tcp_transfer;
use crate::traffic::udp_count;
use crate::world::assert_nothing_unasked;

const PATTERN: &str = "1@200,3@400/400";
const DATAGRAMS: u32 = 4000;

/// Two hosts with a link between them, whose inner ends lie in somebody else's namespace.
struct Pair {
    number: u8,
    hosts: [NetNs; 2],
}

impl Pair {
    fn join(number: u8, wire: &NetNs) -> Self {
        let pair = Self { number, hosts: [(); 2].map(|()| NetNs::create().unwrap()) };
        for (end, host) in (1..).zip(&pair.hosts) {
            pair.add(end, host, wire);
        }
        pair
    }

    fn add(&self, end: u8, host: &NetNs, wire: &NetNs) {
        let port = self.port(end);
        let outer = VethEnd { namespace: host, name: "eth", mac: self.mac(end), mtu: 1500 };
        let inner = VethEnd { namespace: wire, name: &port, mac: self.mac(end + 8), mtu: 1500 };
        let mut netlink = Netlink::open(wire).unwrap();
        netlink.add_veth(&outer, &inner).unwrap();
        let inner = netlink.link(&port).unwrap().index;
        netlink.set_up(inner).unwrap();
        let mut netlink = Netlink::open(host).unwrap();
        let link = netlink.link("eth").unwrap().index;
        netlink.set_up(link).unwrap();
        netlink.add_address(link, self.address(end), 29).unwrap();
        netlink.add_neighbour(link, self.address(3 - end), self.mac(3 - end)).unwrap();
        let destination = Prefix { address: self.address(0), length: 29 };
        let (gateway, source, congestion) = (None, Some(self.address(end)), None);
        let kind = RouteKind::Unicast;
        netlink.set_route(&Route { destination, link, gateway, source, congestion, kind }).unwrap();
    }

    fn port(&self, end: u8) -> String {
        format!("w{}e{end}", self.number)
    }

    fn mac(&self, end: u8) -> Mac {
        Mac([2, b'b', b't', b'a', self.number, end])
    }

    fn address(&self, end: u8) -> IpAddr {
        Ipv4Addr::new(198, 19, self.number, end).into()
    }

    fn ports(&self) -> LinkPorts {
        LinkPorts { name: format!("link{}", self.number), near: self.port(1), far: self.port(2) }
    }

    fn ends(&self) -> Ends<'_> {
        Ends { near: &self.hosts[0], far: &self.hosts[1], address: self.address(2) }
    }
}

fn settings(cpus: CpuSet) -> Settings {
    Settings { cpus: Some(cpus), threads: Threads::PerLink, ..Settings::default() }
}

#[test]
fn two_links_on_two_cpus_drop_by_their_own_patterns_and_lose_nothing_else() {
    let name = "apart::two_links_on_two_cpus_drop_by_their_own_patterns_and_lose_nothing_else";
    let cpus: CpuSet = cpu::allowed().unwrap().iter().take(2).collect();
    if cpus.len() < 2 {
        skip!("too few CPUs: two threads need two");
    }
    isolated(name, || {
        let wire = NetNs::create().unwrap();
        let pairs = [1, 2].map(|number| Pair::join(number, &wire));
        let relay =
            Relay::start(&wire, &pairs.each_ref().map(Pair::ports), &settings(cpus)).unwrap();
        let elements = format!("drop {PATTERN}");
        let of = |elements: &[&str]| ChainSpec::as_given(elements, &Reader::PLAN).unwrap();
        let order = |pair: &Pair, up: &[&str]| {
            let (up, down) = (of(up), ChainSpec::default());
            Order { link: pair.ports().name, up, down }
        };
        let orders = [order(&pairs[0], &[&elements]), order(&pairs[1], &["delay 1ms", &elements])];
        relay.configure(&orders, 7).unwrap();
        let arrived = thread::scope(|scope| {
            let sent = pairs.each_ref().map(|pair| {
                scope.spawn(|| {
                    assert!(tcp_transfer(pair.ends(), 8 << 20).0 >= 7 << 20);
                    udp_count(pair.ends(), DATAGRAMS, 200).len()
                })
            });
            sent.map(|one| one.join().unwrap())
        });
        let formula: Pattern = PATTERN.parse().unwrap();
        let samples = relay.samples().unwrap();
        let links: Vec<&str> = samples.iter().map(|one| one.link.as_str()).collect();
        assert_eq!(links, ["link1", "link1", "link2", "link2"]);
        samples.iter().for_each(assert_nothing_unasked);
        for (up, arrived) in samples.iter().step_by(2).zip(arrived) {
            assert!(up.packets > u64::from(DATAGRAMS), "{up:?}");
            assert_eq!(up.dropped, formula.count(up.packets), "{up:?}");
            assert!(arrived < usize::try_from(DATAGRAMS).unwrap(), "{arrived} of {DATAGRAMS}");
        }
        // Of one thread both links would tell the same.
        assert_ne!(samples[0].thread_cpu_ns, samples[2].thread_cpu_ns);
        assert!(
            samples.iter().skip(1).step_by(2).all(|down| down.dropped == 0 && down.packets > 0)
        );
    });
}
