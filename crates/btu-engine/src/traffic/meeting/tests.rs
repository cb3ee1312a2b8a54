//! Who is let in late, who does not come, and doors that break.

use std::io::Read;
use std::net::Ipv4Addr;

use super::*;
use crate::door::TRIES;
use crate::door::reluctant::let_in_after;
use crate::traffic::job::Offer;

const SEAT: Seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 0 };

fn flow(carrier: Carrier) -> Flow {
    Flow::of_a_test(carrier, Offer::Endless(Arc::new([Bytes::new(1000)])))
}

#[test]
fn a_flow_whose_connection_is_closed_unanswered_is_connected_again() {
    let flow = flow(Carrier::Tcp(Settings::default()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let far = thread::spawn(move || let_in_after(TRIES - 1, &listener, &SEAT));
    let side = call(&[flow], 0, &[Door { at, seat: SEAT, certificate: None }]).unwrap();
    let mut far = far.join().unwrap();
    drop(side);
    assert_eq!(far.read(&mut [0; 1]).unwrap_or(0), 0);
}

#[test]
fn who_did_not_come_is_named_with_the_door() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let doors = [(Settings::default(), listener)];
    let awaited = BTreeSet::from([3, 5]);
    let came = admit(&doors, awaited, SEAT, Instant::now(), &AtomicBool::new(false));
    let told = came.unwrap_err().sentence();
    let begin = format!("2 connections with their token did not come to {at} within 15 s");
    assert!(told.starts_with(&begin) && told.contains("flow 3"), "{told}");
}

/// Whoever ends a run while its far end waits is told that, and not to look for a port that is closed.
#[test]
fn flows_that_are_given_up_before_their_time_are_not_called_late() {
    for carrier in [Carrier::Tcp(Settings::default()), Carrier::Udp] {
        let flows = [flow(carrier)];
        let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat: SEAT };
        let reception = Reception::open(&flows, 1, reach, None).unwrap();
        let ended = reception.receive(&flows, 1, &AtomicBool::new(true));
        let told = ended.unwrap_err().sentence();
        assert_eq!(told, "the connection of flow 0 is not wanted any more");
    }
}

#[test]
fn a_door_that_breaks_is_told_and_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    socket::abort(&listener);
    let end = Instant::now() + Duration::from(PATIENCE);
    let doors = [(Settings::default(), listener)];
    let came = admit(&doors, BTreeSet::from([0]), SEAT, end, &AtomicBool::new(false));
    let told = came.unwrap_err().sentence();
    assert!(told.starts_with("accept a connection: "), "{told}");
}
