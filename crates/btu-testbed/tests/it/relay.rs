//! The relay: exact drops, nothing lost unasked, delays that add up.

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use btu_core::link::Pattern;
use btu_core::sample::DirectionSample;
use btu_sys::namespace::NetNs;
use btu_sys::packet::ReceiveForm;
use btu_sys::tcp_info::TcpInfo;
use btu_testbed::around::NEAR_PORT;
use btu_testbed::backend::Emulator;
use btu_testbed::backend::LinkPorts;
use btu_testbed::backend::Order;
use btu_testbed::backend::Settings;
use btu_testbed::backend::relay::Relay;

use crate::isolated::isolated;
use crate::traffic::near_socket;
use crate::traffic::round_trips;
use crate::traffic::tcp_at_rest;
use crate::traffic::tcp_transfer;
use crate::traffic::udp_count;
use crate::wait::wait_until;
use crate::world::World;
use crate::world::assert_nothing_unasked;
use crate::world::is_root_outside;
use crate::world::order;

const PATTERN: &str = "drop 1@200,3@400/400";
const FORMS: [ReceiveForm; 2] = [ReceiveForm::Ring, ReceiveForm::Calls];

#[test]
fn without_elements_every_byte_passes_and_nothing_is_lost() {
    isolated("relay::without_elements_every_byte_passes_and_nothing_is_lost", || {
        for form in FORMS {
            let world = World::new(form);
            world.begin(&[]);
            let (received, _) = tcp_transfer(world.ends(), 64 << 20);
            assert!(received >= 63 << 20);
            for sample in world.samples() {
                assert_nothing_unasked(&sample);
                assert!(sample.packets > 1000 || sample.direction == "down");
                assert_eq!((sample.dropped, sample.clock_steps), (0, 0));
                assert!(sample.backend.starts_with("relay/"), "{sample:?}");
            }
        }
    });
}

/// Check E3.
#[test]
fn drops_of_tcp_are_those_of_the_formula_and_explain_every_retransmission() {
    let name = "relay::drops_of_tcp_are_those_of_the_formula_and_explain_every_retransmission";
    isolated(name, || {
        let formula: Pattern = PATTERN.trim_start_matches("drop ").parse().unwrap();
        for form in FORMS {
            let world = World::new(form);
            world.begin(&[PATTERN]);
            // An ordinary user's socket loses super-packets before the relay sees them (`world.rs`).
            let sees_all = form == ReceiveForm::Ring || is_root_outside();
            let (info, samples) = tcp_at_rest(world.ends(), 32 << 20, |info| {
                let samples = world.samples();
                let [up, down] = &samples;
                // What is still on its way is not counted yet.
                let all = (info.segs_out(), info.segs_in());
                let counted = (Some(up.packets), Some(down.packets - down.dropped));
                (all == counted || !sees_all).then_some((*info, samples))
            });
            for sample in &samples {
                assert_nothing_unasked(sample);
                assert_eq!(sample.dropped, formula.count(sample.packets), "{sample:?}");
                assert_eq!(sample.pattern_drops, Some(sample.dropped));
            }
            assert!(samples[0].packets > 20_000, "{samples:?}");
            let twice = arrived_twice(world.ends().far);
            if sees_all {
                every_retransmission_is_explained(&info, &samples, twice);
            } else {
                assert!(info.total_retrans().unwrap() >= samples[0].dropped);
            }
        }
    });
}

