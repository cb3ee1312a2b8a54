//! Connections over QUIC between the halves of a job on two hosts, played by two halves of this process.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use btu_core::sample::Outcome;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::token_bucket::TokenBucket;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::traffic;
use btu_engine::traffic::Answerer;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Dialogue;
use btu_engine::traffic::Keys;
use btu_engine::traffic::QuicSettings;
use btu_engine::traffic::Reception;
use btu_sys::clock;

use crate::sides::FAR;
use crate::sides::NEAR;
use crate::sides::between;
use crate::sides::door;
use crate::sides::flow;
use crate::sides::reach;
use crate::traffic::dialogue;

fn quic(held_to: Option<BitRate>) -> Carrier {
    Carrier::Quic(QuicSettings { held_to, ..QuicSettings::default() })
}

/// Whole packets and their headers count, and what the library sends beside the payload.
#[test]
fn a_connection_over_quic_keeps_to_the_rate_of_its_flow() {
    let rate = BitRate::new(2_000_000);
    for from in [NEAR, FAR] {
        let end = between(&[flow(from, quic(Some(rate)), 40)], |_| ()).pop().unwrap();
        assert_eq!(end.outcome, Outcome::Complete);
        let figures = Figures::of(&end.trace);
        assert_eq!(figures.delivered_bytes, figures.arrived_bytes);
        // 28 bytes of headers beside the payload, 10 ms of the rate for who wakes up late.
        let burst = TokenBucket::new(rate, Bytes::new(1500)).burst();
        for read in &end.trace.reads {
            let most = rate.amount_in(read.at) + burst;
            assert!(read.total <= most, "{} of {most} at {}", read.total, read.at);
        }
    }
}

/// What one end has to know of the other travels over another connection.
#[test]
fn nobody_is_sent_anything_who_has_another_certificate() {
    let flows = [flow(NEAR, quic(None), 3)];
    let keys = Keys::new().unwrap();
    let reception = Reception::open(&flows, FAR, reach(), Some(keys)).unwrap();
    let at = (Ipv4Addr::LOCALHOST, reception.ports()[0].unwrap()).into();
    let other: Arc<[u8]> = Keys::new().unwrap().certificate().into();
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        let far = scope.spawn(|| reception.receive(&flows, FAR, &cancel));
        let refused =
            traffic::call(&flows, NEAR, &[door(at, Some(&other))]).unwrap_err().sentence();
        assert!(refused.contains("another certificate than the far end's"), "{refused}");
        cancel.store(true, Relaxed);
        assert!(far.join().unwrap().is_err());
    });
    let refused = traffic::call(&flows, NEAR, &[door(at, None)]);
    assert!(refused.is_err());
}

/// A door of a conversation lets in whoever knows its token, and counts what it moves.
#[test]
fn a_conversation_over_quic_is_answered_behind_a_door() {
    let keys = Keys::new().unwrap();
    let certificate: Arc<[u8]> = keys.certificate().into();
    let settings = QuicSettings::default();
    let answerer = Answerer::open_quic(&reach(), &settings, keys).unwrap();
    let at = (Ipv4Addr::LOCALHOST, answerer.port()).into();
    let asked = Dialogue { quic: Some(settings), ..dialogue(3, false) };
    let moved = Arc::clone(&asked.moved);
    let begin = Nanos::new(clock::monotonic_ns()) + Nanos::from_millis(100);
    let end = traffic::converse_with(asked, &door(at, Some(&certificate)), begin).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert_eq!(moved.load(Relaxed), 3 * 400_000);
    assert_eq!(Figures::of(&end.trace).blocks.sent, 3);
    assert_eq!(answerer.finish().count(), 3 * 400_000);
}
