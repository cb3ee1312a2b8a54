//! What is sent and what is read do not wait for each other, and whoever hangs up is still answered.

use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::time::Instant;

use btu_core::role::Role;
use btu_core::sample::Outcome;
use btu_core::traffic::Action;
use btu_core::traffic::Event;
use btu_core::units::Bytes;
use btu_sys::clock;

use super::*;
use crate::door::ANSWER;
use crate::door::Seat;
use crate::door::TRIES;
use crate::door::WORDS;
use crate::door::reluctant::let_in_after;
use crate::time::now;
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

/// Reads one request to its end, which may be like the one before. Gives the length of its answer.
fn heard(stream: &mut TcpStream, hearing: &mut Hearing) -> u64 {
    let mut space = vec![0; 1 << 16];
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
        let answer = heard(&mut coming, &mut Hearing::default());
        answered(&mut coming, answer);
        let receipt = heard(&mut going, &mut Hearing::default());
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

/// One that came to a door of this seat: its connection, and the answer to its words.
fn came(door: &TcpListener, seat: &Seat) -> (TcpStream, [u8; ANSWER]) {
    let (mut guest, _) = door.accept().unwrap();
    let mut words = [0; WORDS];
    guest.read_exact(&mut words).unwrap();
    (guest, seat.answer_to(&words).expect("it knows the token"))
}

/// Lets one in and answers its requests.
struct Host {
    guest: TcpStream,
    hearing: Hearing,
}

impl Host {
    fn of((mut guest, answer): (TcpStream, [u8; ANSWER])) -> Self {
        guest.write_all(&answer).unwrap();
        Self { guest, hearing: Hearing::default() }
    }

    fn serve(&mut self) {
        let answer = heard(&mut self.guest, &mut self.hearing);
        answered(&mut self.guest, answer);
    }
}

/// Nobody is let in before all have come: whoever made one connection after the other would wait for ever.
#[test]
fn connections_are_made_side_by_side() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = door.local_addr().unwrap();
    thread::spawn(move || {
        let guests: Vec<_> = (0..WORKERS).map(|_| came(&door, &SEAT)).collect();
        let mut hosts: Vec<Host> = guests.into_iter().map(Host::of).collect();
        hosts.iter_mut().for_each(Host::serve);
        // Until the asking end closes.
        let _ = hosts[0].guest.read(&mut [0; 1]);
    });
    let asks: Vec<(u32, u64, u64)> = (0..WORKERS).map(|flow| (flow, 1600, 2000)).collect();
    let talk = Dialogue { patience: Nanos::from_secs(10), ..dialogue(&asks, &[]) };
    let end = Asker::new(talk, Respondent { at, token: Some(SEAT) }).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    // All were decided at once, whenever their connections were there.
    assert!(end.trace.blocks.iter().all(|block| block.due == Nanos::ZERO));
}

/// Its words were lost while strangers took its place.
#[test]
fn a_line_that_is_closed_unanswered_is_made_again() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = Respondent { at: door.local_addr().unwrap(), token: Some(SEAT) };
    thread::spawn(move || {
        let guest = let_in_after(TRIES - 1, &door, &SEAT);
        let mut host = Host { guest, hearing: Hearing::default() };
        host.serve();
        // Until the asking end closes.
        let _ = host.guest.read(&mut [0; 1]);
    });
    let end = Asker::new(dialogue(&[(0, 1, 1)], &[]), far).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
}

/// More than a door hears at once come in by and by.
#[test]
fn more_connections_than_may_be_under_way_come_one_after_the_other() {
    let reach = Reach { address: Ipv4Addr::LOCALHOST.into(), ports: None, seat: SEAT };
    let answerer = Answerer::open(&reach, &Settings::default(), Guests::of(SEAT, 200)).unwrap();
    let at = (Ipv4Addr::LOCALHOST, answerer.port()).into();
    let asks: Vec<(u32, u64, u64)> = (0..200).map(|flow| (flow, 1, 1)).collect();
    let end = Asker::new(dialogue(&asks, &[]), Respondent { at, token: Some(SEAT) }).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    assert_eq!(end.trace.reads.last().unwrap().total, Bytes::new(400));
}

