//! Abandoned flows, datagrams that come again, and numbers of datagrams that were cut short.

use std::io::Write;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::time::now;

fn endless() -> Flow {
    let carrier = Carrier::Tcp(socket::Settings::default());
    Flow::of_a_test(carrier, Offer::Endless([Bytes::new(1000)].into()))
}

fn member<'a>(flow: &'a Flow, socket: &'a Socket, shared: &'a Shared) -> Member<'a> {
    let (said, receipts) = (Bytes::ZERO, None);
    Member { number: 0, flow, socket, shared, is_read_here: true, said, receipts }
}

fn job() -> Job<'static> {
    Job {
        parties: &[],
        flows: &[],
        linger: Nanos::from_secs(60),
        stall: Nanos::from_secs(60),
        cancel: Arc::new(AtomicBool::new(false)),
    }
}

#[test]
fn what_comes_for_an_abandoned_flow_wakes_nobody() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = Socket::Stream(listener.accept().unwrap().0);
    let (flow, shared) = (endless(), Shared::default());
    let member = member(&flow, &far, &shared);
    let job = job();
    let mut ready = Ready::new(1).unwrap();
    ready.add_reader(&far, 0).unwrap();
    near.write_all(b"late").unwrap();
    ready.wait(None).unwrap();
    let mut sinks = [Sink::new(&member, now())];
    look_at(&mut sinks, &ready, &job, now()).unwrap();
    ready.wait(Some(0)).unwrap();
    assert_eq!(ready.len(), 1, "what runs is heard");
    shared.abandoned.store(true, Relaxed);
    look_at(&mut sinks, &ready, &job, now()).unwrap();
    ready.wait(Some(0)).unwrap();
    assert!(sinks[0].is_over && ready.is_empty());
}

/// One that came twice does not stand for one that is still under way, nor does a number from nowhere.
#[test]
fn datagrams_that_come_again_do_not_end_a_flow() {
    let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    near.connect(far.local_addr().unwrap()).unwrap();
    far.set_nonblocking(true).unwrap();
    let far = Socket::Datagram(far);
    let (flow, shared) = (Flow { carrier: Carrier::Udp, ..endless() }, Shared::default());
    let mut sink = Sink::new(&member(&flow, &far, &shared), now());
    let job = job();
    let mut come = |numbers: &[u64]| {
        for number in numbers {
            near.send(&number.to_le_bytes()).unwrap();
        }
        // Over loopback a datagram is there when it has been sent.
        sink.read(&mut [0; 64]);
        sink.look(&job, now());
        sink.is_over
    };
    assert!(!come(&[0, 1, u64::MAX, 1 << 40]));
    shared.datagrams.store(4, Relaxed);
    shared.sender_done.store(true, Relaxed);
    assert!(!come(&[1, 2, 2]), "the last is under way");
    assert!(come(&[3]));
}

/// A number that somebody made up makes no later datagram one that came before.
#[test]
fn a_number_from_far_ahead_leaves_later_datagrams_new() {
    let far = Socket::Datagram(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let (flow, shared) = (Flow { carrier: Carrier::Udp, ..endless() }, Shared::default());
    let mut sink = Sink::new(&member(&flow, &far, &shared), now());
    let job = job();
    for number in [0, 1 << 39, 1, 2] {
        sink.came(&u64::to_le_bytes(number));
    }
    // One of less than 8 bytes has the end of its number, near to those that came.
    sink.came(&[3]);
    assert_eq!((sink.different, sink.highest), (4, 3));
    shared.datagrams.store(4, Relaxed);
    shared.sender_done.store(true, Relaxed);
    sink.look(&job, now());
    assert!(sink.is_over, "all came");
}

/// Whoever sends on what came before, or numbers that were never sent, keeps no receiver waiting for one that is lost.
#[test]
fn only_datagrams_that_were_sent_and_not_yet_read_are_waited_on_for() {
    let far = Socket::Datagram(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let (flow, shared) = (Flow { carrier: Carrier::Udp, ..endless() }, Shared::default());
    let mut sink = Sink::new(&member(&flow, &far, &shared), now());
    shared.datagrams.store(4, Relaxed);
    sink.came(&0_u64.to_le_bytes());
    let last = sink.last;
    for number in [0, 4, 1000, u64::MAX] {
        sink.came(&u64::to_le_bytes(number));
        assert_eq!(sink.last, last, "{number}");
    }
    sink.came(&3_u64.to_le_bytes());
    assert!(sink.last > last);
}

#[test]
fn a_short_datagram_carries_the_end_of_its_number() {
    let of =
        |number: u64, length: usize, highest| unwrapped(&number.to_le_bytes()[..length], highest);
    assert_eq!(of(7, 1, 0), 7);
    assert_eq!(of(300, 1, 299), 300);
    assert_eq!(of(254, 1, 257), 254);
    assert_eq!(of(65_537, 2, 65_535), 65_537);
    assert_eq!(of(1 << 40, 8, 0), 1 << 40);
    assert_eq!(unwrapped(&[], 5), 5);
}