/// A segment that is sent again either takes the place of a dropped one, or arrives twice: nothing else
/// can become of it. TCP does send some that were not missing, where acknowledgements are dropped or late:
/// a probe of the tail (RFC 8985, 7) or a timeout (RFC 6298) repeats what arrived. The receiver tells what came again
/// in an acknowledgement of its own (DSACK, RFC 2883), which may be dropped. It counts these acknowledgements, the
/// sender the segments in them: what left as one packet of many segments is told in one.
fn every_retransmission_is_explained(
    info: &TcpInfo,
    [up, down]: &[DirectionSample; 2],
    twice: u64,
) {
    let (again, lost, told) =
        (info.total_retrans().unwrap(), up.dropped, info.dsack_dups().unwrap());
    // Beside data there are the SYN and its answer, which this pattern lets pass, and window probes.
    let probes = info.segs_out().unwrap() - info.data_segs_out().unwrap() - 2;
    let seen = format!(
        "{again} again, {lost} lost, {twice} twice, {told} told, {probes} probes: {down:?}"
    );
    println!("{seen}");
    assert!(lost > 200, "{seen}");
    assert!(told >= twice - down.dropped.min(twice), "{seen}");
    let untold = MOST_SEGMENTS * down.dropped;
    assert!((lost - probes.min(lost)..=lost + untold).contains(&(again - told)), "{seen}");
}

/// Of 1448 bytes each, in one packet of 64 KiB.
const MOST_SEGMENTS: u64 = 45;

/// How often a host told, by its own account, that it got what it already had.
fn arrived_twice(host: &NetNs) -> u64 {
    let account = || std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let text = host.inside(account).unwrap();
    let mut of_tcp = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let [names, values] = [(); 2].map(|()| of_tcp.next().unwrap().split(' '));
    let of_duplicates = ["TCPDSACKOldSent", "TCPDSACKOfoSent"];
    let own = names.zip(values).filter(|(name, _)| of_duplicates.contains(name));
    own.map(|(_, value)| value.parse::<u64>().unwrap()).sum()
}

/// Check E3.
#[test]
fn dropped_datagrams_are_exactly_the_ones_at_the_patterns_positions() {
    isolated("relay::dropped_datagrams_are_exactly_the_ones_at_the_patterns_positions", || {
        for form in FORMS {
            let world = World::new(form);
            world.begin(&[PATTERN]);
            let numbers = udp_count(world.ends(), 10_000, 1000);
            let [up, _] = world.samples();
            assert_nothing_unasked(&up);
            let missing: Vec<u64> = (0..10_000_u32)
                .filter(|number| !numbers.contains(number))
                .map(|number| u64::from(number) + 1)
                .collect();
            let asked: Vec<u64> =
                up.drop_positions.iter().copied().filter(|position| *position <= 10_000).collect();
            assert_eq!(missing, asked);
            assert!((10_001..=10_100).contains(&up.packets), "{up:?}");
            assert!(numbers.is_sorted());
        }
    });
}

#[test]
fn a_delay_is_added_each_way_and_its_error_is_recorded() {
    isolated("relay::a_delay_is_added_each_way_and_its_error_is_recorded", || {
        let world = World::new(ReceiveForm::Ring);
        world.begin(&["delay 5ms"]);
        let trips = round_trips(world.ends(), 50);
        let least = trips.iter().min().unwrap();
        assert!(*least >= Duration::from_millis(10), "{least:?}");
        for sample in world.samples() {
            assert_nothing_unasked(&sample);
            assert_eq!(sample.delay_asked_us, Some(5000.0));
            let error = sample.delay_error_us.unwrap();
            assert!(error.n >= 50 && error.p50 >= 0.0 && error.max >= error.p50, "{error:?}");
        }
    });
}

#[test]
fn a_new_run_counts_from_nothing() {
    isolated("relay::a_new_run_counts_from_nothing", || {
        let world = World::new(ReceiveForm::Ring);
        world.begin(&["delay 1ms"]);
        round_trips(world.ends(), 10);
        world.begin(&[]);
        let [up, down] = world.samples();
        assert_eq!((up.packets, down.packets, up.bytes), (0, 0, 0));
        assert_eq!(up.lateness_us, None);
        round_trips(world.ends(), 10);
        let [up, down] = world.samples();
        assert_eq!((up.packets, down.packets), (10, 10));
        assert_eq!(up.bytes, 10 * 29);
    });
}