/// Types keys on one flow while the connection of another is made.
#[derive(Debug)]
struct Typist {
    keys: u32,
}

impl Closed for Typist {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        let key = |flow| Action::Ask { flow, request: Bytes::new(1), answer: Bytes::new(1) };
        let wait = Action::Wait { until: now + Nanos::from_millis(1) };
        match event {
            Event::Start => actions.push(key(0)),
            Event::Answered { flow: 0 } if self.keys == KEYS => actions.extend([key(1), wait]),
            Event::Timer if self.keys > 0 => {
                self.keys -= 1;
                actions.extend([key(0), wait]);
            }
            Event::Answered { flow: 1 } => actions.push(Action::Done),
            Event::Answered { .. } | Event::Timer => {}
        }
    }
}

/// The second flow is let in when all keys of the first one were typed and echoed, and not before.
#[test]
fn keys_go_on_while_another_connection_is_made() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = door.local_addr().unwrap();
    thread::spawn(move || {
        let mut first = Host::of(came(&door, &SEAT));
        first.serve();
        let second = came(&door, &SEAT);
        (0..KEYS).for_each(|_| first.serve());
        let mut second = Host::of(second);
        second.serve();
        // Until the asking end closes.
        let _ = first.guest.read(&mut [0; 1]);
    });
    let train = Box::new(Typist { keys: KEYS });
    let talk = Dialogue { train, patience: Nanos::from_secs(10), ..dialogue(&[], &[]) };
    let end = Asker::new(talk, Respondent { at, token: Some(SEAT) }).run().unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    let (blocks, read) = (&end.trace.blocks, &end.trace.read_times);
    let at = |place: usize| read[place].unwrap().last;
    // Of all exchanges the second was decided before the keys, and answered after them: its delay has its connection.
    assert_eq!(blocks.len(), 2 + KEYS as usize);
    assert!(blocks[1].due < blocks[2].due && at(1) > at(blocks.len() - 1), "{blocks:?} {read:?}");
    // The keys alone had a time to keep, and each is due when it was to be typed.
    let timed: Vec<Nanos> =
        blocks.iter().filter(|one| !one.is_untimed).map(|one| one.due).collect();
    assert_eq!(timed.len(), KEYS as usize);
    assert!(timed.windows(2).all(|pair| pair[1] - pair[0] == Nanos::from_millis(1)), "{timed:?}");
}

/// Nobody waits for the minute until it would begin: neither for that of the job, nor for its own.
#[test]
fn a_conversation_that_is_given_up_before_it_begins_ends_at_once_and_asks_for_nothing() {
    let began = Instant::now();
    let given_up = |start| Dialogue {
        start,
        cancel: Arc::new(AtomicBool::new(true)),
        ..dialogue(&[(0, 1, 1)], &[])
    };
    let nobody = "127.0.0.1:9".parse().unwrap();
    let door = Door { at: nobody, seat: SEAT, certificate: None };
    let job = now() + MINUTE;
    let ends = [
        converse(given_up(MINUTE)).unwrap(),
        converse_with(given_up(Nanos::ZERO), &door, job).unwrap(),
    ];
    assert!(began.elapsed() < Duration::from(MINUTE));
    for end in ends {
        assert_eq!(end.outcome, Outcome::Capped { reason: "interrupted".to_owned() });
        assert!(end.trace.blocks.is_empty(), "{:?}", end.trace.blocks);
    }
}

/// Types a key each millisecond; who hears of the first is kept from everything until the conversation is over.
#[derive(Debug, Default)]
struct HeldUp {
    over: Nanos,
}

impl Closed for HeldUp {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        let wait = Action::Wait { until: now + Nanos::from_millis(1) };
        let key = Action::Ask { flow: 0, request: Bytes::new(1), answer: Bytes::new(1) };
        match event {
            Event::Start => {
                self.over = crate::time::now() + SHORT;
                actions.push(wait);
            }
            Event::Timer => {
                clock::sleep_until(self.over.count());
                actions.extend([key, wait]);
            }
            Event::Answered { .. } => {}
        }
    }
}

