//! Flows over loopback: everything that was due arrives, is counted once, and nothing hangs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::role::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::traffic::Closed;
use btu_core::traffic::Drain;
use btu_core::traffic::Event;
use btu_core::traffic::Pace;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Dialogue;
use btu_engine::traffic::Flow;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::Job;
use btu_engine::traffic::Offer;
use btu_engine::traffic::converse;
use btu_engine::traffic::run;
use btu_sys::socket::Settings;

use crate::local::party;
use crate::wait::wait_until;

/// Blocks of one size at a period, the first after `phase`.
pub(crate) fn train(size: u64, period: Nanos, blocks: u64, phase: Nanos) -> Offer {
    let block = |k| Block { due: phase + period * k, size: Bytes::new(size) };
    Offer::Train {
        blocks: (0..blocks).map(block).collect(),
        discipline: Discipline::Queue,
        limits: Limits::default(),
    }
}

pub(crate) fn flow(carrier: Carrier, offer: Offer, duration: Nanos) -> Flow {
    Flow {
        from: 0,
        to: 1,
        address: None,
        carrier,
        port: 0,
        offer,
        start: Nanos::ZERO,
        duration,
        write: Bytes::new(1 << 20),
        read: Bytes::new(64 << 10),
        drain: Drain::Yes,
        pace: None,
        code_point: None,
        has_receipts: false,
        held_to: None,
    }
}

fn tcp() -> Carrier {
    Carrier::Tcp(Settings::default())
}

pub(crate) fn carry(flows: &[Flow]) -> Vec<FlowEnd> {
    carry_until(flows, Arc::new(AtomicBool::new(false)))
}

fn carry_until(flows: &[Flow], cancel: Arc<AtomicBool>) -> Vec<FlowEnd> {
    let parties = [party(Role::Test), party(Role::Active)];
    let job = Job {
        parties: &parties,
        flows,
        linger: Nanos::from_secs(5),
        stall: Nanos::from_secs(60),
        cancel,
    };
    run(&job).unwrap().flows
}

#[test]
fn every_block_of_a_stream_arrives_and_has_its_delay() {
    let time = Nanos::from_millis(300);
    let ends = carry(&[flow(tcp(), train(12_500, Nanos::from_millis(5), 60, Nanos::ZERO), time)]);
    let figures = Figures::of(&ends[0].trace);
    assert_eq!(ends[0].outcome, Outcome::Complete);
    assert_eq!((figures.blocks.due, figures.blocks.sent), (60, 60));
    assert_eq!(
        (figures.arrived_bytes.count(), figures.delivered_bytes.count()),
        (750_000, 750_000)
    );
    let delay = figures.delay.unwrap();
    assert_eq!(delay.blocks, 60);
    assert!(delay.min_s >= 0.0 && delay.p50_s <= delay.p99_s && delay.p99_s <= delay.max_s);
    // Exact: whatever the machine did, the queue began and ended empty.
    let drained = figures.drained_delay_s.unwrap();
    assert!((drained / delay.byte_mean_s - 1.0).abs() < 0.01, "{drained} {}", delay.byte_mean_s);
}

#[test]
fn no_block_is_sent_before_it_is_due() {
    let time = Nanos::from_millis(200);
    for pace in [Pace::Sleep, Pace::Hybrid, Pace::Spin] {
        let mut one = flow(Carrier::Udp, train(100, Nanos::from_millis(2), 100, Nanos::ZERO), time);
        one.pace = Some(pace);
        let ends = carry(&[one]);
        assert!(ends[0].trace.blocks.iter().all(|b| b.start.is_some_and(|at| at >= b.due)));
        // With the right to it, one that rests goes first as well.
        let names = [pace.name().to_owned(), format!("{} first", pace.name())];
        assert!(names.iter().any(|name| *name == ends[0].pace), "{}", ends[0].pace);
    }
}

#[test]
fn a_full_stream_ends_with_its_time_and_loses_nothing() {
    let offer = Offer::Endless([Bytes::new(16 << 10)].into());
    let ends = carry(&[flow(tcp(), offer, Nanos::from_millis(200))]);
    let figures = Figures::of(&ends[0].trace);
    assert_eq!(figures.delivered_bytes, figures.arrived_bytes);
    assert!(figures.departure_rate_bit_s > 0.0 && figures.delay.is_none());
    let tcp = ends[0].tcp.unwrap();
    assert!(tcp.acknowledged <= figures.arrived_bytes && !tcp.acknowledged.is_empty());
}

