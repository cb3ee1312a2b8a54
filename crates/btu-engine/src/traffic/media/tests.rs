//! Media over loopback.

use std::net::Ipv4Addr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::role::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Dialect;
use btu_core::traffic::Streams;
use btu_core::traffic::Train;
use btu_core::traffic::call;

use super::*;
use crate::time::now;

fn flow(text: &str, duration: Nanos) -> MediaFlow {
    let files = |_: &str| Err("no files".to_owned());
    let (call, _) = call(text, Dialect::Btu, &files).map_err(|cause| cause.to_string()).unwrap();
    let Some(Train::Media(media)) = call.train(&Streams::new(1, "media")) else {
        panic!("{text} follows no reports")
    };
    let place = || Place::here(Role::Test);
    MediaFlow {
        near: place(),
        far: place(),
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        code_point: None,
        media,
        start: Nanos::ZERO,
        duration,
        linger: Nanos::from_millis(100),
        cancel: Arc::default(),
        moved: Arc::default(),
    }
}

/// No host sends 100 Gb/s in packets of 1200 bytes: there is always one that is due.
#[test]
fn a_rate_that_no_host_sends_ends_with_its_time_all_the_same() {
    let time = Nanos::from_millis(400);
    let end = play(flow("webrtc(rate=100 Gbit/s, start=100 Gbit/s)", time)).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert!(end.trace.blocks.len() > 1000, "{} packets", end.trace.blocks.len());
    let last = end.trace.blocks.iter().filter_map(|block| block.start).max().unwrap();
    assert!(last < time * 5, "the last one began after {last}");
}

/// A firewall, or a device that is down: the sender would hear nothing either way.
#[test]
fn media_of_which_no_packet_left_are_no_complete_ones() {
    let Media { mut sender, .. } = *flow("webrtc()", Nanos::from_secs(1)).media;
    while sender.take(Nanos::from_millis(500)).is_some() {}
    let said = Said {
        refused: sender.sent(),
        refusal: Some("Operation not permitted".to_owned()),
        ..Said::new(sender, Vec::new(), "hybrid")
    };
    let reason = "send: Operation not permitted, of every datagram".to_owned();
    assert_eq!(said.outcome(), Outcome::Failed { reason });
    let some = Said { refused: said.refused - 1, ..said };
    assert_eq!(some.outcome(), Outcome::Complete);
}

/// A datagram of somebody else, and one whose number nobody has sent: both would make a loss of all before it.
#[test]
fn a_stray_datagram_moves_no_number_and_is_counted() {
    let MediaFlow { media, cancel, moved, .. } = flow("webrtc()", Nanos::from_secs(1));
    let shared = Shared {
        begin: now(),
        duration: Nanos::from_secs(1),
        linger: Nanos::ZERO,
        cancel: &cancel,
        moved: &moved,
        sent: AtomicU64::new(8),
        is_over: AtomicBool::new(false),
    };
    let bound = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (near, far, other) = (bound(), bound(), bound());
    let [sender, stranger] = [&near, &other].map(|end| end.local_addr().unwrap());
    let mut heard = Heard::new(sender, media.receiver);
    let packet =
        |number| media::Head { number, kind: media::Kind::Speech, patience: Nanos::ZERO }.write();
    for (number, from) in [(0, sender), (7, sender), (3, stranger), (8, sender), (1 << 40, sender)]
    {
        heard.came(&far, &packet(number), from, &shared);
    }
    heard.came(&far, b"no media", sender, &shared);
    let report = heard.receiver.report(Nanos::from_secs(1)).unwrap();
    assert_eq!((report.expected, report.received, heard.strays), (8, 2, 4));
    let told: Vec<u64> = heard.arrived.iter().map(|one| one.number).collect();
    assert_eq!(told, [0, 7]);
}

/// From one datagram of a stranger to the next.
const PACE: Duration = Duration::from_millis(1);

/// Whatever somebody else sends to the receiver: what was sent came, and the flow ends with its time.
#[test]
fn media_beside_a_stranger_lose_nothing_and_tell_of_him() {
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let there = free.local_addr().unwrap();
    drop(free);
    let is_over = AtomicBool::new(false);
    let end = std::thread::scope(|scope| {
        scope.spawn(|| {
            let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let head = media::Head {
                number: 1 << 40,
                kind: media::Kind::Speech,
                patience: Nanos::from_secs(1),
            };
            while !is_over.load(Relaxed) {
                let _ = stranger.send_to(&head.write(), there);
                // So few that the socket has room for all of them while its reader waits for a CPU.
                std::thread::sleep(PACE);
            }
        });
        let time = Nanos::from_millis(300);
        let end = play(MediaFlow { address: there, ..flow("webrtc()", time) });
        is_over.store(true, Relaxed);
        end.unwrap()
    });
    let counts = end.trace.datagrams.unwrap();
    assert_eq!((counts.received, counts.reordered), (counts.sent, 0));
    let strays = end.noticed.iter().find(|one| one.name == "stray datagrams").unwrap();
    assert!(strays.value >= 1.0);
}
