//! How soon all traffic and load end when a conductor is lost: its connection is reset, or its network cut
//! without a sign.

use std::process::Child;
use std::process::Output;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use btu_sys::clock;
use btu_sys::packet::Head;
use btu_sys::packet::Tap;
use serde_json::Value;

use super::A_LOT;
use super::flows::begun;
use super::flows::one;
use super::hosts::Black;
use super::hosts::Hosts;
use super::hosts::said;
use super::measured;
use crate::isolated::isolated;
use crate::program::Cells;
use crate::program::ended_within;
use crate::program::read_json;
use crate::program::signal;
use crate::program::wait_until;

/// After a reset.
const RESET: Duration = Duration::from_secs(1);
/// Beyond the time that was announced for a cell, after a silent cut.
const CUT: Duration = Duration::from_secs(3);
/// What a host may be late where many tests share two processors: each of the processes that a loss goes
/// through, one after the other, may wait there for its turn.
const LATE: Duration = Duration::from_secs(2);
/// For how long nothing more has to come before it is believed that nothing will.
const SILENCE: Duration = Duration::from_secs(2);

/// Cells of a second: what is announced for one is that, and five times as long to drain.
const SECONDS: Cells<'_> =
    Cells { cases: &["RECV"], activities: &["cpu"], window: "1s", passes: 3, ..Cells::SHORT };
const ANNOUNCED: Duration = Duration::from_secs(6);

/// Transfers that go on for longer than any of these tests, announced as a run of 5.02 s at the most.
const TRANSFERS: Cells<'_> = Cells { activities: &["ftp"], alone: "100s", ..Cells::SHORT };
const ANNOUNCED_OF_TRANSFERS: Duration = Duration::from_millis(5020);

/// Hears what leaves a host, other than on control connections.
struct Wire {
    heard: Arc<Heard>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Heard {
    ended: AtomicBool,
    packets: AtomicU64,
    /// When the last one left, by the wall clock.
    last_ns: AtomicU64,
    /// Its headers, of IP and TCP.
    last: Mutex<Vec<u8>>,
}

impl Wire {
    fn of(hosts: &Hosts, host: usize, devices: &[&str]) -> Self {
        let heard = Arc::<Heard>::default();
        let mut taps: Vec<Tap> = devices.iter().map(|device| hosts.tap(host, device)).collect();
        let kept = Arc::clone(&heard);
        let listen = move || {
            while !kept.ended.load(Relaxed) {
                for tap in &mut taps {
                    while let Some(head) = tap.next_head() {
                        kept.note(&head);
                    }
                }
                thread::park_timeout(Duration::from_millis(2));
            }
        };
        Self { heard, thread: Some(thread::spawn(listen)) }
    }

    fn packets(&self) -> u64 {
        self.heard.packets.load(Relaxed)
    }

    /// The headers of the last packet.
    fn last(&self) -> Vec<u8> {
        self.heard.last.lock().unwrap().clone()
    }