#[test]
fn datagrams_of_any_size_are_told_apart() {
    let time = Nanos::from_millis(300);
    for size in [1, 5, 1250, 200_000] {
        let ends = carry(&[flow(
            Carrier::Udp,
            train(size, Nanos::from_millis(1), 280, Nanos::ZERO),
            time,
        )]);
        let loss = Figures::of(&ends[0].trace).loss.unwrap();
        assert_eq!(loss.sent, 280 * size.div_ceil(65_507), "{size}");
        assert_eq!((loss.duplicated, loss.reordered), (0, 0), "{size}");
        assert!(loss.received <= loss.sent && loss.received > 0, "{size}");
    }
}

/// A thousand flows of 100 kb/s on one machine: all that was due is sent, and every datagram that came
/// belongs to its flow.
#[test]
fn a_thousand_flows_share_the_threads_of_a_host() {
    let (period, time) = (Nanos::from_millis(100), Nanos::from_millis(500));
    let flows: Vec<Flow> = (0..1000)
        .map(|at| {
            // Phases that no two neighbours share.
            let phase = Nanos::from_micros(at * 617 % 100_000);
            flow(Carrier::Udp, train(1250, period, 4, phase), time)
        })
        .collect();
    let carried = carry(&flows);
    assert_eq!(carried.len(), 1000);
    let mut missing = 0;
    for end in &carried {
        let figures = Figures::of(&end.trace);
        let loss = figures.loss.unwrap();
        assert_eq!((figures.blocks.sent, figures.blocks.missed, loss.sent), (4, 0, 4));
        assert_eq!(end.outcome, Outcome::Complete);
        missing += loss.sent - loss.received;
    }
    assert!(missing < 40, "{missing} of 4000 lost on loopback");
}

#[test]
fn streams_in_both_directions_run_beside_datagrams() {
    let (period, time) = (Nanos::from_millis(4), Nanos::from_millis(200));
    let there = flow(tcp(), train(1000, period, 50, Nanos::ZERO), time);
    let back = Flow { from: 1, to: 0, ..flow(tcp(), train(3000, period, 50, Nanos::ZERO), time) };
    let beside = flow(Carrier::Udp, train(500, period, 50, Nanos::ZERO), time);
    let ends = carry(&[there, back, beside]);
    let read: Vec<u64> =
        ends.iter().map(|end| Figures::of(&end.trace).delivered_bytes.count()).collect();
    assert_eq!(read[..2], [50_000, 150_000]);
}

#[test]
fn a_sender_that_meets_its_limit_says_when_and_why() {
    let mut one = flow(
        tcp(),
        train(8 << 20, Nanos::from_micros(100), 2000, Nanos::ZERO),
        Nanos::from_secs(2),
    );
    if let Offer::Train { limits, .. } = &mut one.offer {
        limits.queue = Some(Bytes::new(64 << 20));
    }
    let ends = carry(&[one]);
    let Outcome::Capped { reason } = &ends[0].outcome else { panic!("{:?}", ends[0].outcome) };
    assert!(reason.starts_with("generator overflow: ") && reason.contains(" at t = "), "{reason}");
    // It is told over the time that it had: what arrives each 100 us is 8 MiB, as long as it lasted.
    let (told, figures) = (&ends[0].trace, Figures::of(&ends[0].trace));
    assert!(told.duration < Nanos::from_secs(2), "{:?}", told.duration);
    let (due, bits) = (8e9 * f64::from(8 << 20) / 1e5, figures.arrival_rate_bit_s);
    assert!(bits > 0.5 * due, "{bits} of {due} bit/s");
    let (longest, mean) = (told.duration.seconds(), figures.window_delay_s.unwrap());
    assert!(mean <= longest, "a byte waited {mean} s in {longest} s");
}

#[test]
fn a_flow_that_nobody_wants_any_more_ends() {
    let cancelled = Arc::new(AtomicBool::new(true));
    let offer = Offer::Endless([Bytes::new(1000)].into());
    let flows = [
        flow(tcp(), offer, Nanos::from_secs(3600)),
        flow(
            Carrier::Udp,
            train(100, Nanos::from_secs(1), 3000, Nanos::ZERO),
            Nanos::from_secs(3600),
        ),
    ];
    for end in carry_until(&flows, cancelled) {
        assert_eq!(end.outcome, Outcome::Capped { reason: "interrupted".into() });
        // It is told over the time that it had.
        assert!(end.trace.duration < Nanos::from_secs(600), "{:?}", end.trace.duration);
    }
}

