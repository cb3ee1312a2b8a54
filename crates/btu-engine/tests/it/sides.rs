//! A job whose ends are on two hosts, played by two halves of this process: it carries what one process
//! carries, and nobody without the token takes part.

use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use btu_core::role::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Drain;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_core::traffic::sending::token_bucket::TokenBucket;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::comm::Seat;
use btu_engine::traffic;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Door;
use btu_engine::traffic::Flow;
use btu_engine::traffic::FlowEnd;
use btu_engine::traffic::Job;
use btu_engine::traffic::Keys;
use btu_engine::traffic::Offer;
use btu_engine::traffic::QuicSettings;
use btu_engine::traffic::Reach;
use btu_engine::traffic::Reception;
use btu_engine::traffic::Side;
use btu_engine::traffic::SideEnd;
use btu_engine::traffic::SideReport;
use btu_engine::traffic::Watch;
use btu_sys::clock;
use btu_sys::socket::Settings;

use crate::local::party;
use crate::wait::wait_until;

pub(crate) const NEAR: usize = 0;
pub(crate) const FAR: usize = 1;

pub(crate) fn flow(from: usize, carrier: Carrier, blocks: u64) -> Flow {
    let block = |k| Block { due: Nanos::from_millis(5) * k, size: Bytes::new(3001 + k) };
    Flow {
        from,
        to: NEAR + FAR - from,
        address: None,
        carrier,
        port: 0,
        offer: Offer::Train {
            blocks: (0..blocks).map(block).collect(),
            discipline: Discipline::Queue,
            limits: Limits::default(),
        },
        start: Nanos::ZERO,
        duration: Nanos::from_millis(5) * blocks,
        write: Bytes::new(1000),
        read: Bytes::new(64 << 10),
        drain: Drain::Yes,
        pace: None,
        code_point: None,
        has_receipts: false,
        held_to: None,
    }
}

/// Nothing in a build without it.
fn over_quic(flows: &[(usize, u64)]) -> impl Iterator<Item = Flow> {
    let has_it = cfg!(feature = "quic");
    let quic = || Carrier::Quic(QuicSettings::default());
    flows.iter().filter(move |_| has_it).map(move |(from, blocks)| flow(*from, quic(), *blocks))
}

pub(crate) fn door(at: SocketAddr, certificate: Option<&Arc<[u8]>>) -> Door {
    Door { at, seat: reach().seat, certificate: certificate.cloned() }
}

pub(crate) fn reach() -> Reach {
    let seat = Seat { secret: [9; 32], run: 1, attempt: 5, flow: 0 };
    Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat }
}

fn carried(side: Side, flows: &[Flow], begin: Nanos) -> SideEnd {
    let parties = [party(Role::Test), party(Role::Active)];
    let cancel = Arc::new(AtomicBool::new(false));
    let (linger, stall) = (Nanos::from_secs(5), Nanos::from_secs(60));
    side.carry(&Job { parties: &parties, flows, linger, stall, cancel }, begin).unwrap()
}

/// Tells a side what the other one sent, once it was.
fn tell(from: &Watch, to: &Watch) {
    wait_until("all is sent", || from.sent_here().is_some());
    to.sent_elsewhere(&from.sent_here().unwrap());
}

/// Both sides, once they have met.
fn met(flows: &[Flow], meanwhile: impl FnOnce(&[SocketAddr]) + Send) -> (Side, Side) {
    let keys = Keys::new().ok();
    let certificate: Option<Arc<[u8]>> = keys.as_ref().map(|keys| keys.certificate().into());
    let reception = Reception::open(flows, FAR, reach(), keys).unwrap();
    let at = |port: &Option<u16>| SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap()));
    let doors: Vec<SocketAddr> = reception.ports().iter().map(at).collect();
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let far = scope.spawn(|| reception.receive(flows, FAR, &cancel).unwrap());
        meanwhile(&doors);
        let known: Vec<Door> = doors.iter().map(|at| door(*at, certificate.as_ref())).collect();
        (traffic::call(flows, NEAR, &known).unwrap(), far.join().unwrap())
    })
}

/// Both sides meet, carry, tell each other, and what the far one saw goes through its text.
pub(crate) fn between(
    flows: &[Flow],
    meanwhile: impl FnOnce(&[SocketAddr]) + Send,
) -> Vec<FlowEnd> {
    let (near, far) = met(flows, meanwhile);
    let begin = Nanos::new(clock::monotonic_ns()) + Nanos::from_millis(50);
    let (watch, other) = (near.watch(), far.watch());
    let sides = thread::scope(|scope| {
        let near = scope.spawn(|| carried(near, flows, begin));
        let far = scope.spawn(|| carried(far, flows, begin));
        tell(&watch, &other);
        tell(&other, &watch);
        let (near, far) = (near.join().unwrap(), far.join().unwrap());
        let text = serde_json::to_string(&far.report()).unwrap();
        assert!(text.len() <= watch.longest_report(flows, FAR), "{} bytes", text.len());
        let told: SideReport = serde_json::from_str(&text).unwrap();
        vec![near, told.into_end(flows, FAR).unwrap()]
    });
    traffic::together(flows, sides, |_| "lost".to_owned()).flows
}

