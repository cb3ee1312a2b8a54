//! COMM against peers that misbehave: each run ends by itself or by the watchdog, and says why.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;

use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::calls::ReadCall;
use btu_core::run::cell::Case;
use btu_core::run::cell::Direction;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Place;
use btu_engine::comm::Amount;
use btu_engine::comm::EndReport;
use btu_engine::comm::FarFlow;
use btu_engine::comm::FarJob;
use btu_engine::comm::FarSide;
use btu_engine::comm::NearFlow;
use btu_engine::comm::NearJob;
use btu_engine::comm::NearReport;
use btu_engine::comm::NearSide;
use btu_engine::comm::Preamble;
use btu_engine::comm::Seat;
use btu_engine::comm::Terms;
use btu_engine::transport::Channel;
use btu_sys::socket::Settings;

use crate::local;
use crate::local::NOBODY;

/// Runs the near side against a far end that does what `far` does with the accepted stream.
fn near_against(
    direction: Direction,
    terms: Terms,
    far: impl FnOnce(TcpStream) + Send + 'static,
) -> Result<NearReport, EngineError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || far(listener.accept().unwrap().0));
    let report = NearSide::connect(near_job(direction, terms, address)).and_then(NearSide::go);
    peer.join().unwrap();
    report
}

fn near_job(direction: Direction, terms: Terms, address: SocketAddr) -> NearJob {
    let flows = vec![NearFlow { peer: Role::Active, direction, address }];
    NearJob { flows, terms, sockets: Settings::default(), place: Place::here(Role::Test) }
}

fn capped(message: u64, amount: Amount, cap: Nanos) -> Terms {
    Terms { cap, ..local::terms(message, amount) }
}

/// Long enough for something to happen before it on a busy machine.
const CAP: Nanos = Nanos::from_millis(500);

#[test]
fn a_reader_that_stops_is_ended_by_the_watchdog() {
    let terms = capped(65_536, Amount::Messages(1_000_000), CAP);
    let (over, wait) = mpsc::channel::<()>();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"r").unwrap();
        // Reads nothing until the run is over: by then the buffers of both ends are full.
        wait.recv().unwrap_err();
    });
    let report =
        NearSide::connect(near_job(Direction::Send, terms, address)).and_then(NearSide::go);
    drop(over);
    peer.join().unwrap();
    let report = report.unwrap();
    assert!(report.gave_up);
    assert_eq!(report.elapsed(), CAP);
    let end = &report.ends[0];
    assert!(end.fault.as_ref().is_some_and(|fault| fault.starts_with("send: ")), "{:?}", end.fault);
    assert!(end.messages > 0 && end.ended.is_none());
}

#[test]
fn a_sender_that_never_starts_is_ended_by_the_watchdog() {
    let terms = capped(1024, Amount::Messages(10), CAP);
    let report = near_against(Direction::Receive, terms, |mut stream| {
        stream.write_all(b"r").unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"g");
    });
    let report = report.unwrap();
    assert!(report.gave_up);
    assert_eq!(report.ends[0].bytes.count(), 0);
}

#[test]
fn a_far_end_that_is_killed_ends_the_run_at_once() {
    let terms = local::terms(1 << 20, Amount::Messages(1_000_000));
    let report = near_against(Direction::Send, terms, |mut stream| {
        stream.write_all(b"r").unwrap();
        stream.read_exact(&mut [0; 4096]).unwrap();
        // Dropped with unread data: the kernel answers with a reset.
    });
    let report = report.unwrap();
    assert!(!report.gave_up);
    let fault = report.ends[0].fault.clone().unwrap();
    assert!(fault.starts_with("send: "), "{fault}");
}

#[test]
fn a_far_end_that_gives_no_receipt_is_no_delivery() {
    let terms = local::terms(1000, Amount::Messages(5));
    let report = near_against(Direction::Send, terms, |mut stream| {
        stream.write_all(b"r").unwrap();
        let mut all = Vec::new();
        assert_eq!(stream.read_to_end(&mut all).unwrap(), 5000);
    });
    let end = report.unwrap().ends.remove(0);
    assert_eq!(end.ended, None);
    let fault = end.fault.unwrap();
    assert!(fault.starts_with("wait for the receipt: "), "{fault}");
}

#[test]
fn a_sender_that_ends_early_has_not_sent_its_messages() {
    let terms = local::terms(1000, Amount::Messages(5));
    let report = near_against(Direction::Receive, terms, |mut stream| {
        stream.write_all(b"r").unwrap();
        stream.read_exact(&mut [0; 1]).unwrap();
        stream.write_all(&[0; 4999]).unwrap();
    });
    let fault = report.unwrap().ends.remove(0).fault.unwrap();
    assert!(fault.starts_with("receive: "), "{fault}");
}