#[test]
fn keys_that_fell_due_while_the_asker_was_held_up_are_typed_after_the_end() {
    let train = Box::new(HeldUp::default());
    let end = converse(Dialogue { train, duration: SHORT, ..dialogue(&[], &[]) }).unwrap();
    assert_eq!(end.outcome, Outcome::Complete);
    let due: Vec<Nanos> = end.trace.blocks.iter().map(|block| block.due).collect();
    assert_eq!(due, (1..20).map(Nanos::from_millis).collect::<Vec<_>>());
    assert!(end.trace.read_times.iter().all(Option::is_some), "{:?}", end.trace.read_times);
    assert!(end.trace.blocks.iter().all(|block| block.start.is_some_and(|start| start >= SHORT)));
}

/// Types a key each millisecond, and takes longer than that for each.
#[derive(Debug)]
struct Overdriven;

impl Closed for Overdriven {
    fn on(&mut self, now: Nanos, event: Event, actions: &mut Vec<Action>) {
        let wait = Action::Wait { until: now + Nanos::from_millis(1) };
        let key = Action::Ask { flow: 0, request: Bytes::new(1), answer: Bytes::new(1) };
        match event {
            Event::Start => actions.push(wait),
            Event::Timer => {
                let done = crate::time::now() + Nanos::from_millis(5);
                clock::sleep_until(done.count());
                actions.extend([key, wait]);
            }
            Event::Answered { .. } => {}
        }
    }
}

/// Half a second of keys takes two and a half, of which it has one and a half; every echo comes at once.
#[test]
fn an_asker_that_falls_behind_is_not_told_as_an_answer_that_does_not_come() {
    let (duration, patience) = (Nanos::from_millis(500), Nanos::from_secs(1));
    let talk = Dialogue { train: Box::new(Overdriven), duration, patience, ..dialogue(&[], &[]) };
    let end = converse(talk).unwrap();
    let Outcome::Capped { reason } = &end.outcome else { panic!("{}", end.outcome) };
    let late = reason.strip_prefix("the asker was ").expect(reason);
    let late = late.strip_suffix(" s behind its schedule").expect(reason);
    assert!((1.0..1.6).contains(&late.parse::<f64>().unwrap()), "{reason}");
    // All but the last ones, which had no time for that, are answered.
    let (asked, answered) = (end.trace.blocks.len(), end.trace.reads.len());
    assert!(asked > 20 && asked - answered < 10, "{answered} of {asked}");
}

/// The asker is behind as well, but the first key had all its time.
#[test]
fn an_answer_that_does_not_come_is_told_however_late_the_asker_is() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = Respondent { at: door.local_addr().unwrap(), token: None };
    let (duration, patience) = (Nanos::from_millis(200), Nanos::from_millis(100));
    let talk = Dialogue { train: Box::new(Overdriven), duration, patience, ..dialogue(&[], &[]) };
    let reason = "an answer took longer than 0.1 s".to_owned();
    assert_eq!(Asker::new(talk, far).run().unwrap().outcome, Outcome::Capped { reason });
}

/// Why a conversation that asks for a byte of this end fails.
fn failure(far: Respondent) -> String {
    let talk = Dialogue { patience: Nanos::ZERO, ..dialogue(&[(0, 1, 1)], &[]) };
    match Asker::new(talk, far).run().unwrap().outcome {
        Outcome::Failed { reason } => reason,
        outcome => panic!("{outcome}"),
    }
}

#[test]
fn a_connection_that_is_not_made_is_told_with_its_step() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = door.local_addr().unwrap();
    // The kernel connects, and nobody answers the words.
    let silent = failure(Respondent { at, token: Some(SEAT) });
    assert!(silent.starts_with(&format!("show the token to {at}: ")), "{silent}");
    drop(door);
    let refused = failure(Respondent { at, token: None });
    assert!(refused.starts_with(&format!("connect to {at}: ")), "{refused}");
}

const SEAT: Seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 7 };
/// No more than may be under way at once.
const WORKERS: u32 = 40;
const KEYS: u32 = 3;
const MINUTE: Nanos = Nanos::from_secs(60);
/// How long a conversation lasts in which somebody is late.
const SHORT: Nanos = Nanos::from_millis(20);
/// More than the sockets of both ends hold together.
const LONG: u64 = 64 << 20;
