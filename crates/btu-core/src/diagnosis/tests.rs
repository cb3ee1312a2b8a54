//! Causes that were planted are named first; healthy transfers have none.

mod ends;
mod lookalikes;
mod pairs;
mod repeats;

use std::collections::BTreeSet;

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::*;
use crate::role::Role;
use crate::sample::CounterDelta;
use crate::tcp::analyse;
use crate::tcp::simulated::Model;
use crate::tcp::simulated::Place;
use crate::units::BitRate;
use crate::units::Bytes;
use crate::units::Nanos;

const TRIALS: u64 = 20;

/// What is said of a simulated transfer.
fn said(model: Model, evidence: &Evidence) -> Vec<Diagnosis> {
    let recorded = model.run();
    let analysis = analyse(&recorded.capture());
    assert_eq!(analysis.connections.len(), 1);
    diagnose(&analysis.connections[0], evidence)
}

fn names(found: &[Diagnosis]) -> Vec<(&'static str, f64)> {
    found.iter().map(|one| (one.cause, one.share.share())).collect()
}

/// The planted cause must be named first in at least 19 of 20 trials, wherever it was captured.
fn named(cause: &str, plant: impl Fn(&mut ChaCha12Rng) -> (Model, Evidence)) {
    named_at(place, cause, plant);
}

/// The same for what only the sender's side shows: what is lost at the end of a flight leaves no
/// trace at the receiver, and a queue in front of it no round trip.
fn named_at_sender(cause: &str, plant: impl Fn(&mut ChaCha12Rng) -> (Model, Evidence)) {
    named_at(|_| Place::Sender, cause, plant);
}