#[test]
fn two_sides_carry_what_one_process_carries() {
    let tcp = || Carrier::Tcp(Settings::default());
    let window = Carrier::Tcp(Settings { send_buffer: Some(32_768), ..Settings::default() });
    let mut flows = vec![
        flow(NEAR, tcp(), 40),
        flow(FAR, tcp(), 30),
        flow(FAR, window, 20),
        flow(NEAR, Carrier::Udp, 30),
        flow(FAR, Carrier::Udp, 40),
    ];
    flows.extend(over_quic(&[(NEAR, 40), (FAR, 30)]));
    for (flow, end) in flows.iter().zip(between(&flows, |_| ())) {
        let Offer::Train { blocks, .. } = &flow.offer else { panic!("a train") };
        let due: Bytes = blocks.iter().map(|block| block.size).sum();
        let figures = Figures::of(&end.trace);
        assert_eq!(end.outcome, Outcome::Complete);
        assert_eq!(figures.blocks.sent, blocks.len() as u64);
        assert_eq!((figures.arrived_bytes, figures.delivered_bytes), (due, due));
        assert_eq!(figures.delay.unwrap().blocks, figures.blocks.sent);
        match (&flow.carrier, figures.loss) {
            // Each block of three writes and some bytes goes out in four.
            (Carrier::Udp, Some(loss)) => assert_eq!(loss.sent, 4 * figures.blocks.sent),
            (Carrier::Udp, None) => panic!("datagrams are counted"),
            (Carrier::Quic(_), loss) => {
                assert!(loss.is_none() && end.tcp.is_none());
                assert_eq!(end.sender.congestion.as_deref(), Some("cubic"));
            }
            (Carrier::Tcp(_), loss) => {
                assert!(loss.is_none());
                assert!(end.tcp.unwrap().acknowledged <= due);
                assert!(end.sender.mss.is_some() && end.receiver.mss.is_some());
            }
        }
    }
}

/// They are offered at 5 Mbit/s. What was sent by any moment is bounded by the policy alone; how far it
/// stays behind is the machine's.
#[test]
fn datagrams_wait_for_the_rate_of_their_flow_and_none_is_left_out() {
    let rate = BitRate::new(2_000_000);
    let flows = [Flow { held_to: Some(rate), ..flow(FAR, Carrier::Udp, 40) }];
    let end = between(&flows, |_| ()).pop().unwrap();
    assert_eq!((&end.outcome, end.refused), (&Outcome::Complete, 0));
    assert_eq!(end.trace.blocks.len(), 40);
    // A block goes out in four datagrams of a thousand bytes at most, with 28 bytes of headers each.
    let burst = TokenBucket::new(rate, Bytes::new(1028)).burst();
    let mut sent = Bytes::ZERO;
    for block in &end.trace.blocks {
        sent += block.size + Bytes::new(4 * 28);
        let most = rate.amount_in(block.end.unwrap()) + burst;
        assert!(sent <= most, "{sent} of {most} at {}", block.end.unwrap());
        assert_eq!(block.taken, block.size);
    }
    assert_eq!(Figures::of(&end.trace).loss.unwrap().sent, 160);
}

/// Whoever does not know the token gets no answer, takes no place, and makes nobody wait.
#[test]
fn strangers_hear_nothing_and_the_job_goes_on() {
    let mut flows =
        vec![flow(FAR, Carrier::Tcp(Settings::default()), 3), flow(FAR, Carrier::Udp, 3)];
    flows.extend(over_quic(&[(FAR, 3)]));
    let ends = between(&flows, |doors| {
        let silent = TcpStream::connect(doors[0]).unwrap();
        let mut wrong = TcpStream::connect(doors[0]).unwrap();
        wrong.write_all(&[7; 64]).unwrap();
        assert_eq!(wrong.read(&mut [0; 64]).unwrap_or(0), 0, "a stranger got an answer");
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        for door in &doors[1..] {
            stranger.connect(door).unwrap();
            for length in [0, 8, 32, 64, 1400] {
                stranger.send(&vec![1; length]).unwrap();
            }
        }
        drop(silent);
    });
    for end in ends {
        assert_eq!(end.outcome, Outcome::Complete);
        assert_eq!(Figures::of(&end.trace).blocks.sent, 3);
    }
}

#[test]
fn a_flow_whose_other_end_is_lost_has_failed_for_that_reason() {
    let flows = [flow(NEAR, Carrier::Udp, 3)];
    let reason = "agent lab1: gone".to_owned();
    let end = traffic::together(&flows, vec![SideEnd::default()], |_| reason.clone());
    assert_eq!(end.flows[0].outcome, Outcome::Failed { reason });
}

/// The far side is there and does nothing: its flows end when it is given up, and no other.
#[test]
fn a_host_that_is_given_up_keeps_nobody_waiting() {
    let tcp = || Carrier::Tcp(Settings::default());
    let mut flows = vec![flow(FAR, tcp(), 3), flow(FAR, Carrier::Udp, 3), flow(NEAR, tcp(), 3)];
    flows.extend(over_quic(&[(FAR, 3), (NEAR, 3)]));
    let (near, _far) = met(&flows, |_| ());
    let watch = near.watch();
    let begin = Nanos::new(clock::monotonic_ns());
    let end = thread::scope(|scope| {
        let near = scope.spawn(|| carried(near, &flows, begin));
        wait_until("what is here is sent", || watch.sent_here().is_some());
        watch.abandon(|number| flows[number].from == FAR);
        near.join().unwrap()
    });
    assert!(!watch.moved_of(|number| number == 2).is_empty());
    let ends = traffic::together(&flows, vec![end], |flow| format!("given up by {}", flow.from));
    for (flow, end) in flows.iter().zip(ends.flows) {
        let reason = format!("given up by {}", flow.from);
        assert_eq!(end.outcome, Outcome::Failed { reason });
    }
}