#[test]
fn a_queue_that_is_not_drained_is_left_and_said() {
    let mut one = flow(
        tcp(),
        train(64 << 20, Nanos::from_millis(1), 100, Nanos::ZERO),
        Nanos::from_millis(100),
    );
    one.drain = Drain::No;
    let ends = carry(&[one]);
    let figures = Figures::of(&ends[0].trace);
    assert_eq!((ends[0].outcome.clone(), figures.blocks.due), (Outcome::Complete, 100));
    assert!(figures.blocks.waiting > 0 && figures.drained_delay_s.is_none(), "{figures:?}");
    assert!(figures.window_delay_s.is_some_and(|delay| delay > 0.0));
}

/// Looking at each block that waits for each that falls due would take hours, and nobody could end it.
#[test]
fn a_burst_of_many_blocks_ends_with_its_time() {
    const BLOCKS: usize = 300_000;
    for discipline in [Discipline::Miss, Discipline::Interrupt, Discipline::Queue] {
        let blocks = vec![Block { due: Nanos::ZERO, size: Bytes::new(1000) }; BLOCKS].into();
        let offer = Offer::Train { blocks, discipline, limits: Limits::default() };
        let one = Flow { drain: Drain::No, ..flow(tcp(), offer, Nanos::from_millis(100)) };
        let carried = std::thread::spawn(move || carry(&[one]));
        wait_until("the burst ends", || carried.is_finished());
        let ends = carried.join().unwrap();
        assert_eq!(ends[0].outcome, Outcome::Complete, "{discipline:?}");
        assert_eq!(ends[0].trace.blocks.len(), BLOCKS, "{discipline:?}");
    }
}

/// Asks three times, each question after the answer to the last.
#[derive(Debug)]
struct Asks {
    left: u32,
}

impl Closed for Asks {
    fn on(&mut self, _now: Nanos, _event: Event, actions: &mut Vec<Action>) {
        if self.left == 0 {
            return actions.push(Action::Done);
        }
        self.left -= 1;
        // Longer than what one call carries, both ways.
        let (request, answer) = (Bytes::new(100_000), Bytes::new(300_000));
        actions.push(Action::Ask { flow: 0, request, answer });
    }
}

pub(crate) fn dialogue(left: u32, cancel: bool) -> Dialogue {
    Dialogue {
        near: Place::here(Role::Test),
        far: Place::here(Role::Active),
        address: "127.0.0.1:0".parse().unwrap(),
        settings: Settings::default(),
        quic: None,
        train: Box::new(Asks { left }),
        start: Nanos::ZERO,
        duration: Nanos::from_secs(3600),
        patience: Nanos::from_secs(60),
        cancel: Arc::new(AtomicBool::new(cancel)),
        moved: Arc::default(),
    }
}

#[test]
fn a_conversation_asks_again_when_it_was_answered() {
    let asked = dialogue(3, false);
    let moved = Arc::clone(&asked.moved);
    let end = converse(asked).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert_eq!(moved.load(Relaxed), 3 * 400_000);
    let figures = Figures::of(&end.trace);
    assert_eq!((figures.blocks.due, figures.blocks.sent), (3, 3));
    assert_eq!(figures.delivered_bytes, Bytes::new(3 * 400_000));
    let asked: Vec<Nanos> = end.trace.blocks.iter().map(|block| block.due).collect();
    let answered: Vec<Nanos> = end.trace.reads.iter().map(|read| read.at).collect();
    assert!(answered[0] <= asked[1] && answered[1] <= asked[2], "{asked:?} {answered:?}");
    let [asking, answering] = end.cpu.unwrap();
    assert!(asking > Nanos::ZERO && answering > Nanos::ZERO, "{asking:?} {answering:?}");
}

#[test]
fn a_conversation_that_nobody_wants_any_more_ends() {
    let end = converse(dialogue(u32::MAX, true)).unwrap();
    assert_eq!(end.outcome, Outcome::Capped { reason: "interrupted".into() });
    assert!(end.trace.duration < Nanos::from_secs(600), "{:?}", end.trace.duration);
}
