//! The local testbed: two paths to each black box, and an emulator that touches one of them only.

use std::net::IpAddr;
use std::time::Duration;

use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::role::Role;
use btu_sys::netlink::Netlink;
use btu_testbed::capture::Capture;
use btu_testbed::capture::End;
use btu_testbed::local::BlackBoxes;
use btu_testbed::local::LocalConfig;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path;

use crate::isolated::isolated;
use crate::traffic::Ends;
use crate::traffic::round_trips;
use crate::traffic::tcp_transfer;
use crate::world::assert_nothing_unasked;

const BLACK_BOXES: [Role; 2] = [Role::Active, Role::Passive];
const MIB: usize = 1 << 20;

fn testbed() -> LocalTestbed {
    LocalTestbed::new(&LocalConfig::default()).unwrap()
}

/// Runs `work` between the test host and a black box over one of the paths.
fn between<T>(
    testbed: &LocalTestbed,
    peer: Role,
    path: Path,
    work: impl FnOnce(Ends<'_>) -> T,
) -> T {
    let (near, far) = (testbed.net(Role::Test), testbed.net(peer));
    let address: IpAddr = testbed.address(peer, path);
    work(Ends { near: &near, far: &far, address })
}

/// Check E11.
#[test]
fn no_packet_to_a_direct_address_reaches_the_emulator() {
    isolated("local::no_packet_to_a_direct_address_reaches_the_emulator", || {
        let testbed = testbed();
        testbed.impair(&[], 1).unwrap();
        for peer in BLACK_BOXES {
            let received =
                between(&testbed, peer, Path::Direct, |ends| tcp_transfer(ends, 16 * MIB).0);
            assert!(received > 15 * MIB);
        }
        let seen: u64 = testbed.emulation().unwrap().iter().map(|sample| sample.packets).sum();
        assert_eq!(seen, 0);
        between(&testbed, Role::Active, Path::Emulated, |ends| round_trips(ends, 5));
        let samples = testbed.emulation().unwrap();
        let seen: Vec<u64> = samples.iter().map(|sample| sample.packets).collect();
        assert_eq!(seen, [5, 5, 0, 0], "{samples:?}");
    });
}

/// Payload of every packet that an end sent.
fn payload_from(capture: &Capture, end: End) -> u64 {
    let sent = capture.records().iter().filter(|record| record.from == end);
    sent.map(|record| u64::from(record.payload)).sum()
}

#[test]
fn what_passes_is_recorded_on_either_path_with_its_headers_alone() {
    isolated("local::what_passes_is_recorded_on_either_path_with_its_headers_alone", || {
        let testbed = testbed();
        testbed.impair(&[], 1).unwrap();
        for path in [Path::Direct, Path::Emulated] {
            let recording = testbed.record(&[Role::Active], path, 100_000).unwrap();
            let sent = between(&testbed, Role::Active, path, |ends| tcp_transfer(ends, 4 * MIB).0);
            between(&testbed, Role::Passive, path, |ends| round_trips(ends, 5));
            let captures = recording.finish().unwrap();
            let links: Vec<&str> = captures.iter().map(|one| one.link.as_str()).collect();
            assert_eq!((links, captures[0].lost), (vec!["test-active"], 0), "{path:?}");
            let payload = payload_from(&captures[0], End::Near);
            assert!(payload >= u64::try_from(sent).unwrap(), "{path:?}: {payload} of {sent}");
            let from_far = payload_from(&captures[0], End::Far);
            assert!(from_far < 100, "{path:?}: a few bytes of answer, and acknowledgements");
            let records = captures[0].records();
            assert!(records.iter().any(|record| record.from == End::Far), "{path:?}");
            let kept = |record| captures[0].headers(record).len();
            // Ethernet, IPv4 and at the most 60 bytes of TCP: a repair on the way carries SACK blocks.
            assert!(records.iter().map(kept).all(|kept| (54..=94).contains(&kept)), "{path:?}");
            assert!(captures[0].seen_by(End::Far).iter().is_sorted_by_key(|seen| seen.at));
        }
    });
}

#[test]
fn black_boxes_receive_with_an_open_window_and_the_test_host_as_the_system_does() {
    isolated(
        "local::black_boxes_receive_with_an_open_window_and_the_test_host_as_the_system_does",
        || {
            let testbed = testbed();
            let sizes = |role| -> Vec<u64> {
                let read = || btu_sys::sysctl::read("net.ipv4.tcp_rmem").unwrap();
                let found = testbed.net(role).inside(read).unwrap();
                found.split_whitespace().map(|size| size.parse().unwrap()).collect()
            };
            let own = sizes(Role::Test);
            for role in BLACK_BOXES {
                let open = sizes(role);
                assert_eq!([open[0], open[2]], [own[0], own[2]], "{role}");
                assert!(open[1] >= own[1] && open[1] >= own[2].min(6 << 20), "{open:?}");
            }
        },
    );
}

#[test]
fn each_link_delays_its_own_packets_only() {
    isolated("local::each_link_delays_its_own_packets_only", || {
        let testbed = testbed();
        let delay = ChainSpec::as_given(&["delay 20ms"], &Reader::PLAN).unwrap();
        testbed.impair(&[(Role::Active, delay.clone(), delay)], 1).unwrap();
        let least = |peer| {
            between(&testbed, peer, Path::Emulated, |ends| round_trips(ends, 20))
                .into_iter()
                .min()
                .unwrap()
        };
        let both_ways = Duration::from_millis(40);
        assert!(least(Role::Active) >= both_ways);
        assert!(least(Role::Passive) < both_ways);
    });
}

#[test]
fn black_boxes_are_joined_where_that_is_asked_for_and_as_each_is_with_the_test_host() {
    isolated(
        "local::black_boxes_are_joined_where_that_is_asked_for_and_as_each_is_with_the_test_host",
        || {
            let [there, back] = [(Role::Active, Role::Passive), (Role::Passive, Role::Active)];
            let apart = testbed();
            assert_eq!(apart.address_from(Role::Active, Role::Passive, Path::Direct), None);
            let joined = LocalConfig { black_boxes: BlackBoxes::Joined, ..LocalConfig::default() };
            let testbed = LocalTestbed::new(&joined).unwrap();
            let least = |(from, to), path| {
                let (near, far) = (testbed.net(from), testbed.net(to));
                let address = testbed.address_from(from, to, path).unwrap();
                let times = round_trips(Ends { near: &near, far: &far, address }, 20);
                times.into_iter().min().unwrap()
            };
            let delays = ["delay 20ms", "delay 10ms"];
            let [up, down] =
                delays.map(|text| ChainSpec::as_given(&[text], &Reader::PLAN).unwrap());
            testbed.impair_all(&up, &down, 1).unwrap();
            let both_ways = Duration::from_millis(30);
            for way in [there, back] {
                assert!(least(way, Path::Direct) < both_ways, "{way:?}");
            }
            let seen = |link: &str| -> Vec<(String, u64)> {
                let all = testbed.emulation().unwrap().into_iter().filter(|one| one.link == link);
                all.map(|one| (one.direction, one.packets)).collect()
            };
            assert!(seen("active-passive").iter().all(|(_, packets)| *packets == 0));
            for way in [there, back, (Role::Test, Role::Passive)] {
                assert!(least(way, Path::Emulated) >= both_ways, "{way:?}");
            }
            let counted = |packets| vec![("up".to_owned(), packets), ("down".to_owned(), packets)];
            assert_eq!(seen("active-passive"), counted(40));
            assert_eq!(seen("test-passive"), counted(20));
            assert_eq!(seen("test-active"), counted(0));
        },
    );
}

/// Check E4: at full speed through the emulator nothing is lost that was not asked for. The ratio to
/// the direct path has a generous bound; `cargo xtask bench emulator` measures it properly.
#[test]
fn full_speed_loses_nothing_and_is_no_trickle() {
    isolated("local::full_speed_loses_nothing_and_is_no_trickle", || {
        let testbed = testbed();
        let mut best = [Duration::MAX; 2];
        for _ in 0..3 {
            for (path, best) in [Path::Direct, Path::Emulated].into_iter().zip(&mut best) {
                testbed.impair(&[], 1).unwrap();
                let (received, time) =
                    between(&testbed, Role::Active, path, |ends| tcp_transfer(ends, 64 * MIB));
                assert!(received > 63 * MIB);
                *best = time.min(*best);
                testbed.emulation().unwrap().iter().for_each(assert_nothing_unasked);
            }
        }
        let ratio = best[0].as_secs_f64() / best[1].as_secs_f64();
        let least = if cfg!(debug_assertions) { 0.05 } else { 0.2 };
        println!("emulated over direct: {ratio:.2}, direct {:?} for 64 MiB", best[0]);
        assert!(ratio >= least, "emulated path at {ratio:.2} of the direct one");
    });
}

/// Check E4.
#[test]
fn a_delayed_transfer_at_full_speed_loses_nothing() {
    isolated("local::a_delayed_transfer_at_full_speed_loses_nothing", || {
        let testbed = testbed();
        let delay = ChainSpec::as_given(&["delay 5ms"], &Reader::PLAN).unwrap();
        testbed.impair(&[(Role::Active, delay.clone(), delay)], 1).unwrap();
        let (received, _) =
            between(&testbed, Role::Active, Path::Emulated, |ends| tcp_transfer(ends, 32 * MIB));
        assert!(received > 31 * MIB);
        testbed.emulation().unwrap().iter().for_each(assert_nothing_unasked);
    });
}

/// A super-packet counts once, so the length of packets tells who cuts them.
#[test]
fn without_offload_tcp_cuts_its_own_segments() {
    isolated("local::without_offload_tcp_cuts_its_own_segments", || {
        let testbed = testbed();
        let sent = || {
            let mut netlink = Netlink::open(&testbed.net(Role::Test)).unwrap();
            netlink.link("active0").unwrap().counters
        };
        let mean_length = |on| {
            testbed.set_offload(Role::Active, on).unwrap();
            let before = sent();
            let right =
                between(&testbed, Role::Active, Path::Direct, |ends| tcp_transfer(ends, 8 * MIB).0);
            assert!(right > 7 * MIB);
            let after = sent();
            (after.tx_bytes - before.tx_bytes) / (after.tx_packets - before.tx_packets)
        };
        let [with, without, again] = [true, false, true].map(mean_length);
        assert!(without <= 1514, "{without} bytes a packet");
        assert!(with > 2 * 1514 && again > 2 * 1514, "{with}, {again} bytes a packet");
        testbed.set_mtu(Role::Active, Some(1280)).unwrap();
        let small = mean_length(false);
        assert!(small <= 1294, "{small} bytes a packet");
        testbed.set_mtu(Role::Active, None).unwrap();
        let large = mean_length(false);
        assert!((1295..=1514).contains(&large), "{large} bytes a packet");
    });
}
