//! Scenarios become flows with places, draws and bounds.

use btu_core::traffic::Block;

use super::super::joined::Joined;
use super::offers::DRAWN_SIZES;
use super::*;
use crate::traffic::remote::peers::Apart;

#[test]
fn the_place_of_a_role_is_its_place_among_all() {
    for (at, role) in Role::ALL.into_iter().enumerate() {
        assert_eq!(place(role), at);
    }
    for transport in Transport::ALL {
        let protocol = Protocol { transport, ..Protocol::default() };
        assert_eq!(carrier(&protocol).transport(), transport);
    }
    let window = Protocol { window: Some(Bytes::new(65_536)), ..Protocol::default() };
    let Carrier::Tcp(settings) = carrier(&window) else { unreachable!("tcp is tcp") };
    assert_eq!((settings.send_buffer, settings.receive_buffer), (Some(65_536), Some(65_536)));
}
/// What an agent draws of a test that it is told.
fn drawn(traffic: &str, sessions: u32, most_blocks: usize) -> Result<Cast, Failure> {
    let test = format!("path = \"test -> active\"\ntype = \"{traffic}\"\n");
    let told = scenario::told(&format!("[[cluster]]\n[[cluster.test]]\n{test}")).unwrap();
    let Block::Cluster(cluster) = &told.run else { unreachable!("one cluster") };
    let until = Until { patience: Nanos::ZERO, cancel: Arc::default(), most_blocks };
    flows(cluster, sessions, 7, &Apart, &until)
}

/// Sessions of 3GPP's pages have an MTU each, 24 % of them the small one: within four deviations of a binomial share. What
/// is written wins, and other models leave it to the transport.
#[test]
fn a_conversation_has_the_segments_of_its_source_unless_others_are_written() {
    let segments = |test: &str| -> Vec<Option<u32>> {
        let told = format!("[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\n{test}");
        let told = scenario::told(&told).unwrap();
        let Block::Cluster(cluster) = &told.run else { unreachable!("one cluster") };
        let most_blocks = usize::MAX;
        let until = Until { patience: Nanos::ZERO, cancel: Arc::default(), most_blocks };
        let cast = flows(cluster, 400, 7, &Apart, &until).unwrap();
        cast.talks.iter().map(|talk| talk.dialogue.settings.max_segment).collect()
    };
    let found = segments("type = \"www-3gpp(duration=1 s)\"");
    let of = |size| found.iter().filter(|found| **found == Some(size)).count();
    assert_eq!((found.len(), of(1460) + of(536)), (400, 400));
    assert!((62..=130).contains(&of(536)), "{} of 400", of(536));
    let written = "type = \"www-3gpp(duration=1 s)\"\ntransport = \"tcp(mss=1000 B)\"";
    assert_eq!(segments(written), [Some(1000); 400]);
    assert_eq!(segments("type = \"web-h2(duration=1 s)\""), [None; 400]);
}

/// Between hosts nothing carries the reports that it follows; on the local testbed it takes memory for its packets.
#[test]
fn media_are_refused_between_hosts_and_counted_on_one() {
    let sent = |arguments: &str, layout: &dyn Layout, most_blocks| {
        let path = "path = \"test -> active\"\ntransport = \"udp\"";
        let test = format!("{path}\ntype = \"webrtc({arguments})\"");
        let told = scenario::told(&format!("[[cluster]]\n[[cluster.test]]\n{test}\n")).unwrap();
        let Block::Cluster(cluster) = &told.run else { unreachable!("one cluster") };
        let until = Until { patience: Nanos::ZERO, cancel: Arc::default(), most_blocks };
        flows(cluster, 2, 7, layout, &until)
    };
    let cast = |layout: &dyn Layout, most_blocks| sent("duration=1 s", layout, most_blocks);
    let refused = cast(&Apart, 1 << 20).unwrap_err();
    let reason =
        "webrtc follows reports, which are carried between hosts of the local testbed alone";
    assert!(refused.cause.to_string().ends_with(reason), "{:#}", refused.cause);
    let found = cast(&Joined, 1 << 20).unwrap();
    assert_eq!((found.media.len(), found.flows.len(), found.media[1].said.session), (2, 0, 2));
    // Of 2.5 Mb/s 260 packets of 1200 bytes, two more for each of 30 frames, and 50 of speech.
    assert_eq!(found.blocks(), 2 * (260 + 60 + 50 + OF_A_FLOW));
    assert!(cast(&Joined, found.blocks()).is_ok() && cast(&Joined, found.blocks() - 1).is_err());
    let refused = sent("rate=1 Gbit/s, duration=60 s", &Joined, usize::MAX).unwrap_err();
    let reason = ": more than 4000000 packets in 60s";
    assert!(refused.cause.to_string().ends_with(reason), "{:#}", refused.cause);
}

