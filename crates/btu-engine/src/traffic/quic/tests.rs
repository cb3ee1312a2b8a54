//! What the network says of a connection is no word of its other end.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::*;

/// A socket of loopback.
fn socket() -> Arc<UdpSocket> {
    quiet(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).unwrap()
}

/// An end that sends, and its socket.
fn sending(trust: &Trust, far: SocketAddr) -> (QuicEnd, Arc<UdpSocket>) {
    let near = socket();
    near.connect(far).unwrap();
    let settings = (&QuicSettings::default(), 0, far);
    (QuicEnd::calling(Arc::clone(&near), trust, settings, Half::Sends).unwrap(), near)
}

/// Until `done`, with a turn of each in between; false after a time that no loopback takes.
fn until(ends: [&mut QuicEnd; 2], mut done: impl FnMut([&mut QuicEnd; 2]) -> bool) -> bool {
    let [one, other] = ends;
    for _ in 0..5000 {
        one.turn().unwrap();
        other.turn().unwrap();
        if done([one, other]) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// While the other end speaks with somebody else, the system answers in its place that nobody is there.
#[test]
fn a_connection_outlives_a_time_in_which_it_is_refused() {
    let keys = Keys::new().unwrap();
    let trust = Trust::of(keys.certificate()).unwrap();
    let far = socket();
    let address = far.local_addr().unwrap();
    let settings = QuicSettings::default();
    let mut reading =
        QuicEnd::awaiting(Arc::clone(&far), &keys, (&settings, 0), Half::Reads).unwrap();
    let (mut sending, near) = sending(&trust, address);
    assert!(until([&mut sending, &mut reading], |[sending, reading]| {
        sending.is_met().unwrap() && reading.is_met().unwrap()
    }));

    let nobody = socket().local_addr().unwrap();
    far.connect(nobody).unwrap();
    let data = vec![7; 100_000];
    let mut sent = sending.send(&data).unwrap();
    // The datagram of the test itself is refused as the connection's are, which is told to the next call.
    assert!((0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        sending.turn().unwrap();
        near.send(b"?").is_err_and(|cause| cause.kind() == io::ErrorKind::ConnectionRefused)
    }));
    assert!(!sending.is_gone());

    far.connect(near.local_addr().unwrap()).unwrap();
    let (mut read, mut space) = (0, [0; 4096]);
    let ends = [&mut sending, &mut reading];
    assert!(until(ends, |[sending, reading]| {
        sent += sending.send(&data[sent..]).unwrap_or(0);
        while let Ok(count @ 1..) = reading.recv(&mut space) {
            read += count;
        }
        read == data.len()
    }));
}

#[test]
fn nobody_who_listens_is_told_at_once() {
    let keys = Keys::new().unwrap();
    let trust = Trust::of(keys.certificate()).unwrap();
    let nobody = socket().local_addr().unwrap();
    let (mut sending, _) = sending(&trust, nobody);
    let refused = (0..5000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(1));
        sending.turn().err()
    });
    assert_eq!(refused.unwrap().kind(), io::ErrorKind::ConnectionRefused);
}
