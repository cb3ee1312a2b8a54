//! Two ends that work: the slower one is a cause where the other could have done far more.

use super::*;

/// A receiver that reads slower than data can come, so that its window shuts.
fn shutting(chance: &mut ChaCha12Rng) -> Model {
    Model {
        reading: Some(BitRate::new(chance.random_range(2_000_000..20_000_000))),
        receive_buffer: chance.random_range(100_000..400_000),
        writes: vec![(Nanos::ZERO, 2_000_000)],
        ..healthy(chance)
    }
}

/// Data threads that had work for so many percent of the time; the sender's host, then the other one.
fn ends(roles: [Role; 2], [sender, receiver]: [u64; 2]) -> Evidence {
    let end = |role, worked: u64| thread(role, worked / 10, worked - worked / 10);
    of_a_second(Evidence {
        sender: end(roles[0], sender),
        receiver: end(roles[1], receiver),
        ..Evidence::default()
    })
}

const WAYS: [[Role; 2]; 2] = [[Role::Test, Role::Active], [Role::Active, Role::Test]];

/// Shares that were measured where nothing was wrong. Packets alone would blame the reader.
#[test]
fn of_two_ends_that_work_one_is_slower_and_that_is_no_cause() {
    named("slow-reader", |chance| alone(shutting(chance)));
    for seed in 0..TRIALS {
        let model = shutting(&mut ChaCha12Rng::seed_from_u64(seed));
        let recorded = Model { place: place(seed), ..model }.run();
        let connection = &analyse(&recorded.capture()).connections[0];
        for (roles, worked) in WAYS.iter().flat_map(|way| HEALTHY.map(|worked| (*way, worked))) {
            let found = diagnose(connection, &ends(roles, worked));
            assert_eq!(names(&found), [], "{roles:?} {worked:?}");
        }
    }
}

const HEALTHY: [[u64; 2]; 5] = [[99, 79], [98, 65], [97, 99], [66, 98], [82, 99]];

#[test]
fn a_reader_that_sleeps_is_slow_at_either_end() {
    for roles in WAYS {
        named("slow-reader", |chance| (shutting(chance), ends(roles, [12, 5])));
    }
}

#[test]
fn an_end_that_works_twice_as_long_is_the_cause() {
    let [sends, receives] = WAYS;
    named("blackbox-limited", |chance| (shutting(chance), ends(sends, [30, 98])));
    named("blackbox-limited", |chance| (shutting(chance), ends(receives, [98, 30])));
    named("slow-reader", |chance| (shutting(chance), ends(receives, [30, 98])));
    // Twice as long is a cause also where neither end works all the time.
    named("slow-reader", |chance| (shutting(chance), ends(receives, [42, 85])));
    let found = said(shutting(&mut ChaCha12Rng::seed_from_u64(1)), &ends(receives, [45, 85]));
    assert_eq!(names(&found), []);
}

/// Beside these an inferred cause has no time left, and somebody asks why.
fn working() -> Evidence {
    let abnormal = vec!["goodput 40 % below its neighbours".to_owned()];
    Evidence { abnormal, ..ends(WAYS[0], [99, 79]) }
}

/// What packets or a kernel counted did happen, however little of the time the ends left for it.
#[test]
fn repairs_that_were_counted_are_named_beside_ends_that_work() {
    type Plant = fn(&mut ChaCha12Rng) -> Model;
    let planted: [(&str, Plant); 4] = [
        ("timeout", burst_lost),
        ("tail-loss", tail_lost),
        ("fast-retransmit", singly_lost),
        ("receiver-drops", four_lost),
    ];
    for (cause, plant) in planted {
        let evidence = || {
            let mut evidence = working();
            if cause == "receiver-drops" {
                evidence.receiver.counters = counters(&DROPPED_FOUR).counters;
            }
            evidence
        };
        named_at_sender(cause, |chance| (plant(chance), evidence()));
        for found in said(plant(&mut ChaCha12Rng::seed_from_u64(1)), &evidence()) {
            assert_ne!(found.cause, "unknown");
            assert!(found.share.share() < 0.0101, "{found:?}");
        }
    }
}

/// Among what the ends' work bounds alike that is first which would cost more without it.
#[test]
fn the_order_of_causes_is_the_same_where_ends_work() {
    for seed in 0..TRIALS {
        let [rest, work] = [Evidence::default(), working()]
            .map(|evidence| said(burst_lost(&mut ChaCha12Rng::seed_from_u64(seed)), &evidence));
        let counted = ["timeout", "tail-loss", "fast-retransmit"];
        let order = |found: &[Diagnosis]| {
            let all = found.iter().map(|one| one.cause).filter(|cause| counted.contains(cause));
            all.collect::<Vec<_>>()
        };
        assert_eq!(order(&rest), order(&work));
    }
}

