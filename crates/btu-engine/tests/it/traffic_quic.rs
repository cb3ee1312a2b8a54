//! Flows over QUIC on loopback: what is true of streams of the kernel is true of those of a library.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use btu_core::role::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Drain;
use btu_core::traffic::figures::flow::Figures;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Dialogue;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Job;
use btu_engine::traffic::Offer;
use btu_engine::traffic::QuicSettings;
use btu_engine::traffic::Watch;
use btu_engine::traffic::converse;
use btu_engine::traffic::run;
use btu_engine::traffic::run_seen;
use btu_sys::namespace::NetNs;
use btu_sys::socket::Settings;

use crate::isolated::isolated;
use crate::local::party;
use crate::skip;
use crate::traffic::carry;
use crate::traffic::dialogue;
use crate::traffic::flow;
use crate::traffic::train;

fn job<'a>(parties: &'a [Party], flows: &'a [Flow]) -> Job<'a> {
    Job {
        parties,
        flows,
        linger: Nanos::from_secs(1),
        stall: Nanos::from_secs(60),
        cancel: Arc::new(AtomicBool::new(false)),
    }
}

fn quic() -> Carrier {
    Carrier::Quic(QuicSettings::default())
}

#[test]
fn every_block_of_a_quic_stream_arrives_and_has_its_delay() {
    let time = Nanos::from_millis(300);
    let ends = carry(&[flow(quic(), train(12_500, Nanos::from_millis(5), 60, Nanos::ZERO), time)]);
    let figures = Figures::of(&ends[0].trace);
    assert_eq!(ends[0].outcome, Outcome::Complete);
    assert_eq!((figures.blocks.due, figures.blocks.sent), (60, 60));
    let bytes = [figures.arrived_bytes, figures.delivered_bytes].map(Bytes::count);
    assert_eq!(bytes, [750_000, 750_000]);
    let delay = figures.delay.unwrap();
    assert_eq!(delay.blocks, 60);
    let drained = figures.drained_delay_s.unwrap();
    assert!((drained / delay.byte_mean_s - 1.0).abs() < 0.01, "{drained} {}", delay.byte_mean_s);
    // It is no socket of the kernel's: nobody else keeps an account of it.
    assert!(ends[0].tcp.is_none() && ends[0].glances.is_empty() && figures.loss.is_none());
    assert_eq!(ends[0].sender.congestion.as_deref(), Some("cubic"));
}

/// What was taken arrives although nothing is sent any more, whatever a stream holds at once.
#[test]
fn a_full_quic_stream_ends_with_its_time_and_loses_nothing() {
    for (window, congestion) in [(None, None), (Some(20_000), Some("reno")), (None, Some("bbr"))] {
        let settings = QuicSettings {
            window: window.map(Bytes::new),
            congestion: congestion.map(ToOwned::to_owned),
            held_to: None,
        };
        let departed = TIMES.into_iter().find(|time| full(&settings, *time) > Bytes::ZERO);
        assert!(departed.is_some(), "{congestion:?}: nothing was read in {TIMES:?}");
    }
}

/// Carries a full stream for this time; what was read by its end.
fn full(settings: &QuicSettings, time: Nanos) -> Bytes {
    let offer = Offer::Endless([Bytes::new(16 << 10)].into());
    let mut one = flow(Carrier::Quic(settings.clone()), offer, time);
    one.drain = Drain::No;
    let ends = carry(&[one]);
    let figures = Figures::of(&ends[0].trace);
    assert_eq!(ends[0].outcome, Outcome::Complete, "{settings:?}");
    assert_eq!(figures.delivered_bytes, figures.arrived_bytes, "{settings:?}");
    assert_eq!(figures.departed_bytes > Bytes::ZERO, figures.departure_rate_bit_s > 0.0);
    figures.departed_bytes
}

/// Where other work has the CPUs, a reader may get none before the end of a short time.
const TIMES: [Nanos; 4] =
    [Nanos::from_millis(200), Nanos::from_secs(1), Nanos::from_secs(5), Nanos::from_secs(25)];

#[test]
fn quic_flows_go_on_beside_each_other_in_both_directions_and_begin_when_they_should() {
    let time = Nanos::from_millis(200);
    let one = |number: u64| {
        let mut one = flow(quic(), train(3000, Nanos::from_millis(10), 20, Nanos::ZERO), time);
        one.start = Nanos::from_millis(20) * number;
        if number % 2 == 1 {
            (one.from, one.to) = (1, 0);
        }
        one
    };
    let mut flows: Vec<Flow> = (0..12).map(one).collect();
    flows.push(flow(Carrier::Udp, train(500, Nanos::from_millis(10), 20, Nanos::ZERO), time));
    let ends = carry(&flows);
    for (number, end) in ends.iter().enumerate() {
        assert_eq!(end.outcome, Outcome::Complete, "{number}");
        let figures = Figures::of(&end.trace);
        assert_eq!(figures.blocks.sent, 20, "{number}");
        assert!(end.trace.blocks.iter().all(|block| block.start.is_some_and(|at| at >= block.due)));
        if number < 12 {
            assert_eq!(figures.delivered_bytes.count(), 60_000, "{number}");
        }
    }
}

