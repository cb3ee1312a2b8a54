//! Receivers that answer late, in part, or never.

use std::io::Read;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use btu_core::role::Role;
use btu_core::traffic::Drain;
use btu_core::traffic::sending::burst::Fate;
use btu_core::units::Bytes;
use btu_sys::socket::Settings;

use super::*;
use crate::place::Place;
use crate::time::now;
use crate::traffic::connect::Socket;
use crate::traffic::crew::Member;
use crate::traffic::flow::Shared;
use crate::traffic::job::Carrier;
use crate::traffic::job::Flow;
use crate::traffic::job::Offer;

/// Ten blocks of a thousand bytes, one each millisecond.
fn flow(carrier: Carrier) -> Flow {
    let offer = Offer::queued((0..10).map(|k| (Nanos::from_millis(k), 1000)));
    let duration = Nanos::from_millis(10);
    Flow { duration, drain: Drain::Yes, has_receipts: true, ..Flow::of_a_test(carrier, offer) }
}

/// What a sender leaves behind that is read elsewhere, as far as this process knows.
fn carried(flow: &Flow, near: &Socket, [linger, stall]: [Nanos; 2]) -> Sent {
    let (shared, said, receipts) = (Shared::default(), Bytes::ZERO, None);
    let (number, socket, shared) = (0, near, &shared);
    let is_read_here = false;
    let member = Member { number, flow, socket, shared, is_read_here, said, receipts };
    let crew = Crew { place: Place::here(Role::Test), members: vec![member] };
    let cancel = Arc::new(AtomicBool::new(false));
    let job = Job { parties: &[], flows: &[], linger, stall, cancel };
    let mut done = run(&job, &crew, now()).unwrap();
    let sent = done.flows.pop().unwrap();
    assert!(sent.blocks.iter().all(|block| block.fate == Fate::Sent) && sent.fault.is_none());
    sent
}

fn stream() -> (Socket, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    near.set_nonblocking(true).unwrap();
    (Socket::Stream(near), listener.accept().unwrap().0)
}

const SOON: Nanos = Nanos::from_millis(200);
const NEVER: Nanos = Nanos::from_secs(1 << 20);

fn tcp() -> Carrier {
    Carrier::Tcp(Settings::default())
}

/// It reads all and holds its end open: the flow ends when nothing has moved for the time of its job.
#[test]
fn a_receiver_that_never_answers_keeps_nobody_for_longer_than_a_stall() {
    let (near, mut far) = stream();
    let reads = thread::spawn(move || {
        let mut all = Vec::new();
        far.read_to_end(&mut all).unwrap();
        (far, all.len())
    });
    let sent = carried(&flow(tcp()), &near, [NEVER, SOON]);
    assert_eq!(sent.receipts, Some(vec![None; 10]));
    assert_eq!(reads.join().unwrap().1, 10_000);
}

#[test]
fn a_receiver_that_is_gone_is_not_waited_for() {
    let (near, mut far) = stream();
    let reads = thread::spawn(move || far.read_to_end(&mut Vec::new()).unwrap());
    let sent = carried(&flow(tcp()), &near, [NEVER, NEVER]);
    assert_eq!((sent.receipts, reads.join().unwrap()), (Some(vec![None; 10]), 10_000));
}

/// All at once, long after the last block, and more than there are blocks.
#[test]
fn receipts_that_come_late_are_waited_for() {
    let (near, mut far) = stream();
    let answers = thread::spawn(move || {
        far.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(socket_send(&far, &[1; 300]), 300);
        far
    });
    let sent = carried(&flow(tcp()), &near, [NEVER, NEVER]);
    drop(answers.join().unwrap());
    let receipts = sent.receipts.unwrap();
    let last = sent.blocks.last().unwrap().end.unwrap();
    assert!(receipts.iter().all(|at| at.unwrap() > last), "{receipts:?} {last}");
}

fn socket_send(far: &TcpStream, data: &[u8]) -> usize {
    use std::os::fd::AsFd;
    btu_sys::socket::send(far.as_fd(), data).unwrap()
}

/// Of ten receipts every third is lost, the others come twice, beside what is none.
#[test]
fn receipts_of_datagrams_that_are_lost_are_missing_and_all_others_count_once() {
    let [near, far] = [0, 0].map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    near.set_nonblocking(true).unwrap();
    let answers = thread::spawn(move || {
        for block in 0..10_u32 {
            let mut data = [0; 1000];
            assert_eq!(far.recv(&mut data).unwrap(), 1000);
            let mut receipt = [0; 12];
            receipt[8..].copy_from_slice(&block.to_be_bytes());
            let other = [9; 12];
            for said in [&receipt[..], &receipt[..], &receipt[..11], &other[..]] {
                if block % 3 != 2 {
                    far.send(said).unwrap();
                }
            }
        }
        far
    });
    let sent = carried(&flow(Carrier::Udp), &Socket::Datagram(near), [SOON, NEVER]);
    drop(answers.join().unwrap());
    let came: Vec<bool> = sent.receipts.unwrap().iter().map(Option::is_some).collect();
    let wanted: Vec<bool> = (0..10).map(|block| block % 3 != 2).collect();
    assert_eq!(came, wanted);
}