fn named_at(
    place: fn(u64) -> Place,
    cause: &str,
    plant: impl Fn(&mut ChaCha12Rng) -> (Model, Evidence),
) {
    let mut wrong = Vec::new();
    for seed in 0..TRIALS {
        let (model, evidence) = plant(&mut ChaCha12Rng::seed_from_u64(seed));
        let model = Model { place: place(seed), ..model };
        let found = said(model.clone(), &evidence);
        if found.first().is_none_or(|first| first.cause != cause) {
            wrong.push(format!("seed {seed}: {:?} {model:?}", names(&found)));
        }
    }
    assert!(wrong.len() <= 1, "{cause}: {} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Each trial is captured at one end, by turns.
fn place(seed: u64) -> Place {
    if seed.is_multiple_of(2) { Place::Sender } else { Place::Receiver }
}

fn millis(chance: &mut ChaCha12Rng, from: u64, to: u64) -> Nanos {
    Nanos::from_micros(chance.random_range(from * 1000..=to * 1000))
}

fn alone(model: Model) -> (Model, Evidence) {
    (model, Evidence::default())
}

/// Positions of single packets far apart.
fn some(chance: &mut ChaCha12Rng, count: u64, within: std::ops::Range<u64>) -> BTreeSet<u64> {
    let step = (within.end - within.start) / count;
    (0..count).map(|n| within.start + n * step + chance.random_range(0..step / 2)).collect()
}

fn healthy(chance: &mut ChaCha12Rng) -> Model {
    let rate = BitRate::new(chance.random_range(50_000_000..1_000_000_000));
    let delay = millis(chance, 1, 10);
    // The window is what the path holds, and a little of its queue.
    let path = rate.amount_in(delay * 2).count();
    Model {
        rate,
        delay,
        most_flight: (path + path / 4).max(40_000),
        queue: Bytes::new(path.max(200_000)),
        writes: vec![(Nanos::ZERO, chance.random_range(200_000..3_000_000))],
        first: chance.random(),
        ..Model::default()
    }
}

#[test]
fn a_healthy_transfer_has_no_cause() {
    let mut wrong = Vec::new();
    for seed in 0..100 {
        let model = healthy(&mut ChaCha12Rng::seed_from_u64(seed));
        let model = Model { place: place(seed), ..model };
        let found = said(model.clone(), &Evidence::default());
        if !found.is_empty() {
            wrong.push(format!("seed {seed}: {:?} {model:?}", names(&found)));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn two_writes_per_message_with_nagle() {
    named("delayed-ack-nagle", |chance| {
        let messages: u64 = chance.random_range(5..40);
        let (first, second) = (chance.random_range(8..64), chance.random_range(100..1400));
        let every = millis(chance, 50, 90);
        let writes = (0..messages)
            .flat_map(|n| [(every * n, first), (every * n + Nanos::from_micros(20), second)]);
        alone(Model {
            nagle: true,
            delay: millis(chance, 0, 3),
            writes: writes.collect(),
            ..Model::default()
        })
    });
}

#[test]
fn a_reader_that_is_slow() {
    named("slow-reader", |chance| {
        alone(Model {
            reading: Some(BitRate::new(chance.random_range(2_000_000..20_000_000))),
            receive_buffer: chance.random_range(100_000..400_000),
            writes: vec![(Nanos::ZERO, 2_000_000)],
            ..healthy(chance)
        })
    });
}

#[test]
fn a_tiny_receive_buffer() {
    named("small-receive-buffer", |chance| alone(tiny_window(chance)));
}

fn tiny_window(chance: &mut ChaCha12Rng) -> Model {
    Model {
        receive_buffer: chance.random_range(4..20) * 1448,
        delay: millis(chance, 4, 20),
        writes: vec![(Nanos::ZERO, 1_500_000)],
        ..Model::default()
    }
}

/// A larger buffer is no remedy for it.
#[test]
fn a_window_that_nobody_scales_is_told_so() {
    let recorded = Model {
        receive_buffer: 65_000,
        delay: Nanos::from_millis(20),
        writes: vec![(Nanos::ZERO, 3_000_000)],
        ..Model::default()
    };
    let mut analysis = analyse(&recorded.run().capture());
    let mut told = |shift| {
        analysis.connections[0].down.offer.window_scale = shift;
        let found = diagnose(&analysis.connections[0], &Evidence::default());
        assert_eq!(found[0].cause, "small-receive-buffer", "{:?}", names(&found));
        found[0].sentence.contains("no window scaling")
    };
    assert!(!told(Some(7)) && told(None));
}

#[test]
fn a_tiny_send_buffer() {
    named("small-send-buffer", |chance| {
        alone(Model {
            send_buffer: chance.random_range(3..10) * 1448,
            delay: millis(chance, 4, 20),
            writes: vec![(Nanos::ZERO, 1_500_000)],
            ..Model::default()
        })
    });
}

#[test]
fn an_application_that_pauses() {
    named("application", |chance| alone(pausing(chance)));
}

fn pausing(chance: &mut ChaCha12Rng) -> Model {
    let pause = millis(chance, 300, 1200);
    let writes = (0..chance.random_range(3..8)).map(|n| (pause * n, 50_000));
    Model { writes: writes.collect(), delay: millis(chance, 1, 5), ..Model::default() }
}

/// All that follows is lost too, also the probe for the tail.
#[test]
fn a_burst_that_ends_in_a_timeout() {
    named_at_sender("timeout", |chance| alone(burst_lost(chance)));
}

fn burst_lost(chance: &mut ChaCha12Rng) -> Model {
    let start = chance.random_range(100..400);
    let model = Model { most_flight: 60_000, ..healthy(chance) };
    Model { lost: (start..start + 60).collect(), writes: vec![(Nanos::ZERO, 3_000_000)], ..model }
}

#[test]
fn single_losses() {
    named("fast-retransmit", |chance| alone(singly_lost(chance)));
}

fn singly_lost(chance: &mut ChaCha12Rng) -> Model {
    let count = chance.random_range(1..3);
    let model = healthy(chance);
    let lost = some(chance, count, 100..1000);
    Model { lost, writes: vec![(Nanos::ZERO, 3_000_000)], ..model }
}

#[test]
fn lost_tails() {
    named_at_sender("tail-loss", |chance| alone(tail_lost(chance)));
}

/// Each message has 20 segments; the last ones of the third are lost.
fn tail_lost(chance: &mut ChaCha12Rng) -> Model {
    let every = millis(chance, 30, 60);
    let delay = millis(chance, 2, 5);
    let writes = (0..10).map(|n| (every * n, 20 * 1448));
    let lost: BTreeSet<u64> = (60 - chance.random_range(3..6)..60).collect();
    Model { delay, writes: writes.collect(), lost, ..Model::default() }
}

#[test]
fn segments_that_are_overtaken() {
    named("reordering", |chance| {
        let count = chance.random_range(2..8);
        let model = healthy(chance);
        alone(Model {
            late: some(chance, count, 200..1800),
            lateness: Nanos::from_millis(2).max(Nanos::new(model.delay.count() / 2)),
            writes: vec![(Nanos::ZERO, 4_000_000)],
            ..model
        })
    });
}

#[test]
fn a_rate_limit_with_a_small_queue() {
    named_at_sender("small-queue", |chance| {
        let delay = millis(chance, 5, 15);
        let rate = BitRate::new(chance.random_range(8_000_000..40_000_000));
        let path = rate.amount_in(delay * 2).count();
        alone(Model {
            delay,
            rate,
            queue: Bytes::new((path / 3).max(6 * 1448)),
            writes: vec![(Nanos::ZERO, 6_000_000)],
            ..Model::default()
        })
    });
}

#[test]
fn a_rate_limit_with_a_bloated_queue() {
    named_at_sender("bloated-queue", |chance| {
        alone(Model {
            delay: millis(chance, 2, 10),
            rate: BitRate::new(chance.random_range(3_000_000..10_000_000)),
            queue: Bytes::new(4_000_000),
            writes: vec![(Nanos::ZERO, 3_000_000)],
            ..Model::default()
        })
    });
}

#[test]
fn a_window_that_is_forgotten_while_idle() {
    named("slow-start-after-idle", |chance| {
        let pause = millis(chance, 600, 1500);
        let writes = (0..chance.random_range(4..8)).map(|n| (pause * n, 800_000));
        alone(Model {
            forgets: true,
            delay: millis(chance, 5, 20),
            most_flight: 400_000,
            writes: writes.collect(),
            ..Model::default()
        })
    });
}

#[test]
fn a_window_that_opens_by_a_few_bytes() {
    named("silly-window", |chance| alone(silly(chance)));
}

fn silly(chance: &mut ChaCha12Rng) -> Model {
    Model {
        silly: true,
        reading: Some(BitRate::new(chance.random_range(60_000..200_000))),
        receive_buffer: 20_000,
        writes: vec![(Nanos::ZERO, 60_000)],
        delay: millis(chance, 1, 3),
        ..Model::default()
    }
}

/// An end whose data thread waited and ran for so many percent of a second.
fn thread(role: Role, waited: u64, ran: u64) -> EndEvidence {
    EndEvidence {
        role: Some(role),
        run_delay: Some(Nanos::from_millis(waited * 10)),
        cpu: Some(Nanos::from_millis(ran * 10)),
        ..EndEvidence::default()
    }
}

fn of_a_second(evidence: Evidence) -> Evidence {
    let second = Nanos::from_secs(1);
    Evidence { elapsed: second, host_elapsed: second, ..evidence }
}

#[test]
fn threads_that_get_no_cpu_and_time_that_was_stolen() {
    for (waited, ran) in [(30, 30), (50, 40), (80, 15)] {
        let end = || thread(Role::Test, waited, ran);
        let steal = Some(Nanos::from_millis(waited * 10));
        let planted = [
            ("starved-sender", Evidence { sender: end(), ..Evidence::default() }),
            ("starved-receiver", Evidence { receiver: end(), ..Evidence::default() }),
            ("stolen-time", Evidence { steal, ..Evidence::default() }),
        ];
        for (cause, evidence) in planted {
            named(cause, |chance| (healthy(chance), of_a_second(evidence.clone())));
        }
    }
}

/// A thread that a quota stops waits for a CPU like any other: the sentence says why.
#[test]
fn a_thread_that_a_quota_stopped_is_starved_by_it() {
    let evidence = |stopped| {
        let throttled = Some(Nanos::from_millis(stopped));
        of_a_second(Evidence {
            throttled,
            sender: thread(Role::Test, 50, 40),
            ..Evidence::default()
        })
    };
    let sentence = |stopped| {
        let model = healthy(&mut ChaCha12Rng::seed_from_u64(1));
        said(model, &evidence(stopped)).into_iter().map(|found| found.sentence).collect::<Vec<_>>()
    };
    let waited = "the sending thread waited for a CPU 50 % of the time and ran 40 %";
    assert_eq!(sentence(0), [waited]);
    assert_eq!(sentence(480), [format!("{waited}; a CPU quota stopped its host for 48 %")]);
}

/// And so it does behind programs that are none of ours.
#[test]
fn a_thread_that_waits_behind_other_programs_is_told_of_them() {
    let sentence = |used| {
        let (foreign, sender) = (Some(Nanos::from_millis(used)), thread(Role::Test, 50, 40));
        let evidence = of_a_second(Evidence { sender, foreign, ..Evidence::default() });
        let model = healthy(&mut ChaCha12Rng::seed_from_u64(1));
        said(model, &evidence).into_iter().map(|found| found.sentence).collect::<Vec<_>>()
    };
    let waited = "the sending thread waited for a CPU 50 % of the time and ran 40 %";
    assert_eq!(sentence(100), [waited]);
    assert_eq!(sentence(1260), [format!("{waited}; other programs used 126 % of a CPU")]);
}

/// A thread that waits behind interrupts, or one that is seldom needed while the path is full, costs
/// nothing: nor does a tick of stolen time, nor packet work while a CPU is idle.
#[test]
fn waits_that_cost_nothing_are_no_cause() {
    for (waited, ran, busy) in [(18, 42, 99), (30, 5, 99), (9, 1, 10)] {
        let model = healthy(&mut ChaCha12Rng::seed_from_u64(waited));
        let end = EndEvidence {
            busy: Some(Nanos::from_millis(busy * 10)),
            ..thread(Role::Test, waited, ran)
        };
        let evidence = of_a_second(Evidence {
            receiver: end.clone(),
            sender: end,
            steal: Some(Nanos::from_millis(20)),
            softirq: Some(Nanos::from_millis(1200)),
            idle: Some(Nanos::from_millis(300)),
            ..Evidence::default()
        });
        assert_eq!(names(&said(model, &evidence)), []);
    }
}

/// A rival's turn of 4 ms is a sixth of a connection of 25 ms: five hundred messages and answers. Ten such
/// turns in a quarter of a second are starvation.
#[test]
fn one_turn_of_somebody_else_starves_nobody() {
    let evidence = |turns: u64| {
        let of = |millis: u64| Some(Nanos::from_millis(millis * turns));
        let end = || EndEvidence {
            role: Some(Role::Test),
            run_delay: of(4),
            cpu: of(5),
            busy: of(15),
            ..EndEvidence::default()
        };
        let elapsed = Nanos::from_millis(25 * turns);
        Evidence { elapsed, sender: end(), receiver: end(), ..Evidence::default() }
    };
    for seed in 0..TRIALS {
        let model = healthy(&mut ChaCha12Rng::seed_from_u64(seed));
        assert_eq!(names(&said(model, &evidence(1))), []);
    }
    named("starved-sender", |chance| {
        let sender = evidence(10).sender;
        (healthy(chance), Evidence { sender, receiver: EndEvidence::default(), ..evidence(10) })
    });
}

/// Whoever sees that the reader is slow must not blame the host under test for it.
#[test]
fn a_black_box_that_never_rests_is_the_limit_whatever_the_packets_look_like() {
    for (waited, ran) in [(0, 97), (70, 26)] {
        named("blackbox-limited", |chance| {
            let model = Model {
                reading: Some(BitRate::new(chance.random_range(2_000_000..20_000_000))),
                receive_buffer: chance.random_range(100_000..400_000),
                writes: vec![(Nanos::ZERO, 2_000_000)],
                ..healthy(chance)
            };
            let receiver = thread(Role::Active, waited, ran);
            let sender = thread(Role::Test, 1, 20);
            (model, of_a_second(Evidence { sender, receiver, ..Evidence::default() }))
        });
    }
}

/// Of two ends that never rest, the host under test is what is measured.
#[test]
fn a_black_box_as_busy_as_the_host_under_test_is_not_the_limit() {
    let evidence = of_a_second(Evidence {
        receiver: thread(Role::Active, 12, 86),
        sender: thread(Role::Test, 0, 97),
        ..Evidence::default()
    });
    assert_eq!(names(&said(healthy(&mut ChaCha12Rng::seed_from_u64(1)), &evidence)), []);
}

fn counters(moved: &[(&str, i64)]) -> EndEvidence {
    let delta =
        |(name, delta): &(&str, i64)| CounterDelta { name: (*name).to_owned(), delta: *delta };
    EndEvidence { counters: moved.iter().map(delta).collect(), ..EndEvidence::default() }
}

#[test]
fn losses_that_the_receivers_own_host_made() {
    named("receiver-drops", |chance| {
        let receiver = counters(&DROPPED_FOUR);
        (four_lost(chance), Evidence { receiver, ..Evidence::default() })
    });
}

const DROPPED_FOUR: [(&str, i64); 2] = [("TcpExt.TCPBacklogDrop", 3), ("TcpExt.RcvPruned", 1)];

fn four_lost(chance: &mut ChaCha12Rng) -> Model {
    let lost = some(chance, 4, 100..1000);
    Model { lost, writes: vec![(Nanos::ZERO, 3_000_000)], ..healthy(chance) }
}

/// The whole flight is lost: whoever captures at the receiver sees a pause. The sender's kernel
/// decides whose it is.
#[test]
fn a_pause_at_the_receiver_is_a_timeout_where_the_sender_counted_one() {
    for (told, cause) in [(1, "timeout"), (0, "application")] {
        named_at(
            |_| Place::Receiver,
            cause,
            |chance| {
                let writes = (0..3).map(|n| (Nanos::from_millis(20) * n, 10 * 1448));
                let model = Model {
                    delay: millis(chance, 1, 3),
                    // All of the last message, and the probe for it.
                    lost: (20..31).collect(),
                    writes: writes.collect(),
                    ..Model::default()
                };
                let told = [("TcpExt.TCPDelivered", 40), ("TcpExt.TCPTimeouts", told)];
                (model, Evidence { sender: counters(&told), ..Evidence::default() })
            },
        );
    }
}

#[test]
fn drops_that_were_asked_for_and_a_busy_black_box() {
    named("emulator-pattern", |chance| {
        let lost = some(chance, 4, 100..1000);
        let evidence = Evidence { asked_drops: Some(4), ..Evidence::default() };
        let model = healthy(chance);
        (Model { lost, writes: vec![(Nanos::ZERO, 3_000_000)], ..model }, evidence)
    });
    named("blackbox-path", |chance| {
        let blackbox = vec!["active sent 50 segments again, 0 drops were asked for".to_owned()];
        (healthy(chance), Evidence { blackbox, ..Evidence::default() })
    });
}

#[test]
fn what_nothing_explains_is_unknown_only_where_somebody_asks() {
    named("unknown", |chance| {
        let abnormal = vec!["goodput 40 % below its neighbours".to_owned()];
        (healthy(chance), Evidence { abnormal, ..Evidence::default() })
    });
}

#[test]
fn every_cause_has_its_name_its_line_and_its_remedy_once() {
    let mut names: Vec<&str> = CAUSES.iter().map(|cause| cause.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CAUSES.len());
    for cause in CAUSES {
        assert!(!cause.about.is_empty() && !cause.remedy.is_empty());
        assert!(cause.explains.iter().all(|other| names.contains(other)), "{}", cause.name);
    }
}
