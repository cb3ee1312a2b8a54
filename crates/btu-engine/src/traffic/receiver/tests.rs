//! Abandoned flows, and numbers of datagrams that were cut short.

use std::io::Write;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::traffic::Drain;

use super::*;

fn endless() -> Flow {
    Flow {
        from: 0,
        to: 1,
        address: None,
        carrier: Carrier::Tcp(socket::Settings::default()),
        port: 0,
        offer: Offer::Endless([Bytes::new(1000)].into()),
        start: Nanos::ZERO,
        duration: Nanos::from_secs(1),
        write: Bytes::new(1000),
        read: Bytes::new(1000),
        drain: Drain::No,
        pace: None,
        code_point: None,
        held_to: None,
    }
}

#[test]
fn what_comes_for_an_abandoned_flow_wakes_nobody() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = Socket::Stream(listener.accept().unwrap().0);
    let (flow, shared) = (endless(), Shared::default());
    let member = Member {
        number: 0,
        flow: &flow,
        socket: &far,
        shared: &shared,
        is_read_here: true,
        said: Bytes::ZERO,
        receipts: None,
    };
    let job = Job {
        parties: &[],
        flows: &[],
        linger: Nanos::from_secs(1),
        stall: Nanos::from_secs(1),
        cancel: Arc::new(AtomicBool::new(false)),
    };
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