    /// How long after a moment the last packet left, once none could come within `bound` any more.
    fn last_after(&self, loss: &Loss, bound: Duration) -> Duration {
        loss.wait_for(bound + SILENCE);
        Duration::from_nanos(self.heard.last_ns.load(Relaxed).saturating_sub(loss.wall_ns))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.heard.ended.store(true, Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

impl Heard {
    fn note(&self, head: &Head<'_>) {
        if head.is_outgoing && is_data(head.bytes) {
            self.packets.fetch_add(1, Relaxed);
            self.last_ns.fetch_max(head.stamp_ns, Relaxed);
            let headers = head.bytes.iter().skip(ETHERNET).take(HEADERS);
            *self.last.lock().unwrap() = headers.copied().collect();
        }
    }
}

/// Bytes in front of the IP header.
const ETHERNET: usize = 14;
/// Those of IP and TCP.
const HEADERS: usize = 40;

/// TCP or UDP over IPv4 between ports of which none is an agent's.
fn is_data(frame: &[u8]) -> bool {
    const AGENT: [u8; 2] = 7411_u16.to_be_bytes();
    let Some(packet) = frame.get(ETHERNET..).filter(|_| frame[12..ETHERNET] == [8, 0]) else {
        return false;
    };
    let Some(ports) = packet.get(usize::from(packet[0] & 15) * 4..).and_then(|end| end.get(..4))
    else {
        return false;
    };
    matches!(packet[9], 6 | 17) && ports[..2] != AGENT && ports[2..] != AGENT
}

/// The moment of a loss.
struct Loss {
    at: Instant,
    wall_ns: u64,
}

impl Loss {
    fn now() -> Self {
        Self { at: Instant::now(), wall_ns: clock::realtime_ns() }
    }

    fn wait_for(&self, time: Duration) {
        while let Some(left) = time.checked_sub(self.at.elapsed()) {
            thread::park_timeout(left);
        }
    }

    /// How long after it a condition held first.
    fn until(&self, condition: impl FnMut() -> bool) -> Duration {
        wait_until(condition);
        self.at.elapsed()
    }
}

fn run_of(hosts: &Hosts, plan: Cells<'_>, out: &str, options: &[&str]) -> Child {
    hosts.run(plan, out, options).stderr(Stdio::null()).spawn().unwrap()
}

/// Far more packets than connections and logins take.
fn in_full_flow(wire: &Wire, before: u64) -> bool {
    wire.packets() > before + 2000
}

#[test]
fn a_reset_ends_all_traffic_within_a_second() {
    isolated("agent::ended::a_reset_ends_all_traffic_within_a_second", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let wire = Wire::of(&hosts, 0, &["lan"]);
        for (plan, out) in [(SECONDS, "cells"), (TRANSFERS, "transfers")] {
            let before = wire.packets();
            let mut run = run_of(&hosts, plan, out, &["--active", "lab1"]);
            wait_until(|| in_full_flow(&wire, before));
            let loss = Loss::now();
            signal(run.id(), "KILL");
            let freed = loss.until(|| agent.workers() == 0);
            let last = wire.last_after(&loss, RESET + LATE);
            run.wait().unwrap();
            assert!(freed <= RESET + LATE, "{out}: a worker was there for {freed:?}");
            assert!(last <= RESET + LATE, "{out}: the last packet left after {last:?}");
        }
    });
}

#[test]
fn a_silent_cut_ends_all_traffic_with_the_time_that_was_announced() {
    let name = "agent::ended::a_silent_cut_ends_all_traffic_with_the_time_that_was_announced";
    isolated(name, || {
        for (plan, announced) in [(SECONDS, ANNOUNCED), (TRANSFERS, ANNOUNCED_OF_TRANSFERS)] {
            let hosts = Hosts::new();
            let agent = hosts.lab1(&[]);
            // What is repeated into the void leaves by the device that leads there.
            let wire = Wire::of(&hosts, 0, &["lan", "lo"]);
            let mut run = run_of(&hosts, plan, "result", &["--active", "lab1"]);
            wait_until(|| in_full_flow(&wire, 0));
            let loss = Loss::now();
            hosts.cut(0);
            let bound = announced + CUT + LATE;
            let last = wire.last_after(&loss, bound);
            assert!(
                last <= bound,
                "{announced:?} were announced, the last packet left after {last:?}: {:02x?}",
                wire.last()
            );
            signal(run.id(), "KILL");
            run.wait().unwrap();
            drop(agent);
        }
    });
}

/// A test of the first black box against the second, ordered from the third host.
pub(super) const BENCH: [&str; 4] = ["--test", "bench", "--active", "lab1"];

/// The bench, and its black box: both are paired with whoever drives.
pub(super) fn bench_and_box(hosts: &Hosts) -> [Black<'_>; 2] {
    hosts.join_black_boxes();
    let bench = hosts.agent(0, &["[[class]]\ntest = true\n"]);
    let active = hosts.agent(1, &[]);
    hosts.pair_driver(&bench, "bench");
    hosts.pair_driver(&active, "lab1");
    [bench, active]
}

/// CPU time of the processes of a host under test: its activities and its ends of the connections.
fn busy(bench: &Black<'_>) -> Duration {
    let times = bench.processes().into_iter().map(|process| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        // In hundredths of a second: in user mode, and in the kernel.
        fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>()
    });
    Duration::from_millis(times.sum::<u64>() * 10)
}

#[test]
fn a_reset_ends_traffic_and_load_of_a_host_under_test_within_a_second() {
    let name = "agent::ended::a_reset_ends_traffic_and_load_of_a_host_under_test_within_a_second";
    isolated(name, || {
        let hosts = Hosts::new();
        let [bench, active] = bench_and_box(&hosts);
        let wires = [0, 1].map(|host| Wire::of(&hosts, host, &["peer"]));
        let mut run = hosts.drive(SECONDS, "result", &BENCH);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| in_full_flow(&wires[1], 0));
        let loss = Loss::now();
        signal(run.id(), "KILL");
        let freed = loss.until(|| bench.workers() == 0);
        let freed_box = loss.until(|| active.workers() == 0);
        run.wait().unwrap();
        // The black box loses its conductor when the host under test has ended.
        let last = wires.each_ref().map(|wire| wire.last_after(&loss, RESET + LATE));
        assert!(freed <= RESET + LATE, "the test was there for {freed:?}");
        assert!(freed_box <= RESET + LATE, "its black box worked for {freed_box:?}");
        assert!(last.iter().all(|last| *last <= RESET + LATE), "last packets after {last:?}");
    });
}

#[test]
fn a_silent_cut_lets_a_host_under_test_begin_nothing_more_until_it_is_mended() {
    let name =
        "agent::ended::a_silent_cut_lets_a_host_under_test_begin_nothing_more_until_it_is_mended";
    isolated(name, || {
        let hosts = Hosts::new();
        let [bench, _active] = bench_and_box(&hosts);
        let wires = [0, 1].map(|host| Wire::of(&hosts, host, &["peer"]));
        let mut run = hosts.drive(SECONDS, "result", &BENCH);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| in_full_flow(&wires[1], 0));
        let loss = Loss::now();
        // Between whoever drives and the host under test; that reaches its black box all the same.
        hosts.cut(0);
        let bound = ANNOUNCED + CUT + LATE;
        let last = wires.each_ref().map(|wire| wire.last_after(&loss, bound));
        assert!(last.iter().all(|last| *last <= bound), "last packets after {last:?}");
        // Nor does an activity work, of which no packet tells.
        let before = busy(&bench);
        loss.wait_for(bound + 2 * SILENCE);
        let used = busy(&bench).saturating_sub(before);
        assert!(used < SILENCE / 4, "{used:?} of CPU time within {SILENCE:?}");
        let whole = hosts.path("result").join("result.json");
        assert!(!whole.exists(), "a result is handed over when it is whole");
        hosts.mend(0);
        let ended = ended_within(&mut run, A_LOT).expect("the test hangs");
        assert_eq!(ended.code(), Some(0));
        assert_eq!(measured(&hosts.path("result")).len(), 2 * 3);
        assert_eq!(read_json(&hosts.path("result").join("result.json"))["complete"], true);
    });
}

