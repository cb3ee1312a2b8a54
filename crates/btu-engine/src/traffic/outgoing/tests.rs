//! Datagrams that a kernel does not take.

#[cfg(feature = "quic")]
mod over_quic;

use std::net::Ipv4Addr;
use std::net::UdpSocket;

use btu_core::traffic::sending::burst::Fate;

use super::*;
use crate::time::now;

/// Four datagrams of 100 bytes, two at the start and two after 30 ms.
fn flow() -> Flow {
    let offer = Offer::queued([0, 0, 30, 30].map(|millis| (Nanos::from_millis(millis), 100)));
    let duration = Nanos::from_millis(50);
    Flow { duration, write: Bytes::new(100), ..Flow::of_a_test(Carrier::Udp, offer) }
}

fn pump_until(sender: &mut Sender<'_>, is_enough: impl Fn(&Sender<'_>) -> bool) {
    let mut data = [7; 100];
    while !is_enough(sender) && !sender.is_over() {
        sender.pump(&mut data);
    }
    assert_eq!(data, [7; 100], "others send of the same data");
}

/// A socket that leads nowhere: the kernel refuses each datagram, which is lost and not offered again.
#[test]
fn a_datagram_that_the_kernel_throws_away_is_lost_and_the_next_one_goes() {
    let [near, far] = [0, 0].map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let to = far.local_addr().unwrap();
    let (flow, socket, shared) = (flow(), Socket::Datagram(near), Shared::default());
    let (said, receipts) = (Bytes::ZERO, None);
    let member = Member {
        number: 0,
        flow: &flow,
        socket: &socket,
        shared: &shared,
        is_read_here: true,
        said,
        receipts,
    };
    let mut sender = Sender::new(&member, now());
    pump_until(&mut sender, |sender| sender.refused == 2);
    assert_eq!((sender.refused, shared.datagrams.load(Relaxed)), (2, 2));
    let Socket::Datagram(near) = &socket else { unreachable!("a datagram socket") };
    near.connect(to).unwrap();
    pump_until(&mut sender, |_| false);
    assert_eq!((sender.refused, sender.silenced()), (2, None));
    let Load::Blocks(bursts) = sender.load else { unreachable!("blocks") };
    assert!(bursts.into_records().iter().all(|block| block.fate == Fate::Sent));
    let numbers = [0, 0].map(|_| {
        let mut came = [0; 100];
        assert_eq!(far.recv(&mut came).unwrap(), 100);
        u64::from_le_bytes(came[..8].try_into().unwrap())
    });
    assert_eq!(numbers, [2, 3], "what was lost has its numbers");
    let lonely = Socket::Datagram(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let shared = Shared::default();
    let mut sender = Sender::new(&Member { socket: &lonely, shared: &shared, ..member }, now());
    pump_until(&mut sender, |_| false);
    let Some(Outcome::Failed { reason }) = sender.silenced() else { panic!("nothing of it left") };
    assert!(sender.refused == 4 && reason.ends_with(", of every datagram"), "{reason}");
}
