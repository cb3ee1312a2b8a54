//! Receipts of blocks over loopback, within a host and between two: each block that was read whole is answered once, never
//! before it was read, and nothing is missed where nothing is lost.

use btu_core::sample::Outcome;
use btu_core::traffic::Pace;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Fate;
use btu_core::traffic::sending::burst::Limits;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Flow;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::Offer;
use btu_engine::traffic::QuicSettings;
use btu_sys::socket::Settings;

use crate::sides;
use crate::sides::FAR;
use crate::sides::NEAR;
use crate::sides::between;
use crate::traffic::carry;
use crate::traffic::flow;
use crate::traffic::train;

fn tcp() -> Carrier {
    Carrier::Tcp(Settings::default())
}

/// Streams of this build, and datagrams.
fn carriers() -> Vec<Carrier> {
    let quic = cfg!(feature = "quic").then(|| Carrier::Quic(QuicSettings::default()));
    [tcp(), Carrier::Udp].into_iter().chain(quic).collect()
}

fn answered(flow: Flow) -> Flow {
    Flow { has_receipts: true, ..flow }
}

/// Blocks of 1 to 70,000 bytes, some of which need two datagrams, each `period`.
fn sizes(period: Nanos, blocks: u64) -> Offer {
    let block = |k| Block { due: period * k, size: Bytes::new(1 + k * 7919 % 70_000) };
    Offer::Train {
        blocks: (0..blocks).map(block).collect(),
        discipline: Discipline::Queue,
        limits: Limits::default(),
    }
}

/// A receipt says that its block was read, so it comes later; of a block that was not, none comes.
fn assert_answers(name: &str, end: &FlowEnd) {
    let trace = &end.trace;
    let receipts = trace.receipts.as_ref().unwrap();
    assert_eq!(receipts.len(), trace.blocks.len(), "{name}");
    for (place, (block, read)) in trace.blocks.iter().zip(&trace.read_times).enumerate() {
        let whole = read.filter(|_| block.fate == Fate::Sent);
        match (receipts[place], whole) {
            (Some(receipt), Some(read)) => assert!(receipt >= read.last, "{name} {place}"),
            (Some(receipt), None) => panic!("{name}: {receipt} for block {place}, {block:?}"),
            (None, _) => {}
        }
    }
}

#[test]
fn each_block_is_answered_once_after_it_was_read_and_in_order() {
    let time = Nanos::from_millis(300);
    for carrier in carriers() {
        let name = format!("{carrier:?}");
        let flows = [answered(flow(carrier.clone(), sizes(Nanos::from_millis(5), 60), time))];
        let ends = carry(&flows);
        assert_eq!(ends[0].outcome, Outcome::Complete, "{name}");
        assert_answers(&name, &ends[0]);
        let figures = Figures::of(&ends[0].trace);
        let receipts = figures.receipts.unwrap();
        let read = figures.delay.unwrap();
        assert_eq!(receipts.answered, read.blocks, "{name}");
        let delay = receipts.delay.unwrap();
        assert!(delay.min_s >= read.min_s && delay.max_s >= delay.p50_s, "{name}: {delay:?}");
        if carrier == Carrier::Udp {
            // A kernel may throw away what comes faster than it is read.
            assert!(receipts.came > 0);
            continue;
        }
        assert_eq!((receipts.answered, receipts.came), (60, 60), "{name}");
        let times: Vec<Nanos> =
            ends[0].trace.receipts.iter().flatten().flatten().copied().collect();
        assert!(times.is_sorted(), "{name}: {times:?}");
    }
}

/// Whoever is awake all the time hears of them as well, and sends nothing before it is due.
#[test]
fn every_pace_hears_of_receipts_and_sends_nothing_early() {
    for pace in [Pace::Sleep, Pace::Hybrid, Pace::Spin] {
        let offer = train(100, Nanos::from_millis(2), 100, Nanos::ZERO);
        let mut one = answered(flow(tcp(), offer, Nanos::from_millis(200)));
        one.pace = Some(pace);
        let ends = carry(&[one]);
        assert_answers(pace.name(), &ends[0]);
        assert!(ends[0].trace.blocks.iter().all(|b| b.start.is_some_and(|at| at >= b.due)));
        assert_eq!(Figures::of(&ends[0].trace).receipts.unwrap().came, 100, "{}", pace.name());
    }
}

