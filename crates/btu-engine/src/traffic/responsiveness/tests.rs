//! Far ends that fall silent or go away, and whoever does not wait for them.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;
use std::time::Instant;

use super::*;
use crate::door::Seat;
use crate::traffic::request::Hearing;

const SEAT: Seat = Seat { secret: [3; 32], run: 1, attempt: 2, flow: 7 };

/// What an asker shares with whoever wants it, or does not.
#[derive(Default)]
struct Play {
    cancel: AtomicBool,
    moved: AtomicU64,
}

impl Play {
    fn asker(&self, at: SocketAddr, token: Option<Seat>) -> Asker<'_> {
        let (far, interval) = (Respondent { at, token }, Nanos::from_millis(50));
        Asker { far, interval, most: 3, cancel: &self.cancel, moved: &self.moved }
    }
}

#[test]
fn nobody_waits_for_a_silent_far_end_that_is_not_wanted_any_more() {
    let began = Instant::now();
    // The kernel connects; nobody says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    let given_up = Play { cancel: AtomicBool::new(true), ..Play::default() };
    let fault = |token| {
        given_up.asker(at, token).foreign(&given_up.cancel, |_, _| ()).unwrap_err().sentence()
    };
    let greeting = fault(Some(SEAT));
    assert!(greeting.ends_with(": interrupted"), "{greeting}");
    let answer = fault(None);
    assert!(answer.starts_with("exchange a probe: "), "{answer}");
    let all = given_up.asker(at, None).run();
    assert_eq!(all.unwrap(), ResponsivenessSample::default());
    assert!(began.elapsed() < Duration::from(PATIENCE));
}

/// Answers the requests of so many connections; before that of the last one it listens no more.
fn serve(far: TcpListener, connections: usize) {
    let next = || far.accept().unwrap().0;
    for _ in 1..connections {
        let stream = next();
        thread::spawn(move || answer(stream));
    }
    let last = next();
    drop(far);
    let _ = answer(last);
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    let (mut space, mut hearing) = (vec![0; CHUNK], Hearing::default());
    loop {
        let count = stream.read(hearing.room(&mut space))?;
        if count == 0 {
            return Ok(());
        }
        if let Some(answer) = hearing.came(count)? {
            stream.write_all(&vec![0; usize::try_from(answer).unwrap()])?;
        }
    }
}

/// What comes of a far end that takes so many connections.
fn found(connections: usize) -> Result<ResponsivenessSample, EngineError> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || serve(listener, connections));
    Play::default().asker(at, None).run()
}

/// Where no connection more is had, what was measured before stays.
#[test]
fn a_connection_that_is_not_made_ends_the_load_and_keeps_its_intervals() {
    let sample = found(IDLE_PROBES + 2).unwrap();
    assert_eq!((sample.idle.len(), sample.intervals.len()), (IDLE_PROBES, 1), "{sample:?}");
    assert!(sample.intervals[0].foreign.len() <= 1 && sample.broken >= 1, "{sample:?}");
    // Without the first there is nothing to keep.
    let none = found(IDLE_PROBES).unwrap_err().sentence();
    assert!(none.starts_with("connect to 127.0.0.1:"), "{none}");
}
