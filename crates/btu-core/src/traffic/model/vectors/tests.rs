//! Connections at their times, side by side, over and over.

use super::*;
use crate::traffic::train::converse;

/// What is done, in ms: `(at, flow, request, answer)`, or `(at, flow, 0, 0)` for a close.
fn done(text: &str, delay: u64, until: u64) -> Vec<(u64, u32, u64, u64)> {
    let all: Arc<[Vector]> = read(text).expect(text).into();
    let mut train = Replayed::new(all);
    let ms = Nanos::from_millis;
    let all = converse(&mut train, ms(delay), ms(until), 10_000);
    let told = |(at, action): (Nanos, Action)| match action {
        Action::Ask { flow, request, answer } => {
            Some((at.count() / 1_000_000, flow, request.count(), answer.count()))
        }
        Action::Close { flow } => Some((at.count() / 1_000_000, flow, 0, 0)),
        _ => None,
    };
    all.into_iter().filter_map(told).collect()
}

/// Two overlap; the third has the place of the first, and closes at 40, when all begins anew.
const THREE: &str = "S 1000 1 1 1\nI 0 0 100\nA 0 2000 200\nI 0 8000 101\nA 0 0 201\nA 5000 0 0\n\
                     S 11000 1 1 1\nI 0 0 300\nI 20000 0 0\n\
                     S 21000 1 1 1\nI 0 0 400\nA 0 0 401\nI 0 20000 0\n";

#[test]
fn connections_begin_at_their_times_in_free_places() {
    let first = [
        (0, 0, 100, 200),
        (10, 0, 101, 201),
        (10, 1, 300, 0),
        (15, 0, 0, 0),
        (20, 0, 400, 401),
        (30, 1, 0, 0),
        (40, 0, 0, 0),
    ];
    let again = first.map(|(at, flow, request, answer)| (at + 40, flow, request, answer));
    let both: Vec<_> = first.into_iter().chain(again).collect();
    assert_eq!(done(THREE, 0, 79), both[..13]);
}

/// The request at 10 ms waits for the answer to that at 0, and the rest of the connection with it; the starts of
/// others do not, as long as there is a place.
#[test]
fn what_waits_for_an_answer_is_later_where_that_is() {
    let found = done(THREE, 3, 39);
    let wanted = [
        (0, 0, 100, 200),
        (10, 1, 300, 0),
        (13, 0, 101, 201),
        // 3 ms for each answer and 5 to wait.
        (21, 0, 0, 0),
        (21, 0, 400, 401),
        (33, 1, 0, 0),
    ];
    assert_eq!(found, wanted);
}

/// Each end of these sends by its own clock, however slow answers are, and it closes when all have come.
#[test]
fn what_does_not_wait_is_due_at_its_times() {
    let text = "CONC 0 2 2 1 1\nc> 10\nt> 4000\nc< 20\nt< 6000\nc> 11\nc< 21\nt< 1000\n";
    let sent = [(0, 0, 10, 20), (4, 0, 11, 0), (6, 0, 1, 21)];
    let at_once: Vec<_> = sent.into_iter().chain([(7, 0, 0, 0)]).collect();
    assert_eq!(done(text, 0, 7)[..4], at_once);
    let late: Vec<_> = sent.into_iter().chain([(56, 0, 0, 0), (56, 0, 10, 20)]).collect();
    assert_eq!(done(text, 50, 57), late);
}

/// A rate per second of a recording is what it has by its length.
#[test]
fn the_rate_of_a_recording_is_its_bytes_over_its_length() {
    let all = read(THREE).expect("legal");
    assert_eq!(period(&all), Nanos::from_millis(40));
    let bytes =
        all.iter().map(Vector::bytes).fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    assert_eq!(bytes.map(whole), [901, 802]);
}

/// Whoever edits a file by hand gets an answer, and what is read can be sent.
#[test]
fn damaged_vectors_are_refused_or_sent() {
    let mut sent = 0;
    for (at, _) in THREE.char_indices() {
        for letter in ["", "0", "9", " ", "<", "c", "S", "-", "\n", "#"] {
            let damaged = format!("{}{letter}{}", &THREE[..at], &THREE[at + 1..]);
            if let Ok(all) = read(&damaged) {
                assert!(all.iter().all(|one| one.steps.len() > 1), "{damaged}");
                let mut train = Replayed::new(all.into());
                let done = converse(&mut train, Nanos::new(1_000), Nanos::MAX, 200);
                assert!(done.len() >= 200, "{damaged}");
                sent += 1;
            }
        }
    }
    assert!(sent > 100, "{sent}");
}