/// Of the breaker: its patience, and the time between two receipts.
const RECEIPTS: Duration = Duration::from_millis(3500);

/// Datagrams have no acknowledgements: whoever sends them stops by itself, whether it ordered the traffic
/// or was ordered to, long before any lease.
#[test]
fn datagrams_end_when_no_receipt_of_them_comes() {
    isolated("agent::ended::datagrams_end_when_no_receipt_of_them_comes", || {
        for (from, to, host, device) in [("here", "lab1", 2, "black0"), ("lab1", "here", 0, "lan")]
        {
            let hosts = Hosts::new();
            let _agent = hosts.lab1(&[]);
            let wire = Wire::of(&hosts, host, &[device, "lo"]);
            let datagrams = "type = \"burstq(blocksize=1 kB, period=5 ms, duration=300 s)\"";
            let text = one(from, to, &format!("{datagrams}\ntransport = \"udp\""));
            let mut run = begun(&hosts, "long", &text, &[]);
            // For longer than the breaker would wait: receipts keep it closed.
            wait_until(|| wire.packets() > 1000);
            let loss = Loss::now();
            hosts.cut(0);
            let bound = RECEIPTS + LATE;
            let last = wire.last_after(&loss, bound);
            assert!(last <= bound, "{from} to {to}: the last datagram left after {last:?}");
            signal(run.id(), "KILL");
            run.wait().unwrap();
        }
    });
}

