//! Receipts that come over QUIC, many at once.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::time::now;
use crate::traffic::connect::meetings::Shaking;
use crate::traffic::connect::meetings::shake_hands;
use crate::traffic::job::QuicSettings;
use crate::traffic::quic::Half;
use crate::traffic::quic::Keys;
use crate::traffic::quic::Trust;
use crate::wait::wait_until;

/// What came wakes nobody once more: one look hears of all of it.
#[test]
fn receipts_that_have_come_are_all_heard_at_one_look() {
    let offer = Offer::queued(vec![(Nanos::ZERO, 1); MANY]);
    let settings = QuicSettings::default();
    let carrier = Carrier::Quic(settings.clone());
    let flow = Flow::of_a_test(carrier, offer);
    let flow = Flow { drain: Drain::Yes, has_receipts: true, ..flow };
    let [near, far] = met(&flow, &settings);
    let (shared, said, receipts) = (Shared::default(), Bytes::ZERO, None);
    let (number, flow, socket, shared, is_read_here) = (0, &flow, &near, &shared, false);
    let member = Member { number, flow, socket, shared, is_read_here, said, receipts };
    let mut sender = Sender::new(&member, now());
    let (mut far_end, mut came, mut data) = (far.take_quic().unwrap(), 0, [7; 100]);
    wait_until("every block came", || {
        sender.pump(&mut data);
        far_end.turn().unwrap();
        came += far_end.recv(&mut [0; 4096]).unwrap_or(0);
        came == MANY && sender.is_over()
    });
    assert!(sender.awaits(Nanos::ZERO));
    let mut left = MANY;
    wait_until("all receipts came to its host", || {
        left -= far_end.send(&vec![6; left]).unwrap_or(0);
        if left == 0 {
            far_end.finish();
        }
        far_end.turn().unwrap();
        sender.quic.as_mut().unwrap().turn().unwrap();
        left == 0 && !far_end.delivers()
    });
    sender.tend();
    assert!(!sender.awaits(Nanos::ZERO));
}

/// Both ends of a connection over loopback.
fn met(flow: &Flow, settings: &QuicSettings) -> [Socket; 2] {
    let keys = Keys::new().unwrap();
    let trust = Trust::of(keys.certificate()).unwrap();
    let [near, far] = [0, 0].map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let at = far.local_addr().unwrap();
    near.connect(at).unwrap();
    let streams = flow.answering_streams();
    let far = Shaking::begin((0, settings), far, |socket| {
        QuicEnd::awaiting(socket, &keys, (settings, streams), Half::Reads)
    });
    let near = Shaking::begin((0, settings), near, |socket| {
        QuicEnd::calling(socket, &trust, (settings, streams, at), Half::Sends)
    });
    let ends = shake_hands(vec![near.unwrap(), far.unwrap()], &AtomicBool::new(false)).unwrap();
    let [near, far] = <[_; 2]>::try_from(ends).unwrap_or_else(|_| panic!("two ends"));
    [near.1, far.1]
}

const MANY: usize = 20_000;