/// Work is what these cost: it cannot be what bounds them.
#[test]
fn windows_of_a_few_bytes_are_named_beside_ends_that_work() {
    named("silly-window", |chance| (silly(chance), working()));
    // Whole segments as well as whole steps of a shifted window: they fill it to the last byte. The
    // receiver's side has moved the window on when such a segment arrives.
    let filled = |chance: &mut _| Model { receive_buffer: 16 * 1448, ..tiny_window(chance) };
    named_at_sender("small-receive-buffer", |chance| (filled(chance), working()));
}

#[test]
fn who_asks_beside_ends_that_work_is_told_so() {
    let healthy = || healthy(&mut ChaCha12Rng::seed_from_u64(1));
    let found = said(healthy(), &working());
    assert_eq!((found.len(), found[0].cause), (1, "unknown"));
    let wanted =
        "the sender ran or waited for a CPU 99 %, the receiver 79 % of the time, and nothing else";
    assert!(found[0].sentence.starts_with(wanted), "{:?}", found[0]);
    let resting = Evidence { abnormal: working().abnormal, ..ends(WAYS[0], [40, 30]) };
    let found = said(healthy(), &resting);
    assert!(found[0].sentence.starts_with("nothing in the capture"), "{:?}", found[0]);
}

/// A thread that nobody measured did not rest all the time: packets have to say that it waited.
#[test]
fn a_thread_that_was_not_measured_is_no_thread_that_rests() {
    for roles in WAYS {
        let evidence = || {
            let mut evidence = ends(roles, [98, 98]);
            let test = [&mut evidence.sender, &mut evidence.receiver];
            for end in test.into_iter().filter(|end| !end.is_black_box()) {
                (end.cpu, end.run_delay) = (None, None);
            }
            evidence
        };
        let found = said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &evidence());
        assert_eq!(names(&found), [], "{roles:?}");
    }
    let receives = || {
        let mut evidence = ends(WAYS[0], [0, 98]);
        (evidence.sender.cpu, evidence.sender.run_delay) = (None, None);
        evidence
    };
    named("blackbox-limited", |chance| (shutting(chance), receives()));
    let found = said(shutting(&mut ChaCha12Rng::seed_from_u64(1)), &receives());
    assert_eq!(found[0].confidence, Confidence::Medium);
    assert!(found[0].sentence.contains("was not measured"), "{:?}", found[0]);
    assert!(found[0].share.share() < 1.0, "{:?}", found[0]);
}

/// The kernel says that the window kept the sender back. It holds many round trips: nobody emptied it.
#[test]
fn a_window_that_is_full_for_want_of_a_reader_is_not_too_small() {
    for seed in 0..TRIALS {
        let reading = Some(BitRate::new(100_000_000));
        let model = Model {
            reading,
            receive_buffer: 1_500_000,
            place: place(seed),
            ..shutting(&mut ChaCha12Rng::seed_from_u64(seed))
        };
        let sender = EndEvidence {
            window_limited: Some(Nanos::from_millis(900)),
            ..thread(Role::Active, 1, 20)
        };
        let receiver = thread(Role::Test, 78, 19);
        let evidence = of_a_second(Evidence { sender, receiver, ..Evidence::default() });
        let found = said(model, &evidence);
        assert_eq!(found[0].cause, "starved-receiver", "{:?}", names(&found));
        assert!(found.iter().all(|one| one.cause != "small-receive-buffer"), "{:?}", names(&found));
    }
}

#[test]
fn time_that_was_stolen_from_a_black_box_counts_where_the_ends_rest() {
    let evidence = |worked| {
        let elapsed = Nanos::from_secs(1);
        let steal = Some(Nanos::from_millis(120));
        let mut evidence = ends(WAYS[0], worked);
        evidence.receiver.host = Some(HostTimes { elapsed, steal, softirq: None });
        evidence
    };
    named("blackbox-limited", |chance| (healthy(chance), evidence([40, 30])));
    let model = healthy(&mut ChaCha12Rng::seed_from_u64(1));
    assert_eq!(names(&said(model, &evidence([97, 90]))), []);
}

/// An emulator that is late costs nothing while both ends work.
#[test]
fn what_is_said_of_a_black_box_counts_where_the_ends_rest() {
    let late = || vec!["test-active up: p99 lateness 300 us > 250 us".to_owned()];
    let evidence = |worked| Evidence { blackbox: late(), ..ends(WAYS[0], worked) };
    named("blackbox-path", |chance| (healthy(chance), evidence([40, 30])));
    let model = healthy(&mut ChaCha12Rng::seed_from_u64(1));
    assert_eq!(names(&said(model, &evidence([97, 90]))), []);
}

/// Some hundred microseconds in front of a black box are no reason for pauses of half a second.
#[test]
fn an_application_that_pauses_is_the_first_cause_however_late_the_emulator_was() {
    named("application", |chance| {
        let blackbox = vec!["test-active up: p99 lateness 300 us > 250 us".to_owned()];
        (pausing(chance), Evidence { blackbox, ..Evidence::default() })
    });
}