/// The system refuses each packet for a while, as where a route is exchanged: TCP goes on after that, and so does QUIC.
#[test]
fn a_quic_stream_outlives_a_time_without_a_route() {
    isolated("traffic_quic::a_quic_stream_outlives_a_time_without_a_route", || {
        if !skip::installed("ip") {
            skip!("program missing: ip");
        }
        let net = Arc::new(NetNs::create().unwrap());
        let ip = |words: &str| {
            let mut command = Command::new("ip");
            let outcome = net.inside(|| command.args(words.split(' ')).status());
            assert!(outcome.unwrap().unwrap().success(), "{words}");
        };
        ip("link set lo up");
        let parties = [Role::Test, Role::Active].map(|role| Party {
            place: Place { role, net: Some(Arc::clone(&net)), ..Place::here(role) },
            ..party(role)
        });
        let time = Nanos::from_secs(3);
        let tcp = Carrier::Tcp(Settings::default());
        let flows = [quic(), tcp]
            .map(|one| flow(one, train(3000, Nanos::from_millis(30), 100, Nanos::ZERO), time));
        let job = Job { linger: Nanos::from_secs(5), ..job(&parties, &flows) };
        let (told, seen) = mpsc::channel();
        let ends = thread::scope(|scope| {
            let ends = scope.spawn(|| run_seen(&job, |watch| told.send(watch).unwrap()));
            let watch: Watch = seen.recv_timeout(Duration::from_mins(1)).unwrap();
            let moved = || [0, 1].map(|own| watch.moved_of(|flow| flow == own));
            while moved().contains(&Bytes::ZERO) {
                assert!(!ends.is_finished(), "nothing was read before the route was gone");
                thread::sleep(Duration::from_millis(1));
            }
            ip("route replace unreachable 127.0.0.1 table local");
            thread::sleep(Duration::from_millis(200));
            let meanwhile = moved();
            ip("route replace local 127.0.0.1 dev lo table local");
            assert!(meanwhile.iter().all(|bytes| *bytes < ALL), "{meanwhile:?} of {ALL} before");
            ends.join().unwrap().unwrap().flows
        });
        for end in ends {
            assert_eq!(end.outcome, Outcome::Complete);
            let figures = Figures::of(&end.trace);
            assert_eq!((figures.blocks.sent, figures.delivered_bytes), (100, ALL));
        }
    });
}

const ALL: Bytes = Bytes::new(300_000);

/// A queue that is left is no reason to wait for it, and one that was interrupted says so.
#[test]
fn an_interrupted_quic_flow_ends_at_once() {
    let offer = train(1000, Nanos::from_millis(10), 1_000_000, Nanos::ZERO);
    let flows = [flow(quic(), offer, Nanos::from_secs(10_000))];
    let parties = [party(Role::Test), party(Role::Active)];
    let job = job(&parties, &flows);
    let cancel = Arc::clone(&job.cancel);
    let ends = run_seen(&job, |_| cancel.store(true, Relaxed)).unwrap().flows;
    assert_eq!(ends[0].outcome, Outcome::Capped { reason: "interrupted".to_owned() });
}

#[test]
fn a_wrong_congestion_control_is_named_with_the_right_ones() {
    let settings = QuicSettings { congestion: Some("vegas".to_owned()), ..QuicSettings::default() };
    let offer = train(1000, Nanos::from_millis(10), 1, Nanos::ZERO);
    let parties = [party(Role::Test)];
    let mut one = flow(Carrier::Quic(settings), offer, Nanos::from_millis(10));
    one.to = 0;
    let said = run(&job(&parties, &[one])).unwrap_err().to_string();
    assert_eq!(said, "congestion control vegas: QUIC has cubic, reno or bbr");
}

/// Requests and answers are longer than what one call carries, and than what a stream holds at once.
#[test]
fn a_conversation_over_quic_asks_again_when_it_was_answered() {
    for window in [None, Some(Bytes::new(30_000))] {
        let quic = Some(QuicSettings { window, ..QuicSettings::default() });
        let asked = Dialogue { quic, ..dialogue(3, false) };
        let moved = Arc::clone(&asked.moved);
        let end = converse(asked).unwrap();
        assert_eq!(end.outcome, Outcome::Complete);
        assert_eq!(moved.load(Relaxed), 3 * 400_000);
        let figures = Figures::of(&end.trace);
        assert_eq!((figures.blocks.due, figures.blocks.sent), (3, 3));
        assert_eq!(figures.delivered_bytes, Bytes::new(3 * 400_000));
        let [asking, answering] = end.cpu.unwrap();
        assert!(asking > Nanos::ZERO && answering > Nanos::ZERO, "{asking:?} {answering:?}");
        assert_eq!(end.sender.congestion.as_deref(), Some("cubic"));
    }
}

#[test]
fn a_conversation_over_quic_that_nobody_wants_any_more_ends() {
    let quic = Some(QuicSettings::default());
    let end = converse(Dialogue { quic, ..dialogue(u32::MAX, true) }).unwrap();
    assert_eq!(end.outcome, Outcome::Capped { reason: "interrupted".into() });
}
