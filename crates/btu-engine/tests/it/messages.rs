//! Message layers and launches: each layer is held to the contract of an endpoint, with each way to wait.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "ranks, tags and sums of tests are small, and payloads repeat"
)]

mod frames;
mod kernels;
mod launches;
mod processes;
mod pvm;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::app::endpoint::Arrival;
use btu_core::app::endpoint::Endpoint;
use btu_core::app::endpoint::LayerError;
use btu_core::app::ranks::Ranks;
use btu_core::app::sample::Wait;
use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Place;
use btu_engine::message;
use btu_engine::message::MESSAGE_LAYERS;
use btu_engine::message::MessageLayer;
use btu_engine::message::RanksAre;
use btu_engine::message::Seat;
use btu_engine::message::Terms;
use btu_sys::alloc::thread_allocations;
use btu_sys::namespace;

type End = Box<dyn Endpoint + Send>;

/// So many seats on this machine.
fn seats(count: usize) -> Vec<Seat> {
    let seat = Seat { place: Place::here(Role::Test), address: [127, 0, 0, 1].into() };
    vec![seat; count]
}

/// Much longer than any test takes, also on a busy machine.
fn terms(wait: Wait) -> Terms {
    let patience = Nanos::from_secs(60);
    Terms { wait, patience, stop: Arc::default(), kept_limit: Terms::KEPT }
}

/// The ends of ranks that are threads.
fn join(layer: &dyn MessageLayer, seats: &[Seat], terms: &Terms) -> Result<Vec<End>, EngineError> {
    match layer.ranks() {
        RanksAre::Processes(_) => panic!("{}: its ranks are processes", layer.name()),
        RanksAre::Threads(layer) => layer.join(seats, terms),
    }
}

/// The layers that join threads here.
fn layers() -> impl Iterator<Item = &'static dyn MessageLayer> {
    let all = MESSAGE_LAYERS.iter().copied();
    all.filter(|layer| matches!(layer.ranks(), RanksAre::Threads(_))).filter(|layer| {
        let Err(lack) = join(*layer, &seats(2), &terms(Wait::Block)) else { return true };
        let kind = if namespace::is_privileged() { "kernel lacks" } else { "not root" };
        crate::skip::record(&format!("{kind}: {}: {}", layer.name(), lack.sentence()));
        false
    })
}

/// Every layer with every way to wait.
fn everywhere(mut check: impl FnMut(&dyn MessageLayer, Terms)) {
    for layer in layers() {
        layer.waits().iter().for_each(|wait| check(layer, terms(*wait)));
    }
}

/// What each rank comes to, a thread each.
fn among<T: Send>(
    layer: &dyn MessageLayer,
    ranks: usize,
    terms: &Terms,
    life: impl Fn(&mut dyn Endpoint) -> T + Sync,
) -> Vec<T> {
    among_seats(layer, &seats(ranks), terms, life)
}