/// One that is awake all the time between two blocks hears of a receipt when it comes, as one that sleeps does, and not with
/// the next block.
#[test]
fn a_sender_that_spins_hears_of_receipts_between_its_blocks() {
    let least = |pace| {
        let offer = train(100, Nanos::from_millis(100), 8, Nanos::ZERO);
        let mut one = answered(flow(tcp(), offer, Nanos::from_millis(800)));
        one.pace = Some(pace);
        let figures = Figures::of(&carry(&[one])[0].trace);
        figures.receipts.unwrap().delay.unwrap().min_s
    };
    let (asleep, awake) = (least(Pace::Sleep), least(Pace::Spin));
    assert!(awake < 50.0 * asleep, "{awake} s awake, {asleep} s asleep");
}

/// More than loopback takes: most blocks are missed, interrupted, or wait until the end.
#[test]
fn only_what_was_sent_whole_is_answered_whatever_was_missed_or_interrupted() {
    let mut answered_of = Vec::new();
    for carrier in [tcp(), Carrier::Quic(QuicSettings::default())] {
        if matches!(carrier, Carrier::Quic(_)) && !cfg!(feature = "quic") {
            continue;
        }
        for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
            let block = |k: u64| {
                let size = if k.is_multiple_of(2) { 4 << 20 } else { 5000 + k };
                Block { due: Nanos::from_micros(500) * k, size: Bytes::new(size) }
            };
            let offer = Offer::Train {
                blocks: (0..400).map(block).collect(),
                discipline,
                limits: Limits::default(),
            };
            let mut one = answered(flow(carrier.clone(), offer, Nanos::from_millis(200)));
            one.drain = btu_core::traffic::Drain::No;
            let ends = carry(&[one]);
            let name = format!("{discipline:?} {:?}", carrier.transport());
            assert_eq!(ends[0].outcome, Outcome::Complete, "{name}");
            assert_answers(&name, &ends[0]);
            let figures = Figures::of(&ends[0].trace);
            let receipts = figures.receipts.unwrap();
            assert_eq!(receipts.missing(), 0, "{name}: {receipts:?}");
            assert!(receipts.answered < 400, "{name}: nothing was held up");
            answered_of.push(receipts.answered);
        }
    }
    assert!(answered_of.iter().sum::<u64>() > 0, "{answered_of:?}");
}

#[test]
fn a_thousand_flows_hear_of_their_receipts() {
    let (period, time) = (Nanos::from_millis(100), Nanos::from_millis(500));
    let one = |at: u64| {
        let phase = Nanos::from_micros(at * 617 % 100_000);
        let carrier = if at.is_multiple_of(4) { tcp() } else { Carrier::Udp };
        answered(flow(carrier, train(1250, period, 4, phase), time))
    };
    let flows: Vec<Flow> = (0..1000).map(one).collect();
    let mut missing = 0;
    for (flow, end) in flows.iter().zip(carry(&flows)) {
        assert_eq!(end.outcome, Outcome::Complete);
        assert_answers("one of a thousand", &end);
        let receipts = Figures::of(&end.trace).receipts.unwrap();
        if flow.carrier != Carrier::Udp {
            assert_eq!((receipts.answered, receipts.came), (4, 4));
        }
        missing += 4 - receipts.came;
    }
    assert!(missing < 40, "{missing} of 4000 lost on loopback");
}

/// Both directions, between two sides that know of each other by their report alone.
#[test]
fn receipts_go_between_two_hosts_in_both_directions() {
    let mut flows = Vec::new();
    for carrier in carriers() {
        for from in [NEAR, FAR] {
            flows.push(answered(sides::flow(from, carrier.clone(), 30)));
        }
    }
    flows.push(sides::flow(NEAR, tcp(), 10));
    let ends = between(&flows, |_| ());
    for (flow, end) in flows.iter().zip(&ends) {
        assert_eq!(end.outcome, Outcome::Complete);
        let figures = Figures::of(&end.trace);
        if !flow.has_receipts {
            assert_eq!((figures.receipts, &end.trace.receipts), (None, &None));
            continue;
        }
        // One clock plays both here.
        assert_answers("between hosts", end);
        let receipts = figures.receipts.unwrap();
        assert_eq!((receipts.answered, receipts.came), (30, 30), "{:?}", flow.carrier);
    }
}