#[test]
fn a_relay_that_cannot_start_says_why() {
    isolated("relay::a_relay_that_cannot_start_says_why", || {
        let namespace = NetNs::create().unwrap();
        let ports = LinkPorts { name: "x".into(), near: "absent".into(), far: "lo".into() };
        let refused = Relay::start(&namespace, &[ports], &Settings::default()).unwrap_err();
        let causes = [refused.to_string(), refused.source().unwrap().to_string()];
        assert_eq!(causes, ["start the emulator", "look up link absent"]);
    });
}

#[test]
fn an_order_for_an_unknown_link_is_refused_by_name() {
    isolated("relay::an_order_for_an_unknown_link_is_refused_by_name", || {
        let world = World::new(ReceiveForm::Ring);
        let other = Order { link: "other".into(), ..order(&[], &[]) };
        let refused = world.relay.configure(&[other], 1).unwrap_err();
        assert_eq!(refused.to_string(), "no link has the name other");
    });
}

#[test]
fn more_than_the_memory_holds_is_refused_with_the_figures() {
    isolated("relay::more_than_the_memory_holds_is_refused_with_the_figures", || {
        let world = World::new(ReceiveForm::Ring);
        let much = ["rate 10Gbit/s queue 1ms", "delay 1s"];
        let refused = world.relay.configure(&[order(&much, &[])], 1).unwrap_err().to_string();
        assert!(refused.starts_with("link up: 10Gbit/s for 1s takes 1567"), "{refused}");
        assert!(refused.ends_with("allowed are 512MiB"), "{refused}");
    });
}

/// A command is root of its namespace, and may take a device of the link down or away.
#[test]
fn a_device_that_goes_away_is_told_and_costs_no_cpu() {
    isolated("relay::a_device_that_goes_away_is_told_and_costs_no_cpu", || {
        for form in FORMS {
            let world = World::new(form);
            world.begin(&[]);
            ip(world.around.near(), "link set btu1 down");
            ip(world.around.near(), "link set btu1 up");
            for sample in nearly_idle(&world, 0.5) {
                assert_eq!(sample.device_gone, None);
            }
            ip(world.around.near(), "link del btu1");
            for sample in nearly_idle(&world, 1.0) {
                // With a device of a pair the other goes, too.
                assert_eq!(sample.device_gone.as_deref(), Some(NEAR_PORT), "{sample:?}");
            }
        }
    });
}

/// The records once the run has lasted so long, in which the thread had little to do: one that waits for a
/// device that only has an error to report would never sleep.
fn nearly_idle(world: &World, seconds: f64) -> [DirectionSample; 2] {
    wait_until("the run lasts", || world.samples()[0].elapsed_ns.seconds() >= seconds);
    let samples = world.samples();
    for sample in &samples {
        let used = sample.thread_cpu_ns.unwrap().seconds() / sample.elapsed_ns.seconds();
        assert!(used < 0.3, "{used}: {sample:?}");
    }
    samples
}

#[test]
fn a_send_that_fails_is_counted_once() {
    isolated("relay::a_send_that_fails_is_counted_once", || {
        for form in FORMS {
            let world = World::new(form);
            world.begin(&[]);
            ip(world.around.far(), "link set btu1far down");
            let (ends, socket) = (world.ends(), near_socket(world.ends()));
            for _ in 0..5 {
                socket.send_to(b"nobody is there", (ends.address, 9)).unwrap();
            }
            wait_until("five packets are seen", || world.samples()[0].packets >= 5);
            let [up, _] = world.samples();
            assert_eq!(up.send_errors, up.packets, "{up:?}");
        }
    });
}

/// Runs `ip` of iproute2 in a namespace.
fn ip(namespace: &NetNs, words: &str) {
    let asked = || Command::new("ip").args(words.split(' ')).output();
    let said = namespace.inside(asked).unwrap().expect("ip of iproute2 is installed");
    assert!(said.status.success(), "ip {words}: {}", String::from_utf8_lossy(&said.stderr));
}