fn among_seats<T: Send>(
    layer: &dyn MessageLayer,
    seats: &[Seat],
    terms: &Terms,
    life: impl Fn(&mut dyn Endpoint) -> T + Sync,
) -> Vec<T> {
    let ends = join(layer, seats, terms).unwrap();
    let life = &life;
    thread::scope(|scope| {
        let one = |mut end: End| scope.spawn(move || life(&mut *end));
        let threads: Vec<_> = ends.into_iter().map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Bytes that differ by sender, tag and place.
fn payload(from: usize, tag: u32, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + from * 31 + tag as usize * 13) as u8).collect()
}

fn expect(end: &mut dyn Endpoint, from: usize, tag: u32, length: usize) -> Arrival {
    let mut space = vec![0; length];
    let arrival = end.receive(from, tag, &mut space).unwrap();
    assert!(space == payload(from, tag, length), "tag {tag} of rank {from}, {length} B");
    arrival
}

#[test]
fn every_layer_is_found_by_its_name() {
    for layer in MESSAGE_LAYERS {
        assert_eq!(message::by_name(layer.name()).unwrap().name(), layer.name());
        assert!(!layer.about().is_empty() && layer.waits().contains(&Wait::default()));
    }
    assert!(message::by_name("pigeon").is_none());
}

#[test]
fn messages_of_a_rank_and_tag_come_in_order_and_whole() {
    everywhere(|layer, terms| {
        among(layer, 3, &terms, all_to_all);
    });
}

/// Each rank sends messages of many lengths to all others, and receives theirs.
fn all_to_all(end: &mut dyn Endpoint) {
    const LENGTHS: [usize; 8] = [0, 1, 15, 4080, 4096, 4097, 70_000, 300_000];
    let (me, all) = (end.rank(), end.ranks());
    let others = (0..all).filter(|peer| *peer != me);
    for (tag, length) in (0..).zip(LENGTHS) {
        others.clone().for_each(|to| end.send(to, tag, &payload(me, tag, length)).unwrap());
        for from in others.clone() {
            assert!(expect(end, from, tag, length).sent_at <= Some(end.now()));
        }
    }
}

#[test]
fn tags_are_received_in_any_order() {
    everywhere(|layer, terms| {
        among(layer, 2, &terms, |end| {
            if end.rank() == 0 {
                for (tag, length) in [(7, 10), (8, 100_000), (7, 20), (9, 0)] {
                    end.send(1, tag, &payload(0, tag, length)).unwrap();
                }
            } else {
                for (tag, length) in [(9, 0), (7, 10), (8, 100_000), (7, 20)] {
                    expect(end, 0, tag, length);
                }
            }
        });
    });
}

/// None of them has received anything when all send: who cannot send on takes in what comes.
#[test]
fn all_ranks_send_much_at_once_and_none_stands_still() {
    const LENGTH: usize = 16 << 20;
    for layer in layers() {
        among(layer, 2, &terms(Wait::Block), |end| {
            let (me, other) = (end.rank(), 1 - end.rank());
            let sent = vec![me as u8 + 1; LENGTH];
            let mut space = vec![0; LENGTH];
            end.send(other, 5, &sent).unwrap();
            end.receive(other, 5, &mut space).unwrap();
            assert!(space == vec![other as u8 + 1; LENGTH]);
        });
    }
}

/// Rank 0 waits for rank 1, which waits for rank 2, which can go on only once rank 0 takes in what it did not ask for.
#[test]
fn a_rank_that_waits_takes_in_what_others_send() {
    everywhere(|layer, terms| {
        among(layer, 3, &terms, |end| match end.rank() {
            0 => {
                expect(end, 1, 1, 8);
                expect(end, 2, 2, 8 << 20);
            }
            1 => {
                expect(end, 2, 3, 8);
                end.send(0, 1, &payload(1, 1, 8)).unwrap();
            }
            _ => {
                end.send(0, 2, &payload(2, 2, 8 << 20)).unwrap();
                end.send(1, 3, &payload(2, 3, 8)).unwrap();
            }
        });
    });
}

#[test]
fn collectives_come_to_the_same_bits_over_every_layer() {
    let mut seen: Option<Vec<Vec<u64>>> = None;
    everywhere(|layer, terms| {
        let bits = among(layer, 5, &terms, |end| collectives(end).unwrap());
        assert!(bits.iter().all(|of_rank| *of_rank == bits[0]), "{}", layer.name());
        assert_eq!(*seen.get_or_insert_with(|| bits.clone()), bits, "{}", layer.name());
    });
}

/// Sums whose rounding depends on the order of the additions.
fn collectives(end: &mut dyn Endpoint) -> Result<Vec<u64>, LayerError> {
    let mut ranks = Ranks::new(end);
    let me = ranks.rank() as f64;
    let mut sums: Vec<f64> =
        (0..500).map(|at| ((f64::from(at) + 1.1) * (me + 0.3)).sin()).collect();
    ranks.all_reduce(&mut sums)?;
    let mut parts = vec![0.0; 500];
    ranks.all_to_all(&sums, &mut parts)?;
    ranks.barrier()?;
    ranks.all_reduce(&mut parts)?;
    Ok(sums.iter().chain(&parts).map(|sum| sum.to_bits()).collect())
}

#[test]
fn a_message_of_another_length_is_an_error_with_both() {
    everywhere(|layer, terms| {
        let outcomes = among(layer, 2, &terms, |end| match end.rank() {
            0 => end.send(1, 4, &[1; 12]),
            _ => end.receive(0, 4, &mut [0; 8]).map(drop),
        });
        let error = LayerError::Length { from: 0, tag: 4, got_bytes: 12, wanted_bytes: 8 };
        assert_eq!(outcomes, [Ok(()), Err(error)], "{}", layer.name());
    });
}

#[test]
fn more_than_may_be_kept_is_an_error_and_no_growth() {
    everywhere(|layer, terms| {
        let terms = Terms { kept_limit: Bytes::new(100_000), ..terms };
        let outcomes = among(layer, 2, &terms, |end| match end.rank() {
            0 => (0..10).try_for_each(|_| end.send(1, 4, &vec![1; 30_000])),
            _ => end.receive(0, 5, &mut []).map(drop),
        });
        let error = LayerError::Flooded { rank: 1, kept_bytes: 4 * 30_016, limit_bytes: 100_000 };
        assert_eq!(outcomes[1], Err(error), "{}", layer.name());
    });
}

/// The last word of a rank reaches the others though it read nothing of what they sent; then it is gone.
#[test]
fn what_a_rank_sent_before_its_end_is_received() {
    everywhere(|layer, terms| {
        let outcomes = among(layer, 2, &terms, |end| {
            if end.rank() == 0 {
                return end.send(1, 1, &payload(0, 1, 50_000));
            }
            // The other end may be gone already.
            let _ = end.send(0, 1, &[1; 5000]);
            expect(end, 0, 1, 50_000);
            end.receive(0, 1, &mut [0]).map(drop)
        });
        let Err(LayerError::Gone { peer: 0, .. }) = outcomes[1] else {
            panic!("{}: {outcomes:?}", layer.name())
        };
    });
}

#[test]
fn the_end_of_a_rank_ends_all_who_wait_for_it_by_its_name() {
    everywhere(|layer, terms| {
        let outcomes = among(layer, 4, &terms, |end| match end.rank() {
            2 => Ok(()),
            0 => (0..1000).try_for_each(|_| end.send(2, 1, &vec![1; 100_000])),
            _ => end.receive(2, 1, &mut [0; 10]).map(drop),
        });
        for outcome in [&outcomes[0], &outcomes[1], &outcomes[3]] {
            assert!(
                matches!(outcome, Err(LayerError::Gone { peer: 2, .. })),
                "{}: {outcomes:?}",
                layer.name()
            );
        }
    });
}

/// Both ends are kept, so that none is gone; the other rank neither sends nor receives.
fn waits_alone(
    layer: &dyn MessageLayer,
    terms: &Terms,
    wait: impl Fn(&mut dyn Endpoint) -> LayerError,
) -> LayerError {
    let mut ends = join(layer, &seats(2), terms).unwrap();
    wait(&mut *ends[0])
}

fn receives(end: &mut dyn Endpoint) -> LayerError {
    end.receive(1, 1, &mut [0]).unwrap_err()
}

/// More than any channel holds.
fn sends(end: &mut dyn Endpoint) -> LayerError {
    end.send(1, 1, &vec![0; 64 << 20]).unwrap_err()
}

#[test]
fn patience_ends_a_call_whose_peer_is_silent() {
    everywhere(|layer, terms| {
        let patience = Nanos::from_millis(60);
        let terms = Terms { patience, ..terms };
        for wait in [receives, sends] {
            let start = Instant::now();
            let error = waits_alone(layer, &terms, wait);
            assert_eq!(error, LayerError::Silent { peer: 1, patience }, "{}", layer.name());
            assert!(start.elapsed() >= Duration::from_millis(60), "{}", layer.name());
        }
    });
}

#[test]
fn a_stop_ends_a_call_that_waits() {
    everywhere(|layer, terms| {
        for wait in [receives, sends] {
            terms.stop.store(false, Relaxed);
            thread::scope(|scope| {
                let waiting = scope.spawn(|| waits_alone(layer, &terms, wait));
                thread::sleep(Duration::from_millis(5));
                terms.stop.store(true, Relaxed);
                assert_eq!(waiting.join().unwrap(), LayerError::Stopped, "{}", layer.name());
            });
        }
    });
}

/// After the first messages the memory of those that are kept is used again.
#[test]
fn steady_messages_allocate_nothing() {
    everywhere(|layer, terms| {
        let allocated = among(layer, 2, &terms, |end| {
            let (me, other) = (end.rank(), 1 - end.rank());
            let (payload, mut space) = (vec![1; 20_000], vec![0; 20_000]);
            let mut round = || {
                end.send(other, 1, &payload).unwrap();
                end.send(other, 2, &payload).unwrap();
                end.receive(other, 2, &mut space).unwrap();
                end.receive(other, 1, &mut space).unwrap();
            };
            (0..20).for_each(|_| round());
            let before = thread_allocations();
            (0..200).for_each(|_| round());
            (me, thread_allocations() - before)
        });
        assert_eq!(allocated, [(0, 0), (1, 0)], "{}", layer.name());
    });
}
