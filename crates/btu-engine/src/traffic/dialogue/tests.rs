//! What is sent and what is read do not wait for each other, and whoever hangs up is still answered.

use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;

use btu_core::cell::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::traffic::Event;
use btu_core::units::Bytes;

use super::*;
use crate::comm::Seat;
use crate::traffic::answerer::Answerer;
use crate::traffic::meeting::Reach;
use crate::traffic::request::Hearing;

/// Asks all of this at once, closes these flows at once, and is done when all is answered.
#[derive(Debug)]
struct AtOnce {
    asks: Vec<(u32, u64, u64)>,
    close: Vec<u32>,
    left: usize,
}

impl Closed for AtOnce {
    fn on(&mut self, _now: Nanos, event: Event, actions: &mut Vec<Action>) {
        if event == Event::Start {
            self.left = self.asks.len();
            for (flow, request, answer) in &self.asks {
                let (request, answer) = (Bytes::new(*request), Bytes::new(*answer));
                actions.push(Action::Ask { flow: *flow, request, answer });
            }
            actions.extend(self.close.iter().map(|flow| Action::Close { flow: *flow }));
        } else {
            self.left -= 1;
        }
        if self.left == 0 {
            actions.push(Action::Done);
        }
    }
}

fn dialogue(asks: &[(u32, u64, u64)], close: &[u32]) -> Dialogue {
    let (asks, close) = (asks.to_vec(), close.to_vec());
    Dialogue {
        near: Place::here(Role::Test),
        far: Place::here(Role::Active),
        address: "127.0.0.1:0".parse().unwrap(),
        settings: Settings::default(),
        quic: None,
        train: Box::new(AtOnce { asks, close, left: 0 }),
        start: Nanos::ZERO,
        duration: Nanos::from_secs(10),
        patience: Nanos::from_secs(30),
        cancel: Arc::default(),
        moved: Arc::default(),
    }
}

/// Reads one request to its end. Gives the length of its answer.
fn heard(stream: &mut TcpStream) -> u64 {
    let (mut hearing, mut space) = (Hearing::default(), vec![0; 1 << 16]);
    loop {
        let count = stream.read(hearing.room(&mut space)).unwrap();
        assert!(count > 0, "closed before its request was read");
        if let Some(answer) = hearing.came(count).unwrap() {
            return answer;
        }
    }
}

fn answered(stream: &mut TcpStream, answer: u64) {
    stream.write_all(&vec![0; usize::try_from(answer).unwrap()]).unwrap();
}

/// The other end reads nothing of a long request before all of a long answer was taken: more than sockets hold.
/// Whoever sent to the end before it read would wait for ever.
#[test]
fn a_long_answer_is_heard_while_a_long_request_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let other = thread::spawn(move || {
        let (mut coming, _) = listener.accept().unwrap();
        let (mut going, _) = listener.accept().unwrap();
        let answer = heard(&mut coming);
        answered(&mut coming, answer);
        let receipt = heard(&mut going);
        answered(&mut going, receipt);
        // Until the asking end closes.
        let _ = coming.read(&mut [0; 1]);
    });
    let asks = [(1, 1, LONG), (0, LONG, 1)];
    let far = Respondent { at, token: None };
    let end = Asker::new(dialogue(&asks, &[]), far).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert_eq!(end.trace.reads.last().unwrap().total, Bytes::new(2 * LONG + 2));
    other.join().unwrap();
}

/// The last key of a session is echoed, too, and a request of a byte is one.
fn keys_are_echoed_to_the_last(quic: Option<QuicSettings>) {
    let keys = [(0, 1, 1), (0, 1, 1), (0, 1, 1)];
    let talk = Dialogue { quic, ..dialogue(&keys, &[0]) };
    let moved = Arc::clone(&talk.moved);
    let end = converse(talk).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert!(end.trace.read_times.iter().all(Option::is_some), "{:?}", end.trace.read_times);
    assert_eq!(end.trace.blocks.iter().map(|block| block.size.count()).sum::<u64>(), 6);
    // Besides them three bytes said how long they all are.
    assert_eq!(moved.load(Relaxed), 3 + 6);
}

#[test]
fn what_was_asked_before_a_line_is_closed_is_answered() {
    keys_are_echoed_to_the_last(None);
}

#[cfg(feature = "quic")]
#[test]
fn what_was_asked_before_a_stream_is_finished_is_answered() {
    keys_are_echoed_to_the_last(Some(QuicSettings::default()));
}

/// Asks, hangs up and asks again at once.
#[derive(Debug)]
struct Again;

impl Closed for Again {
    fn on(&mut self, _now: Nanos, event: Event, actions: &mut Vec<Action>) {
        if event != Event::Start {
            return;
        }
        for _ in 0..5 {
            let byte = Bytes::new(1);
            actions.push(Action::Ask { flow: 0, request: byte, answer: byte });
            actions.push(Action::Close { flow: 0 });
        }
        actions.push(Action::Done);
    }
}

/// Where there is a place for one line alone, the next one is let in while the answer of the one before is still on
/// its way to an end that is busy with being let in.
#[test]
fn a_line_that_was_left_keeps_no_place_from_the_next() {
    let seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 7 };
    let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat };
    let answerer = Answerer::open(&reach, &Settings::default(), Guests::of(seat, 1)).unwrap();
    let at = (Ipv4Addr::LOCALHOST, answerer.port()).into();
    let talk = Dialogue { train: Box::new(Again), ..dialogue(&[], &[]) };
    let end = Asker::new(talk, Respondent { at, token: Some(seat) }).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert!(end.trace.read_times.iter().all(Option::is_some), "{:?}", end.trace.read_times);
    assert_eq!(end.trace.read_times.len(), 5);
}

/// More than the sockets of both ends hold together.
const LONG: u64 = 64 << 20;
