//! Plain sockets of the standard library, used inside namespaces.

use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_sys::namespace::NetNs;
use btu_sys::tcp_info::TcpInfo;

use crate::wait::wait_until;

/// Two hosts, and the far one's address on the path to use.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) near: &'a NetNs,
    pub(crate) far: &'a NetNs,
    pub(crate) address: IpAddr,
}

/// Sends `amount` numbered bytes from near to far; gives the bytes that arrived right, and how long
/// it took.
pub(crate) fn tcp_transfer(ends: Ends<'_>, amount: usize) -> (usize, Duration) {
    let listener = inside(ends.far, || TcpListener::bind((ends.address, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let reader = thread::spawn(move || count_numbered(&listener.accept().unwrap().0));
    let mut stream = inside(ends.near, || TcpStream::connect(address).unwrap());
    let start = Instant::now();
    let block = numbered(0, BLOCK);
    for _ in 0..amount / BLOCK {
        stream.write_all(&block).unwrap();
    }
    drop(stream);
    (reader.join().unwrap(), start.elapsed())
}

/// Sends `amount` numbered bytes from near to far, all of which arrive right, and gives what `at_rest`
/// sees of the sender: asked again and again once everything is acknowledged, before the connection ends.
pub(crate) fn tcp_at_rest<T>(
    ends: Ends<'_>,
    amount: usize,
    mut at_rest: impl FnMut(&TcpInfo) -> Option<T>,
) -> T {
    let listener = inside(ends.far, || TcpListener::bind((ends.address, 0)).unwrap());
    let address = listener.local_addr().unwrap();
    let reader = thread::spawn(move || count_numbered(&listener.accept().unwrap().0));
    let mut stream = inside(ends.near, || TcpStream::connect(address).unwrap());
    stream.write_all(&numbered(0, amount)).unwrap();
    let mut seen = None;
    wait_until("everything is acknowledged, and counted on its way", || {
        let info = TcpInfo::of(&stream).unwrap();
        let is_at_rest = (info.unacked(), info.notsent_bytes()) == (Some(0), Some(0));
        seen = is_at_rest.then(|| at_rest(&info)).flatten();
        seen.is_some()
    });
    drop(stream);
    assert_eq!(reader.join().unwrap(), amount);
    seen.unwrap()
}

/// A datagram socket at the near end, of the far address's family.
pub(crate) fn near_socket(ends: Ends<'_>) -> UdpSocket {
    let any: IpAddr = match ends.address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    inside(ends.near, || UdpSocket::bind((any, 0)).unwrap())
}

pub(crate) fn inside<T: Send>(namespace: &NetNs, work: impl FnOnce() -> T + Send) -> T {
    namespace.inside(work).unwrap()
}

/// Every block repeats, since its size is a multiple of the period.
const BLOCK: usize = 251 * 256;

/// Bytes that say where they belong.
pub(crate) fn numbered(start: usize, length: usize) -> Vec<u8> {
    (start..start + length).map(|index| u8::try_from(index % 251).unwrap()).collect()
}

fn count_numbered(mut stream: &TcpStream) -> usize {
    let mut space = vec![0; 251 * 1024];
    let expected = numbered(0, space.len() + 251);
    let mut total = 0;
    loop {
        let count = stream.read(&mut space).unwrap();
        if count == 0 {
            return total;
        }
        let from = total % 251;
        assert!(space[..count] == expected[from..from + count], "wrong bytes after {total}");
        total += count;
    }
}

/// Sends `count` datagrams of `size` bytes; gives which arrived, in order of arrival.
///
/// Never more than [`AHEAD`] are on their way: a faster sender would overrun the receive buffer,
/// which is a loss of the test's own making.
pub(crate) fn udp_count(ends: Ends<'_>, count: u32, size: usize) -> Vec<u32> {
    let receiver = inside(ends.far, || UdpSocket::bind((ends.address, 0)).unwrap());
    let address = receiver.local_addr().unwrap();
    let sender = near_socket(ends);
    let seen = Arc::new(AtomicU32::new(0));
    let reader = thread::spawn({
        let seen = Arc::clone(&seen);
        move || receive_numbers(&receiver, &seen)
    });
    let mut datagram = vec![0; size];
    for number in 0..count {
        datagram[..4].copy_from_slice(&number.to_be_bytes());
        sender.send_to(&datagram, address).unwrap();
        let start = Instant::now();
        while seen.load(Ordering::Relaxed) + AHEAD < number {
            assert!(start.elapsed() < Duration::from_mins(1), "nothing arrives after {number}");
            thread::yield_now();
        }
    }
    for _ in 0..100 {
        sender.send_to(&END.to_be_bytes(), address).unwrap();
    }
    reader.join().unwrap()
}

const AHEAD: u32 = 50;

/// Marks the end; sent often, since some may be dropped.
const END: u32 = u32::MAX;

fn receive_numbers(socket: &UdpSocket, seen: &AtomicU32) -> Vec<u32> {
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut space = [0; 2048];
    let mut numbers = Vec::new();
    loop {
        let (count, _) = socket.recv_from(&mut space).unwrap();
        let number = u32::from_be_bytes(space[..4].try_into().unwrap());
        if number == END && count == 4 {
            return numbers;
        }
        numbers.push(number);
        seen.store(number, Ordering::Relaxed);
    }
}

/// Round trips of one byte over UDP, from near to an echo at far.
pub(crate) fn round_trips(ends: Ends<'_>, count: usize) -> Vec<Duration> {
    let echo = inside(ends.far, || UdpSocket::bind((ends.address, 0)).unwrap());
    let address: SocketAddr = echo.local_addr().unwrap();
    let answerer = thread::spawn(move || {
        let mut space = [0; 16];
        for _ in 0..count {
            let (length, from) = echo.recv_from(&mut space).unwrap();
            echo.send_to(&space[..length], from).unwrap();
        }
    });
    let socket = near_socket(ends);
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let trips = (0..count).map(|_| {
        let start = Instant::now();
        socket.send_to(b"?", address).unwrap();
        socket.recv_from(&mut [0; 16]).unwrap();
        start.elapsed()
    });
    let trips = trips.collect();
    answerer.join().unwrap();
    trips
}
