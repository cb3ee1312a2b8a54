//! What every transport of the ping-pong has to do, held against each entry of the registry.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::pingpong::configuration::Cache;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::sample::Early;
use btu_core::pingpong::sample::Ended;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::sample::VisitSample;
use btu_core::pingpong::schedule::Limit;
use btu_core::pingpong::schedule::Visit;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::pingpong::Opening;
use btu_engine::pingpong::Plant;
use btu_engine::pingpong::Session;
use btu_engine::pingpong::transport;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_engine::pingpong::transport::Transport;
use btu_sys::socket::Settings;

/// The transports that this machine has.
fn present() -> Vec<&'static dyn Transport> {
    let there = |transport: &&'static dyn Transport| match transport.available() {
        Ok(()) => true,
        Err(reason) => {
            let (name, reason) = (transport.name(), reason.sentence());
            let kind = match name {
                "raw" | "xdp" if !btu_sys::namespace::is_privileged() => "not root",
                _ if reason.starts_with("this build") => "not built",
                _ => "kernel lacks",
            };
            crate::skip::record(&format!("{kind}: {name}: {reason}"));
            false
        }
    };
    TRANSPORTS.iter().copied().filter(there).collect()
}

/// Calls `check` with each transport that this machine has.
fn each(check: impl Fn(&'static dyn Transport)) {
    present().into_iter().for_each(check);
}

/// The same in a thread for each, where most of the time nothing happens.
fn each_at_once(check: impl Fn(&'static dyn Transport) + Sync) {
    std::thread::scope(|scope| {
        for transport in present() {
            let check = &check;
            scope.spawn(move || check(transport));
        }
    });
}

/// A host on loopback.
pub(crate) fn party(role: Role) -> Party {
    Party {
        place: Place::here(role),
        address: IpAddr::from([127, 0, 0, 1]),
        sockets: Settings::default(),
    }
}

/// Over loopback, or over a link of its own for a transport that cannot do without one; threads
/// wherever the scheduler likes, since one CPU must do.
pub(crate) fn opening(transport: &'static dyn Transport, wanted: Configuration) -> Opening {
    let mut wanted = wanted;
    transport.name().clone_into(&mut wanted.transport);
    let [near, far] = match transport.name() {
        "xdp" => crate::veth::hosts(),
        _ => [party(Role::Test), party(Role::Active)],
    };
    let mut opening = Opening::new(transport, wanted, near, far);
    opening.patience = Nanos::from_secs(60);
    opening
}

pub(crate) fn free() -> Configuration {
    Configuration { placement: Placement::Free, ..Configuration::new("any") }
}

/// A visit of so many exchanges of `size` bytes.
pub(crate) fn visit(size: u64, units: u32) -> Visit {
    Visit::single(Bytes::new(size), units, Nanos::from_secs(60))
}

/// The sizes that have gone wrong somewhere, as far as the transport has them.
fn sizes(transport: &dyn Transport) -> Vec<u64> {
    let largest = transport.largest().count();
    let all = (0..=20).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    let all = all.chain([16, 17, 1448, 1460, 1463, 1464, 65_483, 65_507, largest]);
    let mut sizes: Vec<u64> =
        all.filter(|size| (1..=largest.min(1 << 20)).contains(size)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

pub(crate) fn complete(sample: &VisitSample) -> bool {
    sample.ended == Ended::Complete
}

/// Visits of a new session, one after the other.
fn visits(opening: &Opening, visits: impl IntoIterator<Item = Visit>) -> Vec<VisitSample> {
    let mut session = Session::open(opening).unwrap_or_else(|fault| {
        panic!("{}: {}", opening.transport.name(), fault.sentence());
    });
    visits.into_iter().map(|visit| session.visit(&visit)).collect()
}

#[test]
fn names_of_ping_pong_transports_are_unique_and_lead_back() {
    for transport in TRANSPORTS {
        let found = transport::by_name(transport.name()).unwrap();
        assert_eq!(found.about(), transport.about());
        assert!(transport.largest() >= Bytes::new(65_507), "{}", transport.name());
        assert!(transport.properties().waits.contains(&Wait::Block));
    }
    assert!(transport::by_name("carrier pigeon").is_none());
}

#[test]
fn every_byte_of_every_size_comes_back_right_and_in_order() {
    each(|transport| {
        let wanted = Configuration { verify: true, ..free() };
        let all = sizes(transport).into_iter().map(|size| visit(size, 4));
        for sample in visits(&opening(transport, wanted), all) {
            assert!(complete(&sample), "{} {:?}", transport.name(), sample);
            assert!(sample.times.is_empty(), "a checked pass has no times");
        }
    });
}

/// The largest size of the default sweep, off every boundary: out of the cache, in thousands of packets.
#[test]
fn eight_mebibytes_and_three_come_back_right_where_a_transport_carries_them() {
    let size = (8 << 20) + 3;
    each(|transport| {
        if transport.largest() < Bytes::new(size) {
            return;
        }
        let wanted = Configuration { verify: true, ..free() };
        let samples = visits(&opening(transport, wanted), [visit(size, 1)]);
        assert!(complete(&samples[0]), "{} {:?}", transport.name(), samples[0].ended);
        assert_eq!(samples[0].verified, 1, "{}", transport.name());
    });
}

#[test]
fn every_way_to_wait_and_to_exchange_gives_all_its_times() {
    each(|transport| {
        for wait in transport.properties().waits {
            for mode in [Mode::PingPong, Mode::Streaming, Mode::Bidirectional] {
                let wanted = Configuration { mode, wait: *wait, ..free() };
                let opening = opening(transport, wanted);
                let largest = transport.largest().count();
                let all = [1, 100, 5_000, 65_507, 300_000].into_iter().filter(|n| *n <= largest);
                let mut session = match Session::open(&opening) {
                    Ok(session) => session,
                    Err(fault) => {
                        crate::skip::record(&reason(transport, *wait, &fault.sentence()));
                        continue;
                    }
                };
                let polls_nothing = *wait == Wait::BusyPoll;
                assert_eq!(session.remarks().len(), usize::from(polls_nothing));
                for size in all {
                    let mut one = visit(size, 5);
                    (one.warm_up, one.batch) = (2, 7);
                    let sample = session.visit(&one);
                    let name = transport.name();
                    assert!(complete(&sample), "{name} {wait} {mode} {sample:?}");
                    assert_eq!((sample.times.n, sample.times.exchanges()), (5, 35), "{name}");
                    assert!(sample.times.min_ns > Nanos::ZERO);
                }
            }
        }
    });
}

/// Each transport that this machine has is tried by the tests here; that none is lost without a word,
/// the kernel's own lists say which must be there for root.
#[test]
fn root_has_every_transport_that_the_kernel_names() {
    if !btu_sys::namespace::is_privileged() {
        skip!("not root: which transports must be there is known for root alone");
    }
    let protocols = std::fs::read_to_string("/proc/net/protocols").unwrap();
    let named = |protocol: &str| {
        protocols.lines().any(|line| line.split_whitespace().next() == Some(protocol))
    };
    let allowed = |switch: &str, value: &str| {
        std::fs::read_to_string(switch).is_ok_and(|text| text.trim() == value)
    };
    let mut wanted = vec!["tcp", "udp", "unix", "seqpacket", "shm"];
    wanted.extend(named("PACKET").then_some("raw"));
    wanted.extend(named("XDP").then_some("xdp"));
    wanted.extend((named("MPTCP") && allowed(MPTCP, "1")).then_some("mptcp"));
    wanted.extend(allowed(IO_URING, "0").then_some("uring"));
    for name in wanted {
        let Err(fault) = transport::by_name(name).unwrap().available() else { continue };
        let said = format!("{name}: {}", fault.sentence());
        assert!(is_refusal(&fault) && is_confined(), "{said}");
        crate::skip::record(&format!("kernel lacks: this container forbids {said}"));
    }
}

/// The kernel said that it is not permitted.
fn is_refusal(fault: &EngineError) -> bool {
    let EngineError::System(cause) = fault else { return false };
    cause.kind() == std::io::ErrorKind::PermissionDenied
}

/// A root that may not do everything: a filter of system calls, or a capability of the kernel's that it
/// lacks (`proc_pid_status(5)`).
fn is_confined() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let held = u64::from_str_radix(field("CapEff:").unwrap(), 16).unwrap();
    let last = std::fs::read_to_string("/proc/sys/kernel/cap_last_cap").unwrap();
    let known = last.trim().parse::<u32>().unwrap() + 1;
    field("Seccomp:").is_some_and(|mode| mode != "0") || held.count_ones() < known
}

const MPTCP: &str = "/proc/sys/net/mptcp/enabled";
const IO_URING: &str = "/proc/sys/kernel/io_uring_disabled";

/// The kind of a skip for a way to wait that this machine or this user does not have.
fn reason(transport: &dyn Transport, wait: Wait, why: &str) -> String {
    let kind = match wait {
        Wait::BusyPoll => "not root",
        _ => "too few CPUs",
    };
    format!("{kind}: {} {wait}: {why}", transport.name())
}

/// A message has to fit its send buffer, which the kernel bounds.
#[test]
fn the_largest_message_follows_the_send_buffer() {
    let messages = transport::by_name("seqpacket").unwrap();
    let with = |asked| Configuration { send_buffer_bytes: Some(Bytes::new(asked)), ..free() };
    assert!(messages.largest_with(&with(1 << 30)) < Bytes::new(1 << 20));
    for asked in [8_192, 65_536] {
        let wanted = with(asked);
        let largest = messages.largest_with(&wanted).count();
        assert!(largest < 2 * asked, "{largest} of {asked}");
        for sample in visits(&opening(messages, wanted), [visit(largest, 3), visit(1, 3)]) {
            assert!(complete(&sample), "{asked}: {sample:?}");
        }
    }
}

#[test]
fn cold_blocks_and_odd_offsets_travel_as_well() {
    let tcp = transport::by_name("tcp").unwrap();
    let wanted = Configuration {
        cache: Cache::Cold,
        send_offset_bytes: Bytes::new(1),
        receive_offset_bytes: Bytes::new(2048),
        ..free()
    };
    for sample in visits(&opening(tcp, wanted), [3, 70_000, 64].map(|size| visit(size, 10))) {
        assert!(complete(&sample) && sample.times.n == 10, "{sample:?}");
    }
}

/// What a far end can do wrong, and as what it must be known.
pub(crate) const PLANTS: [(Plant, Fault); 6] = [
    (Plant::Close, Fault::PeerGone),
    (Plant::Corrupt, Fault::Corrupted),
    (Plant::Duplicate, Fault::Duplicated),
    (Plant::Late, Fault::Late),
    (Plant::Short, Fault::Short),
    (Plant::Silence, Fault::Stalled),
];

#[test]
fn a_planted_fault_is_caught_and_named() {
    each_at_once(|transport| {
        for (plant, fault) in PLANTS {
            let mut opening = opening(transport, Configuration { verify: true, ..free() });
            opening.plant = Some(plant);
            let mut one = visit(2_000, 20);
            if met_by_cap(transport, plant) {
                (opening.patience, one.limit.time) = (Nanos::from_secs(1), Nanos::ZERO);
            }
            let mut session = Session::open(&opening).unwrap();
            let sample = session.visit(&one);
            let name = transport.name();
            let Ended::Failed { fault: found, detail } = &sample.ended else {
                panic!("{name}: {plant:?} went unseen: {sample:?}");
            };
            let found = named_by_loss(transport, plant, *found);
            assert_eq!(found, fault, "{name}: {plant:?}: {detail}");
            assert_within(&sample, &one, opening.patience);
            assert!(session.is_broken());
            let Ended::Failed { detail, .. } = session.visit(&one).ended else { panic!("{name}") };
            assert_eq!(detail, "the connection ended in an earlier visit");
        }
    });
}

/// In a timed run the first round is whole; in the second one the peer dies, falls silent or sends too little,
/// whatever an exchange is.
#[test]
fn a_peer_that_breaks_off_a_timed_visit_ends_it_within_its_cap() {
    each_at_once(|transport| {
        for plant in [Plant::Close, Plant::Short, Plant::Silence] {
            for mode in [Mode::PingPong, Mode::Streaming, Mode::Bidirectional] {
                let mut opening = opening(transport, Configuration { mode, ..free() });
                opening.plant = Some(plant);
                opening.patience = Nanos::from_secs(1);
                let mut session = Session::open(&opening).unwrap();
                let mut one = visit(2_000, 20);
                one.limit.time = Nanos::ZERO;
                let name = transport.name();
                let first = session.visit(&Visit { round: 1, ..one.clone() });
                assert!(first.counts(), "{name} {mode} {plant:?}: {first:?}");
                let second = session.visit(&Visit { round: 2, ..one.clone() });
                assert!(!second.counts(), "{name} {mode} {plant:?}: {second:?}");
                assert_within(&second, &one, opening.patience);
                assert!(session.is_broken());
            }
        }
    });
}

/// No visit outlasts its cap, but for what two ends may take to notice.
pub(crate) fn assert_within(sample: &VisitSample, of: &Visit, patience: Nanos) {
    let cap = of.limit.time.saturating_add(patience);
    assert!(sample.elapsed_ns <= cap.saturating_add(GRACE), "{sample:?}");
}

/// True for a fault that nothing but the cap ends: the peer says nothing more.
pub(crate) fn met_by_cap(transport: &dyn Transport, plant: Plant) -> bool {
    let is_silent = plant == Plant::Close && !transport.properties().reliable;
    is_silent || matches!(plant, Plant::Short | Plant::Silence)
}

/// What the two ends may take to notice that their connection was ended, two seconds each, on a machine
/// that gives them a small share of its time; an end that waits for nobody takes for ever.
const GRACE: Nanos = Nanos::from_secs(30);

/// Datagrams have no connection that could end: a peer that closes is one that says nothing more,
/// unless the kernel refuses for it.
pub(crate) fn named_by_loss(transport: &dyn Transport, plant: Plant, found: Fault) -> Fault {
    let is_datagram = !transport.properties().reliable;
    match (plant, found) {
        (Plant::Close, Fault::Stalled) if is_datagram => Fault::PeerGone,
        _ => found,
    }
}

#[test]
fn a_visit_ends_at_its_time_and_the_next_one_goes_on() {
    each(|transport| {
        let mut session = Session::open(&opening(transport, free())).unwrap();
        let mut one = visit(64, 1_000_000);
        one.limit.time = Nanos::from_millis(5);
        let sample = session.visit(&one);
        assert_eq!(sample.ended, Ended::Early { cause: Early::TimeCap }, "{}", transport.name());
        assert!(sample.times.n > 0 && sample.counts());
        one.limit = Limit { slow_above: Some(Nanos::new(1)), ..visit(1, 1).limit };
        let sample = session.visit(&one);
        assert_eq!(sample.ended, Ended::Early { cause: Early::Slow });
        assert_eq!(sample.times.n, 3);
        assert!(complete(&session.visit(&visit(64, 10))));
    });
}

#[test]
fn nobody_waits_for_a_session_that_is_not_wanted_any_more() {
    each(|transport| {
        let opening = opening(transport, free());
        let mut session = Session::open(&opening).unwrap();
        let cancel = Arc::clone(&opening.cancel);
        let stopper = std::thread::spawn(move || cancel.store(true, Relaxed));
        let sample = session.visit(&visit(64, 4_000_000));
        stopper.join().unwrap();
        let Ended::Failed { detail, .. } = sample.ended else { panic!("{}", transport.name()) };
        assert_eq!(detail, "interrupted");
    });
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let refused = |name, wanted| {
        Session::open(&opening(transport::by_name(name).unwrap(), wanted)).unwrap_err().sentence()
    };
    let epoll = Configuration { wait: Wait::Epoll, ..free() };
    assert_eq!(refused("shm", epoll), "shm: has no wait \"epoll\"");
    let same = Configuration { wait: Wait::Spin, placement: Placement::Same, ..free() };
    assert!(refused("tcp", same).starts_with("two ends that spin on one CPU"));
    let two = btu_core::pingpong::configuration::Writes::HeaderFirst(Bytes::new(16));
    let wanted = Configuration { writes: two, ..free() };
    assert_eq!(refused("udp", wanted), "udp: two writes would be two messages");
}

#[test]
fn options_are_read_back_with_the_first_visit() {
    let wanted = Configuration {
        send_buffer_bytes: Some(Bytes::new(32_768)),
        max_segment_bytes: Some(Bytes::new(500)),
        ..free()
    };
    let tcp = transport::by_name("tcp").unwrap();
    let samples = visits(&opening(tcp, wanted), [visit(1, 1), visit(1, 1)]);
    let options = samples[0].options.as_ref().unwrap();
    assert_eq!((options.send_buffer_bytes, options.mss_bytes), (Some(65_536), Some(488)));
    assert_eq!(options.nodelay, Some(true));
    assert!(samples[1].options.is_none());
}

/// The receive buffer holds two packets or so, while the answer to the last block of a visit is many:
/// they are sent again after the visit, by an end that nobody asks for anything.
#[test]
fn what_a_quic_socket_loses_is_sent_again_also_between_visits() {
    let quic = transport::by_name("quic").unwrap();
    if let Err(reason) = quic.available() {
        skip!("not built: quic: {}", reason.sentence());
    }
    let wanted = Configuration { receive_buffer_bytes: Some(Bytes::new(4_096)), ..free() };
    for sample in visits(&opening(quic, wanted), [100_000, 1, 100_000].map(|n| visit(n, 3))) {
        assert!(complete(&sample), "{sample:?}");
    }
}

/// The kernel holds both ends to 2 MB/s, but for their first ten segments of up to 64 KiB: a block of 2 MiB there and back
/// takes 1.4 s at the least, the patience is a quarter of that.
#[test]
fn a_slow_path_is_no_silent_peer() {
    for name in ["tcp", "tls"] {
        let transport = transport::by_name(name).unwrap();
        if let Err(reason) = transport.available() {
            skip!("not built: {name}: {}", reason.sentence());
        }
        let mut opening = opening(transport, free());
        for party in [&mut opening.near, &mut opening.far] {
            party.sockets.pacing_byte_s = Some(2_000_000);
        }
        opening.patience = Nanos::from_millis(350);
        let mut slow = visit(2 << 20, 1);
        slow.limit.time = Nanos::ZERO;
        let sample = Session::open(&opening).unwrap().visit(&slow);
        assert_eq!(sample.ended, Ended::Complete, "{name}");
        assert!(sample.times.min_ns > opening.patience * 2, "{name}: {:?}", sample.times);
    }
}

/// One exchange that takes longer than any other shall is enough to warm up.
#[test]
fn a_block_that_takes_too_long_warms_nothing_up_again() {
    let tcp = transport::by_name("tcp").unwrap();
    let answered = |longest| {
        let mut opening = opening(tcp, free());
        opening.configuration.verify = false;
        let mut one = Visit { warm_up: 40, ..visit(64 << 10, 1) };
        one.limit.longest = longest;
        let sample = Session::open(&opening).unwrap().visit(&one);
        assert!(complete(&sample), "{sample:?}");
        sample.elapsed_ns.seconds() / sample.times.min_ns.seconds()
    };
    assert!(answered(Nanos::ZERO) < 20.0 && answered(Nanos::MAX) > 20.0);
}

#[test]
fn a_far_end_that_nobody_meets_gives_up() {
    let udp = transport::by_name("udp").unwrap();
    let mut opening = opening(udp, free());
    opening.patience = Nanos::from(Duration::from_millis(20));
    // An address that is not of this machine: nobody can listen there.
    opening.far.address = IpAddr::from([192, 0, 2, 1]);
    let fault = Session::open(&opening).unwrap_err().sentence();
    assert!(fault.starts_with("bind 192.0.2.1:0"), "{fault}");
}
