//! Who is let in, what counts of an answer, and how it ends.

use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::Shutdown;
use std::net::SocketAddr;

use super::*;
use crate::traffic::request::Lengths;
use crate::wait::wait_until;

fn seat() -> Seat {
    Seat { secret: [3; 32], run: 1, attempt: 2, flow: 7 }
}

fn open(most: usize) -> (Answerer, SocketAddr) {
    let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat: seat() };
    let guests = Guests::of(seat(), most);
    let answerer = Answerer::open(&reach, &Settings::default(), guests).unwrap();
    let at = (Ipv4Addr::LOCALHOST, answerer.port()).into();
    (answerer, at)
}

/// One that says these words. Gives it with the length of the answer.
fn came(at: SocketAddr, nonce: [u8; 12]) -> (TcpStream, usize) {
    let mut guest = TcpStream::connect(at).unwrap();
    guest.write_all(&seat().words(&nonce)).unwrap();
    let mut answer = [0; door::ANSWER];
    let length = guest.read(&mut answer).unwrap_or(0);
    (guest, length)
}

fn await_open(answerer: &Answerer, count: usize) {
    let is_open = || answerer.guests.open.load(Relaxed) == count;
    wait_until(format!("{count} guests are there"), is_open);
}

/// Says what follows. Gives how much of it that was.
fn ask(guest: &mut TcpStream, request: u64, answer: u64) -> usize {
    let head = Lengths::of(request, answer).head(None);
    guest.write_all(head.bytes()).unwrap();
    head.bytes().len()
}

#[test]
fn strangers_take_no_place_and_an_opening_lets_in_once() {
    let (answerer, at) = open(2);
    let _silent: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(at).unwrap()).collect();
    let (first, length) = came(at, [1; 12]);
    assert_eq!(length, door::ANSWER);
    assert_eq!(came(at, [1; 12]).1, 0, "overheard words opened the door");
    let (second, length) = came(at, [2; 12]);
    assert_eq!(length, door::ANSWER);
    await_open(&answerer, 2);
    drop(second);
    // Its place is free for the next one.
    await_open(&answerer, 1);
    let (mut third, length) = came(at, [3; 12]);
    assert_eq!(length, door::ANSWER);
    let said = ask(&mut third, 16, 5);
    third.write_all(&vec![0; 16 - said]).unwrap();
    third.read_exact(&mut [0; 5]).unwrap();
    // Two are there: the next one waits as long as strangers may.
    assert_eq!(came(at, [4; 12]).1, 0);
    drop(first);
}

#[test]
fn what_counts_is_what_was_moved_and_not_what_was_claimed() {
    let (answerer, at) = open(1);
    let (mut guest, _) = came(at, [1; 12]);
    let said = ask(&mut guest, 20, 5);
    guest.write_all(&vec![0; 20 - said]).unwrap();
    guest.read_exact(&mut [0; 5]).unwrap();
    let said = ask(&mut guest, u64::MAX, u64::MAX);
    guest.write_all(&[0; 9]).unwrap();
    guest.shutdown(Shutdown::Write).unwrap();
    assert_eq!(guest.read(&mut [0; 1]).unwrap_or(0), 0, "nothing was asked for in full");
    assert_eq!(answerer.finish().count(), 20 + 5 + to_count(said) + 9);
}

/// An answer that nobody reads is not sent when its place is given to another.
#[test]
fn what_was_not_sent_is_discarded_where_that_is_wanted() {
    let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat: seat() };
    let settings = Settings { reset_on_close: true, ..Settings::default() };
    let answerer = Answerer::open(&reach, &settings, Guests::of(seat(), 1)).unwrap();
    let (mut guest, _) = came((Ipv4Addr::LOCALHOST, answerer.port()).into(), [1; 12]);
    let said = ask(&mut guest, 16, u64::MAX);
    guest.write_all(&vec![0; 16 - said]).unwrap();
    wait_until("some of it was sent", || answerer.moved().count() > 1 << 18);
    drop(answerer);
    let mut space = [0; 4096];
    let end = loop {
        match guest.read(&mut space) {
            Ok(count) => assert_ne!(count, 0, "an orderly end"),
            Err(cause) => break cause.kind(),
        }
    };
    assert_eq!(end, io::ErrorKind::ConnectionReset);
}

/// Whoever sends without a pause keeps nobody from ending.
#[test]
fn an_endless_request_ends_with_the_door() {
    let (answerer, at) = open(1);
    let (mut guest, _) = came(at, [1; 12]);
    ask(&mut guest, u64::MAX, 0);
    let sending = thread::spawn(move || while guest.write_all(&[0; 4096]).is_ok() {});
    wait_until("some of it came", || answerer.moved().count() >= 1 << 16);
    assert!(answerer.finish().count() >= 1 << 16);
    sending.join().unwrap();
}

#[test]
fn a_door_that_breaks_ends_the_answering() {
    for guests in [Guests::anybody(), Guests::of(seat(), 1)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        socket::abort(&listener);
        let ended = thread::spawn(move || answer_all(&listener, &AtomicBool::new(false), &guests));
        wait_until("it ended", || ended.is_finished());
        let told = ended.join().unwrap().unwrap_err().sentence();
        assert!(told.starts_with("accept a connection: "), "{told}");
    }
}
