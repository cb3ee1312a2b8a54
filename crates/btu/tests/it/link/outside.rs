//! `--net nat`: the command behind the link talks to the host's network, end to end.

use std::io::Write;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::process::Output;
use std::thread;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::sysctl;

use super::users::User;
use super::users::is_root;
use super::users::link;
use super::users::text;

const HOST: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 2);

/// A host with one neighbour, neither of which knows the addresses of links.
struct Host {
    host: NetNs,
    server: NetNs,
}

impl Host {
    fn new(forwards: &'static str) -> Self {
        let (host, server) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        let end = |namespace, number| {
            let mac = Mac([2, 0, 0, 0, 3, number]);
            VethEnd { namespace, name: "lan", mac, mtu: 1500 }
        };
        Netlink::open(&host).unwrap().add_veth(&end(&host, 1), &end(&server, 2)).unwrap();
        for (namespace, own) in [(&host, HOST), (&server, SERVER)] {
            let mut netlink = Netlink::open(namespace).unwrap();
            let link = netlink.link("lan").unwrap().index;
            netlink.set_up(link).unwrap();
            netlink.add_address(link, own.into(), 24).unwrap();
            let lan = Prefix { address: Ipv4Addr::new(203, 0, 113, 0).into(), length: 24 };
            let (source, kind) = (Some(IpAddr::V4(own)), RouteKind::Unicast);
            let route =
                Route { destination: lan, link, gateway: None, source, congestion: None, kind };
            netlink.set_route(&route).unwrap();
        }
        host.inside(move || sysctl::write("net.ipv4.ip_forward", forwards)).unwrap().unwrap();
        Self { host, server }
    }

    fn run(&self, options: &[&str], script: &str) -> Output {
        self.host.inside(|| link(User::Same, options, script).output().unwrap()).unwrap()
    }

    /// The names of the devices of the host.
    fn devices(&self) -> String {
        let read = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        self.host.inside(read).unwrap()
    }
}

#[test]
fn a_command_behind_a_nat_reaches_a_neighbour_of_the_host_with_the_links_delay() {
    if !is_root() {
        skip!("only as root: it joins a host's network");
    }
    let host = Host::new("1");
    let listener = host.server.inside(|| TcpListener::bind((SERVER, 80))).unwrap().unwrap();
    let served = thread::spawn(move || {
        let (mut socket, peer) = listener.accept().unwrap();
        socket.write_all(b"hello from outside\n").unwrap();
        peer.ip()
    });
    let script = format!(
        "cat < /dev/tcp/{SERVER}/80; \
         ping -c 3 -i 0.01 {SERVER}"
    );
    let output = host.run(&["--net", "nat", "--delay", "15ms"], &script);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if stderr.contains("masquerade") && stderr.contains("hint: it needs Linux 5.12") {
        skip!("kernel lacks: masquerade: {stderr}");
    }
    assert!(stdout.starts_with("hello from outside\n"), "{stdout}\n{stderr}");
    assert_eq!(served.join().unwrap(), IpAddr::V4(HOST), "the neighbour sees the host");
    assert!(super::counted::fastest(&stdout) >= 30.0, "{stdout}");
    // The kernel takes namespaces down on a thread of its own.
    crate::program::wait_until(|| !host.devices().contains("btu-nat"));
}

#[test]
fn a_host_that_does_not_forward_is_left_as_it_is() {
    if !is_root() {
        skip!("only as root: it joins a host's network");
    }
    let host = Host::new("0");
    let output = host.run(&["--net", "nat"], "true");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("--net nat: the host does not forward packets"), "{stderr}");
    assert!(stderr.contains("hint: as root: sysctl net.ipv4.ip_forward=1"), "{stderr}");
    assert!(!host.devices().contains("btu-nat"), "{}", host.devices());
}
