//! Media over loopback.

use std::net::Ipv4Addr;

use btu_core::cell::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Dialect;
use btu_core::traffic::Streams;
use btu_core::traffic::Train;
use btu_core::traffic::call;

use super::*;

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
