//! A `btu pingpong xdp` that is killed: what it leaves on the links of its hosts.

use std::fs::File;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::sync::Arc;
use std::thread;

use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::schedule::Visit;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::pingpong::Opening;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::transport;
use btu_sys::namespace;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::process::dies_with_its_starter;
use btu_sys::socket::Settings;
use btu_sys::xdp;
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::needs;
use crate::program::btu;
use crate::program::wait_until;

/// A host of the program under test: its network, kept beyond the end of that program, and the device of
/// the link between both.
struct Host {
    network: Arc<NetNs>,
    device: &'static str,
}

impl Host {
    fn netlink(&self) -> Netlink {
        Netlink::open(&self.network).unwrap()
    }

    /// Gives the link addresses that nobody has asked for yet: neighbours are found by ARP.
    fn settle(&self, numbers: [u8; 3]) {
        let mut netlink = self.netlink();
        let link = netlink.link(self.device).unwrap().index;
        for number in numbers {
            netlink.add_address(link, address(number), 29).unwrap();
        }
        let destination = Prefix { address: address(0), length: 29 };
        let (source, kind) = (Some(address(numbers[0])), RouteKind::Unicast);
        let route = Route { destination, link, gateway: None, source, congestion: None, kind };
        netlink.set_route(&route).unwrap();
    }

    /// Packets that came to its link.
    fn received(&self) -> u64 {
        let read = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let text = self.network.inside(read).unwrap();
        let counts =
            text.lines().find_map(|line| line.trim().strip_prefix(self.device)?.strip_prefix(':'));
        counts.and_then(|counts| counts.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }

    fn party(&self, role: Role, number: u8) -> Party {
        let place = Place { net: Some(Arc::clone(&self.network)), ..Place::here(role) };
        Party { place, address: address(number), sockets: Settings::default() }
    }
}

fn address(number: u8) -> IpAddr {
    IpAddr::from([198, 18, 200, number])
}

/// The hosts of a process, by the networks that it holds open: the one with the link to the active host, and
/// that one.
fn hosts_of(pid: u32) -> Option<[Host; 2]> {
    let with = |device: &'static str| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let is_net = |path: &Path| {
            std::fs::read_link(path).is_ok_and(|to| to.to_string_lossy().starts_with("net:["))
        };
        let networks = files.flatten().map(|entry| entry.path()).filter(|path| is_net(path));
        let mut networks = networks.filter_map(|path| File::open(path).ok()).map(NetNs::from);
        let has =
            |network: &NetNs| Netlink::open(network).is_ok_and(|mut net| net.link(device).is_ok());
        Some(Host { network: Arc::new(networks.find(has)?), device })
    };
    Some([with("active0")?, with("test0")?])
}

/// A visit that outlasts the test, and its hosts once it is under way. Most visits of a point have so many exchanges and
/// no more: those of 1 MiB take minutes.
fn endless(folder: &TempDir) -> (Child, [Host; 2]) {
    let mut command = btu();
    command.current_dir(folder.path()).args(["pingpong", "xdp", "--sizes", "1MiB", "--out", "out"]);
    command.args(["--rounds", "1", "--connections", "1", "--point-time", "300s"]);
    command.args(["--placement", "free", "--chasms", "off", "--reference", "off"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = dies_with_its_starter(&mut command).spawn().unwrap();
    let journal = folder.path().join("out/samples.jsonl");
    let mut hosts = None;
    wait_until(|| {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        // Trying the connection also attaches programs, for a moment, and so does making it: that takes a few frames,
        // a visit takes thousands.
        let begun = std::fs::read_to_string(&journal)
            .is_ok_and(|text| text.contains("ping_pong_configuration"));
        hosts = begun.then(|| hosts_of(child.id())).flatten();
        let is_visit = |hosts: &[Host; 2]| hosts.iter().all(|host| host.received() > 5_000);
        hosts.as_ref().is_some_and(|hosts| is_visit(hosts) && programs(hosts) == 2)
    });
    (child, hosts.unwrap())
}

/// Links of both hosts that have a program.
fn programs(hosts: &[Host; 2]) -> usize {
    hosts.iter().map(|host| host.netlink().xdp_programs().unwrap().len()).sum()
}

/// A connection in each direction.
fn talk([near, far]: &[Host; 2], [of_near, of_far]: [u8; 2]) {
    fetch(near, far, of_far);
    fetch(far, near, of_near);
}

fn fetch(reader: &Host, writer: &Host, number: u8) {
    let bound = writer.network.inside(|| TcpListener::bind((address(number), 0)).unwrap());
    let listening = bound.unwrap();
    let at = listening.local_addr().unwrap();
    let answer = thread::spawn(move || listening.accept().unwrap().0.write_all(b"bits").unwrap());
    let stream = reader.network.inside(|| TcpStream::connect(at).unwrap());
    let mut text = String::new();
    stream.unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "bits");
    answer.join().unwrap();
}

/// What `btu doctor` says of programs on the links of a host.
fn doctor(host: &Host) -> Value {
    let ask = || btu().args(["doctor", "--json"]).output().unwrap();
    let output = host.network.inside(ask).unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == "xdp-programs").unwrap().clone()
}

/// P10 of the ping-pong's checks, with the program itself as its user has it.
#[test]
fn p10_a_btu_pingpong_xdp_that_is_killed_leaves_its_hosts_as_they_were() {
    needs!();
    if let Err(refusal) = xdp::permitted() {
        let kind = if namespace::is_privileged() { "kernel lacks" } else { "not root" };
        skip!("{kind}: {refusal}");
    }
    let folder = TempDir::new().unwrap();
    let (mut child, hosts) = endless(&folder);
    hosts[0].settle([1, 3, 5]);
    hosts[1].settle([2, 4, 6]);
    talk(&hosts, [1, 2]);
    let told = doctor(&hosts[0]);
    assert!(told["found"].as_str().unwrap().starts_with("active0: "), "{told}");
    assert_eq!(told["status"], "limited", "{told}");
    assert_eq!(programs(&hosts), 2, "it goes on beside others");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until(|| programs(&hosts) == 0);
    talk(&hosts, [3, 4]);
    assert_eq!(doctor(&hosts[0])["status"], "ok");
    binds_again(&hosts);
    talk(&hosts, [5, 6]);
    let folder = TempDir::new().unwrap();
    let sizes = ["xdp", "--sizes", "64B", "--placement", "free", "--chasms", "off"];
    let result = super::result(folder.path(), &sizes);
    assert_eq!(result["curves"][0]["points"].as_array().unwrap().len(), 1, "{result:#}");
}

/// The next one over the same links, whose networks the killed program had made.
fn binds_again([near, far]: &[Host; 2]) {
    let transport = transport::by_name("xdp").unwrap();
    let wanted = Configuration { placement: Placement::Free, ..Configuration::new("xdp") };
    let (near, far) = (near.party(Role::Test, 1), far.party(Role::Active, 2));
    let mut opening = Opening::new(transport, wanted, near, far);
    opening.patience = Nanos::from_secs(20);
    let visit = Visit::single(Bytes::new(1_000), 5, Nanos::from_secs(60));
    let sample = Session::open(&opening).unwrap().visit(&visit);
    assert_eq!(sample.ended, Ended::Complete);
}