#[test]
fn a_far_end_that_closes_before_the_start_is_a_fault() {
    let terms = local::terms(1000, Amount::Messages(5));
    let report = near_against(Direction::Send, terms, drop).unwrap();
    let fault = report.ends[0].fault.clone().unwrap();
    assert!(fault.starts_with("wait for ready: "), "{fault}");
}

/// No machine has room for such a read: the far end never says 'ready'.
#[test]
fn a_far_end_that_cannot_begin_says_why_and_lets_nobody_wait() {
    let black_box_read = ReadCall::Size(Bytes::new(1 << 60));
    let calls = Calls { black_box_read, ..Calls::default() };
    let terms = Terms { calls, ..local::terms(1000, Amount::Messages(5)) };
    let Outcome::Failed { reason } = local::run(Case::Send, terms).outcome else {
        panic!("a run without a far end")
    };
    assert!(reason.contains("test -> active at active: map a buffer"), "{reason}");
    assert!(reason.contains("test -> active: wait for ready"), "{reason}");
}

#[test]
fn nobody_at_the_address_is_named() {
    let terms = local::terms(1000, Amount::Messages(5));
    let fault = NearSide::connect(near_job(Direction::Send, terms, NOBODY)).unwrap_err();
    assert!(fault.sentence().starts_with("connect to 127.0.0.1:1: "), "{}", fault.sentence());
}

/// A far side that sends, and where it listens.
fn sending_far(terms: Terms) -> (FarSide, SocketAddr) {
    let listen = "127.0.0.1:0".parse().unwrap();
    let flows = vec![FarFlow { direction: Direction::Receive, listen }];
    let (sockets, place) = (Settings::default(), Place::here(Role::Active));
    let far = FarSide::listen(FarJob { flows, terms, sockets, place }).unwrap();
    let address = far.addresses()[0];
    (far, address)
}

#[test]
fn a_test_host_that_is_killed_ends_the_far_side_too() {
    let (far, address) = sending_far(local::terms(65_536, Amount::Messages(1_000_000)));
    let mut near = TcpStream::connect(address).unwrap();
    near.read_exact(&mut [0; 1]).unwrap();
    near.write_all(b"g").unwrap();
    near.read_exact(&mut [0; 1000]).unwrap();
    drop(near);
    let ends: Vec<EndReport> = far.finish().unwrap();
    assert!(ends[0].fault.as_ref().is_some_and(|fault| fault.starts_with("send: ")));
}

#[test]
fn a_far_side_that_nobody_visits_can_be_cancelled() {
    let (far, _) = sending_far(local::terms(100, Amount::Messages(1)));
    far.cancel();
    assert!(far.finish().is_err());
    // And one that is dropped does not wait for anybody.
    drop(sending_far(local::terms(100, Amount::Messages(1))));
}

/// A token that both ends have to know; the first connection that comes in may also cancel the run.
#[derive(Debug)]
struct Token {
    cancel: Option<Arc<AtomicBool>>,
}

impl Preamble for Token {
    fn seat(&self, flow: usize) -> Option<Seat> {
        let flow = u16::try_from(flow).ok()?;
        Some(Seat { secret: [1; 32], run: 1, attempt: 1, flow })
    }

    fn came_in(&self, _connection: &dyn Channel) {
        if let Some(cancel) = &self.cancel {
            cancel.store(true, Relaxed);
        }
    }
}

#[test]
fn a_preamble_is_spoken_before_anything_is_counted() {
    let mut terms = local::terms(100, Amount::Messages(20));
    terms.preamble = Some(Arc::new(Token { cancel: None }));
    let run = local::run(Case::SendRecv, terms);
    assert!(run.outcome.is_complete(), "{:?}", run.outcome);
    let comm = run.comm.unwrap();
    assert!(comm.connections.iter().all(|c| c.bytes.count() == 2000));
    assert!(comm.connections.iter().all(|c| c.proof_failures.is_empty()), "{comm:?}");
}

#[test]
fn a_run_that_is_cancelled_in_its_middle_ends_long_before_its_window() {
    let mut terms = local::terms(100, Amount::Window(Nanos::from_secs(3600)));
    terms.cap = Nanos::from_secs(7200);
    terms.preamble = Some(Arc::new(Token { cancel: Some(Arc::clone(&terms.cancel)) }));
    assert_eq!(local::run_beside(None, Case::SendRecv, terms), None);
}

#[test]
fn a_capped_cell_has_the_cap_as_its_time() {
    let mut terms = capped(100, Amount::Messages(u64::MAX / 1000), CAP);
    terms.cancel = Arc::default();
    let run = local::run(Case::TwoRecvDelayed, terms);
    let Outcome::Capped { reason } = run.outcome else { panic!("{:?}", run.outcome) };
    assert!(reason.contains("not ended 500ms after its start: active -> test: "), "{reason}");
    let comm = run.comm.unwrap();
    assert_eq!(comm.elapsed_ns, CAP);
    assert!(comm.bytes.count() > 0);
}
