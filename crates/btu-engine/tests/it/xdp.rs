//! What the transport `xdp` leaves behind on a link: nothing, however it ends.

use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;

use btu_core::pingpong::sample::Ended;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::pingpong::Opening;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::transport;
use btu_sys::namespace;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;

use crate::pingpong::free;
use crate::pingpong::visit;
use crate::veth;
use crate::wait::wait_until;

/// Why it cannot be tried here; nothing where it can.
fn lacking() -> Option<String> {
    let refusal = transport::by_name("xdp").unwrap().available().err()?;
    let kind = if namespace::is_privileged() { "kernel lacks" } else { "not root" };
    Some(format!("{kind}: xdp: {}", refusal.sentence()))
}

fn opening([near, far]: &[Party; 2]) -> Opening {
    let transport = transport::by_name("xdp").unwrap();
    let mut opening = Opening::new(transport, free(), near.clone(), far.clone());
    opening.patience = Nanos::from_secs(20);
    opening
}

fn namespace_of(host: &Party) -> &NetNs {
    host.place.net.as_deref().unwrap()
}

/// Links of both hosts that have a program.
fn programs(hosts: &[Party; 2]) -> usize {
    let of = |host| Netlink::open(namespace_of(host)).unwrap().xdp_programs().unwrap().len();
    hosts.iter().map(of).sum()
}

/// A connection in each direction, to addresses that nobody has asked for yet: ARP, then TCP.
fn talk([near, far]: &[Party; 2], [of_near, of_far]: [u8; 2]) {
    fetch(near, far, of_far);
    fetch(far, near, of_near);
}

fn fetch(reader: &Party, writer: &Party, number: u8) {
    let place = (veth::address(number), 0);
    let listening = namespace_of(writer).inside(|| TcpListener::bind(place).unwrap()).unwrap();
    let at = listening.local_addr().unwrap();
    let answer = thread::spawn(move || listening.accept().unwrap().0.write_all(b"bits").unwrap());
    let stream = namespace_of(reader).inside(|| TcpStream::connect(at).unwrap());
    let mut text = String::new();
    stream.unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "bits");
    answer.join().unwrap();
}

/// This test again, in a process that makes a visit which never ends.
fn victim(name: &str, hosts: &[Party; 2]) -> Child {
    let path = |host| {
        let fd = namespace_of(host).as_fd().as_raw_fd();
        format!("/proc/{}/fd/{fd}", std::process::id())
    };
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    child.env(VICTIM, hosts.each_ref().map(path).join(" ")).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    let is_open = |line: std::io::Result<String>| line.unwrap().contains(OPEN);
    assert!(said.lines().any(is_open), "the run ended before its session was open");
    child
}

/// Longer than the test takes, and no longer than a victim whose test was killed may trouble others.
const OUTLIVES: Nanos = Nanos::from_secs(300);

fn suffer(namespaces: &str) {
    let mut paths = namespaces.split(' ').map(|path| NetNs::from(File::open(path).unwrap()));
    let hosts = veth::parties([paths.next().unwrap(), paths.next().unwrap()]);
    let mut endless = visit(64, 1000);
    (endless.batch, endless.limit.time) = (u32::MAX, OUTLIVES);
    let mut session = Session::open(&opening(&hosts)).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "{OPEN}").unwrap();
    panic!("ended: {:?}", session.visit(&endless).ended);
}

/// P10 of the ping-pong's checks.
#[test]
fn p10_a_killed_xdp_run_leaves_arp_and_tcp_and_the_next_run_binds() {
    if let Ok(namespaces) = std::env::var(VICTIM) {
        return suffer(&namespaces);
    }
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let hosts = veth::hosts();
    let name = "xdp::p10_a_killed_xdp_run_leaves_arp_and_tcp_and_the_next_run_binds";
    let mut victim = victim(name, &hosts);
    wait_until("both ends have a program", || {
        assert!(victim.try_wait().unwrap().is_none(), "the run ended before it was killed");
        programs(&hosts) == 2
    });
    talk(&hosts, [1, 2]);
    assert_eq!(programs(&hosts), 2, "the run goes on beside others");
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until("no link has a program", || programs(&hosts) == 0);
    talk(&hosts, [3, 4]);
    let sample = Session::open(&opening(&hosts)).unwrap().visit(&visit(1000, 5));
    assert_eq!(sample.ended, Ended::Complete);
    talk(&hosts, [5, 6]);
}

#[test]
fn between_two_visits_a_link_belongs_to_others() {
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let hosts = veth::hosts();
    let mut sessions = [(); 2].map(|()| Session::open(&opening(&hosts)).unwrap());
    for _ in 0..3 {
        for session in &mut sessions {
            // The far end lets go a moment after its last answer.
            wait_until("the link is still taken", || programs(&hosts) == 0);
            assert_eq!(session.visit(&visit(3000, 5)).ended, Ended::Complete);
        }
    }
}

#[test]
fn the_loopback_is_refused_with_the_reason() {
    if let Some(reason) = lacking() {
        skip!("{reason}");
    }
    let here = [btu_core::role::Role::Test, btu_core::role::Role::Active];
    let fault = Session::open(&opening(&here.map(crate::pingpong::party))).unwrap_err();
    assert!(fault.sentence().starts_with("the loopback has one queue"), "{fault}");
}

/// Tells this test that it is the one to be killed, and where.
const VICTIM: &str = "BTU_TEST_XDP_VICTIM";

/// Said by that one before its endless visit: opening a session also attaches programs, for a moment.
const OPEN: &str = "the session is open";