#[test]
fn flows_are_bounded_by_what_they_take_and_not_by_what_is_due() {
    for (traffic, each) in [
        ("full(blocksize=16 KiB, duration=1 s)", 1 + OF_A_FLOW),
        ("full(blocksize=exp(16 kB), duration=1 s)", DRAWN_SIZES + OF_A_FLOW),
        ("burstq(blocksize=1 kB, period=10 ms, duration=1 s)", 100 + OF_A_FLOW),
        ("telnet(duration=1 s)", OF_A_FLOW),
    ] {
        let cast = drawn(traffic, 4, 4 * each).unwrap();
        assert_eq!(cast.flows.len() + cast.talks.len(), 4, "{traffic}");
        let refused = drawn(traffic, 4, 4 * each - 1).unwrap_err();
        let reason = format!(": more than the {} blocks that are left of 8000000", 4 * each - 1);
        assert!(refused.cause.to_string().ends_with(&reason), "{:#}", refused.cause);
        // What is counted while it is drawn is what is counted of what was drawn.
        assert_eq!(cast.blocks(), 4 * each, "{traffic}");
    }
}

#[test]
fn a_conversation_has_the_connections_that_it_ever_has_at_once() {
    for (traffic, connections) in [
        ("telnet(duration=1 s)", OF_A_TALK),
        ("partition(workers=40, duration=1 s)", 40),
        ("partition(workers=2, duration=1 s)", OF_A_TALK),
        // A page begins with its document, and its objects come after that.
        ("web-h3(duration=1 s)", 8),
        ("web-h3(streams=20, duration=1 s)", 20),
        // Sessions begin each tenth of a second and take minutes, but for one of these 21.
        ("telnet(interarrival=100 ms, duration=2050 ms)", 20),
    ] {
        let cast = drawn(traffic, 1, 1000).unwrap();
        assert_eq!(cast.talks[0].connections, connections, "{traffic}");
    }
}

fn trains(cast: &Cast) -> Vec<Vec<Nanos>> {
    let due = |named: &Named| match &named.flow.offer {
        Offer::Train { blocks, .. } => blocks.iter().map(|block| block.due).collect(),
        Offer::Endless(_) => Vec::new(),
    };
    cast.flows.iter().map(due).collect()
}

/// 40 sessions of a constant period never send all at one instant: in each quarter of the period 10 begin,
/// and fewer than 2 or more than 20 of them once in ten thousand seeds.
#[test]
fn equal_sessions_of_a_constant_period_begin_at_random_parts_of_it() {
    for traffic in [
        "burstq(blocksize=172 B, period=20 ms, duration=1 s)",
        "burst(blocksize=172 B, period=20 ms, repeats=3, duration=1 s)",
        "voice-cbr(duration=1 s)",
    ] {
        let cast = drawn(traffic, 40, usize::MAX).unwrap();
        let mut quarters = [0; 4];
        for (named, due) in cast.flows.iter().zip(trains(&cast)) {
            let (phase, first) = (named.phase.unwrap(), due[0]);
            let periods = first.since(phase).count() / 20_000_000;
            assert_eq!(first, phase + Nanos::from_millis(20) * periods, "{traffic}");
            assert!(due.iter().all(|due| *due < Nanos::from_secs(1)), "{traffic}");
            quarters[usize::try_from(phase.count() / 5_000_000).unwrap()] += 1;
        }
        assert!(quarters.iter().all(|own| (2..=20).contains(own)), "{traffic}: {quarters:?}");
        // The same seed gives the same phases, on every host that draws them.
        assert_eq!(trains(&drawn(traffic, 40, usize::MAX).unwrap()), trains(&cast));
    }
}

/// What sends nothing in its time is there all the same, each way in which it could have sent.
#[test]
fn a_test_of_which_nothing_falls_due_has_its_flows() {
    let there = (Role::Test, Role::Active);
    let back = (Role::Active, Role::Test);
    for (traffic, ways) in [
        ("ftp-3gpp(duration=1 us)", &[there][..]),
        ("iot(devices=1, duration=1 ms)", &[there]),
        ("vdi(duration=1 us)", &[there, back]),
    ] {
        let cast = drawn(traffic, 2, usize::MAX).unwrap();
        let found: Vec<(Role, Role)> = cast.flows.iter().map(|one| (one.from, one.to)).collect();
        assert_eq!(found, [ways, ways].concat(), "{traffic}");
        assert!(trains(&cast).iter().all(Vec::is_empty), "{traffic}");
    }
    // One of many devices that has nothing to say in this time is no flow.
    let cast = drawn("iot(mode=burst, devices=100, duration=3 s)", 1, usize::MAX).unwrap();
    assert!((2..90).contains(&cast.flows.len()), "{}", cast.flows.len());
    assert!(trains(&cast).iter().all(|train| !train.is_empty()));
}

#[test]
fn one_session_and_random_periods_keep_to_their_schedule() {
    for (traffic, sessions) in [
        ("burstq(blocksize=172 B, period=20 ms, duration=1 s)", 1),
        ("burstq(blocksize=172 B, period=exp(20 ms), duration=1 s)", 5),
        ("burstq(blocksize=172 B, period=20 ms, duration=20 ms)", 5),
    ] {
        let cast = drawn(traffic, sessions, usize::MAX).unwrap();
        for (named, due) in cast.flows.iter().zip(trains(&cast)) {
            assert_eq!((named.phase, due[0]), (None, Nanos::ZERO), "{traffic}");
        }
    }
}
