//! What looks like one cause and is another one.

use super::*;
use crate::tcp::Limit;
use crate::tcp::Sent;
use crate::tcp::Wait;

/// Over a long path acknowledgements come evenly, and no step between two of them is a wait: that a window
/// goes out in each round trip, filled again and again, shows it all the same.
#[test]
fn a_window_that_is_used_up_in_even_steps() {
    let through = |receive_buffer| {
        let model = Model {
            delay: Nanos::from_millis(20),
            rate: BitRate::new(15_500_000),
            writes: vec![(Nanos::ZERO, 20_000_000)],
            receive_buffer,
            ..Model::default()
        };
        said(model, &Evidence::default())
    };
    let found = through(48 * 1448);
    assert_eq!(found.first().map(|one| one.cause), Some("small-receive-buffer"));
    // Each second segment fills the window and waits for nothing: the limit holds all the time.
    let figure = |name| found[0].figures.iter().find(|one| one.name == name).map(|one| one.value);
    let (share, part) = (found[0].share.share(), figure("part of all segments that filled it"));
    assert!(share > 0.95 && part.is_some_and(|part| part < 60.0), "{share} {part:?}");
    assert_eq!(figure("limited by the window"), Some(share * 100.0));
    // A little of it waits at the rate limit: more would wait there longer.
    assert_eq!(names(&through(64 * 1448)), []);
}

/// Without SACK a sender repeats behind each loss what had arrived: nothing need have been overtaken.
#[test]
fn what_is_repeated_without_sack_is_no_reordering() {
    let model = singly_lost(&mut ChaCha12Rng::seed_from_u64(1));
    let mut analysis = analyse(&model.run().capture());
    let one = &mut analysis.connections[0];
    (one.up.counts.fast, one.up.counts.needless) = (300, 200);
    let first = |one: &Connection| diagnose(one, &Evidence::default()).remove(0);
    assert_eq!(first(one).cause, "reordering");
    one.down.offer.sack = false;
    let found = first(one);
    assert_eq!(found.cause, "fast-retransmit");
    let told = ", and 200 more were sent for nothing, without SACK, ";
    assert!(found.sentence.contains(told), "{}", found.sentence);
    one.up.counts.out_of_order = 5;
    assert_eq!(first(one).cause, "reordering");
}

/// Where nothing was lost, something was overtaken behind the place of capture, with or without SACK.
#[test]
fn what_is_overtaken_without_sack_is_reordering_where_nothing_is_lost() {
    let model = Model {
        late: [300, 700, 1100].into(),
        lateness: Nanos::from_millis(5),
        writes: vec![(Nanos::ZERO, 4_000_000)],
        ..healthy(&mut ChaCha12Rng::seed_from_u64(1))
    };
    let mut analysis = analyse(&model.run().capture());
    let one = &mut analysis.connections[0];
    let found = |one: &Connection, evidence: &Evidence| {
        let found = diagnose(one, evidence).into_iter().find(|one| one.cause == "reordering");
        found.map(|one| one.confidence)
    };
    assert_eq!(found(one, &Evidence::default()), Some(Confidence::High));
    one.down.offer.sack = false;
    assert_eq!(found(one, &Evidence::default()), Some(Confidence::Low));
    assert_eq!(found(one, &Evidence { asked_drops: Some(1), ..Evidence::default() }), None);
    one.up.counts.dropped = 1;
    assert_eq!(found(one, &Evidence::default()), None);
}