/// How long nothing may move before a flow is given up.
const STALL: Duration = Duration::from_secs(3);

/// What carries it lives in the process that sends: with that it ends, and what nobody acknowledges is not
/// repeated for longer than anything else.
#[test]
fn traffic_over_quic_ends_by_the_same_rules() {
    isolated("agent::ended::traffic_over_quic_ends_by_the_same_rules", || {
        let stream = "type = \"full(blocksize=64 KiB, duration=300 s)\"\ntransport = \"quic\"";
        let back = one("lab1", "here", stream);
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let wire = Wire::of(&hosts, 0, &["lan"]);
        let mut run = begun(&hosts, "reset", &back, &[]);
        wait_until(|| in_full_flow(&wire, 0));
        let loss = Loss::now();
        signal(run.id(), "KILL");
        let freed = loss.until(|| agent.workers() == 0);
        let last = wire.last_after(&loss, RESET + LATE);
        run.wait().unwrap();
        assert!(freed <= RESET + LATE, "a worker was there for {freed:?}");
        assert!(last <= RESET + LATE, "the last packet left after {last:?}");
        let forth = one("here", "lab1", stream);
        for (text, host, device) in [(&forth, 2, "black0"), (&back, 0, "lan")] {
            let wire = Wire::of(&hosts, host, &[device, "lo"]);
            let mut run = begun(&hosts, &format!("cut{host}"), text, &["--stall", "3s"]);
            wait_until(|| in_full_flow(&wire, 0));
            let loss = Loss::now();
            hosts.cut(0);
            let bound = STALL + LATE;
            let last = wire.last_after(&loss, bound);
            assert!(last <= bound, "host {host}: the last packet left after {last:?}");
            signal(run.id(), "KILL");
            run.wait().unwrap();
            hosts.mend(0);
            agent.is_idle_soon();
        }
    });
}

/// Who was invited as an admin stops an agent on another host; who was not does not.
#[test]
fn an_admin_elsewhere_stops_all_work_within_a_second() {
    isolated("agent::ended::an_admin_elsewhere_stops_all_work_within_a_second", || {
        let hosts = Hosts::new();
        hosts.join_black_boxes();
        let agent = hosts.lab1(&[]);
        let invite = agent.invite_as("admin");
        hosts.btu(1).args(["pair", &invite, "--name", "lab1"]).ends_with(0);
        let ask = |host: usize, word: &str| {
            hosts.btu(host).args(["agent", word, "--agent", "lab1", "--json"]).output().unwrap()
        };
        let answer = |asked: Output| -> Value {
            assert_eq!(asked.status.code(), Some(0), "{}", said(&asked));
            serde_json::from_slice(&asked.stdout).unwrap()
        };
        let wire = Wire::of(&hosts, 0, &["lan"]);
        let mut run = run_of(&hosts, TRANSFERS, "result", &["--active", "lab1"]);
        wait_until(|| in_full_flow(&wire, 0));
        for word in ["stop-all", "resume"] {
            let refused = ask(2, word);
            assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
            assert!(
                said(&refused).contains("agent lab1: policy: only an admin"),
                "{}",
                said(&refused)
            );
        }
        assert_eq!((agent.workers(), &answer(ask(2, "status"))["stopped"]), (1, &false.into()));
        let loss = Loss::now();
        assert_eq!(answer(ask(1, "stop-all"))["stopped"], true);
        assert_eq!(agent.workers(), 0, "it answers when nobody works any more");
        let last = wire.last_after(&loss, RESET + LATE);
        assert!(last <= RESET + LATE, "the last packet left after {last:?}");
        signal(run.id(), "KILL");
        run.wait().unwrap();
        assert_eq!(answer(ask(1, "resume"))["stopped"], false);
        let unknown = hosts.btu(1).args(["agent", "stop-all", "--agent", "lab9"]).ends_with(2);
        assert!(said(&unknown).contains("--agent lab9: no agent of this name; known here: lab1"));
    });
}