/// `CoDel` drops whenever packets wait for too long, in a queue of any size.
#[test]
fn what_the_management_of_a_queue_drops_says_nothing_of_its_size() {
    let model = Model {
        delay: Nanos::from_millis(10),
        rate: BitRate::new(10_000_000),
        queue: Bytes::new(8 * 1448),
        writes: vec![(Nanos::ZERO, 6_000_000)],
        ..Model::default()
    };
    let mut analysis = analyse(&model.run().capture());
    let one = &mut analysis.connections[0];
    let first = |one: &Connection| diagnose(one, &Evidence::default()).remove(0);
    assert_eq!(first(one).cause, "small-queue");
    one.up.counts.dropped = one.up.counts.retransmissions;
    one.up.counts.managed = one.up.counts.retransmissions;
    let found = first(one);
    assert_ne!(found.cause, "small-queue");
    assert!(found.sentence.contains("; CoDel of the emulated link dropped "), "{}", found.sentence);
    // Nor where a burst overflowed it once.
    one.up.counts.queue_full = 1;
    one.up.counts.managed -= 1;
    assert_ne!(first(one).cause, "small-queue");
    one.up.counts.managed = one.up.counts.retransmissions / 4;
    one.up.counts.queue_full = one.up.counts.dropped - one.up.counts.managed;
    assert_eq!(first(one).cause, "small-queue");
}

/// Messages of two writes each, the second of which Nagle holds back; each is answered after the other end thought.
fn asked_with_nagle(every: Nanos, thinks: Nanos) -> Connection {
    let writes = (0..20).flat_map(|n| [(every * n, 16), (every * n, 100)]);
    let delay = Nanos::from_millis(2);
    let model = Model { writes: writes.collect(), nagle: true, delay, ..Model::default() };
    let mut one = analyse(&model.run().capture()).connections.remove(0);
    one.down.to_sender = delay * 2;
    let questions = one.up.sent.iter().filter(|sent| sent.end - sent.start == 100);
    let answer = |sent: &Sent| Sent { at: sent.at + delay * 2 + thinks, ..*sent };
    one.down.sent = questions.map(answer).collect();
    let wait = |pair: &[Sent]| Wait {
        from: pair[0].at,
        to: pair[1].at,
        limit: Limit::Application,
        longest: every,
        is_squeezed: false,
    };
    one.down.waits = one.down.sent.windows(2).map(wait).collect();
    one.down.counts.data_segments = 20;
    one
}

/// Who is asked late answers late, and the one that asks was held back.
#[test]
fn who_answers_what_nagle_holds_back_is_no_cause() {
    let mut one = asked_with_nagle(Nanos::from_millis(60), Nanos::from_micros(100));
    let causes = diagnose(&one, &Evidence::default());
    assert_eq!(causes.iter().map(|one| one.cause).collect::<Vec<_>>(), ["delayed-ack-nagle"]);
    // One that stops for long as well is no answer.
    one.up.waits.retain(|wait| wait.limit != Limit::DelayedAck);
    assert_eq!(names(&diagnose(&one, &Evidence::default()))[0].0, "application");
}

/// Each answer takes 100 ms of 160: that is more than what is held back.
#[test]
fn who_thinks_for_long_is_a_cause_beside_nagle() {
    let one = asked_with_nagle(Nanos::from_millis(160), Nanos::from_millis(100));
    let causes = diagnose(&one, &Evidence::default());
    let found: Vec<_> = causes.iter().map(|one| (one.cause, one.from)).collect();
    assert_eq!(found, [("application", one.down.from), ("delayed-ack-nagle", one.up.from)]);
    let [thinks, held] = [causes[0].share.share(), causes[1].share.share()];
    assert!((0.58..0.66).contains(&thinks) && (0.2..0.3).contains(&held), "{thinks} {held}");
}

/// A program that somebody stopped does not wait for something of its own.
#[test]
fn a_pause_of_a_program_that_was_stopped_is_told_as_that() {
    let told = |stood| {
        let model = pausing(&mut ChaCha12Rng::seed_from_u64(1));
        let sender =
            EndEvidence { stood_still: Nanos::from_millis(stood), ..EndEvidence::default() };
        let found = said(model, &Evidence { sender, ..Evidence::default() });
        assert_eq!(found[0].cause, "application");
        let sentence = &found[0].sentence;
        sentence.split_once("; its program stood still for ").map(|(_, rest)| rest.to_owned())
    };
    assert!(told(300).is_some_and(|rest| rest.starts_with("300 ms: ")));
    assert_eq!(told(100), None);
}
