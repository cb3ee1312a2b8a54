//! Launches: what becomes of each rank, and when.

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::time::Instant;

use btu_core::app::class::ProblemClass;
use btu_core::app::kernel::Check;
use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;
use btu_core::app::sample::Job;
use btu_core::app::sample::RankSample;
use btu_core::sample::Flag;
use btu_engine::app::LEFT_BEHIND;
use btu_engine::app::Launched;
use btu_engine::app::launch;
use btu_sys::netlink::Netlink;

use super::*;
use crate::isolated::isolated;
use crate::veth;

/// A kernel that is one function.
#[derive(Debug)]
pub(super) struct Scripted(pub(super) fn(&mut Ranks<'_>) -> Result<Outcome, LayerError>);

impl Kernel for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn about(&self) -> &'static str {
        "a function"
    }

    fn takes(&self, ranks: usize) -> bool {
        ranks != 7
    }

    fn legal(&self) -> &'static str {
        "any number but 7"
    }

    fn memory(&self, _: ProblemClass, _: usize) -> Bytes {
        Bytes::ZERO
    }

    fn run(&self, _: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        (self.0)(ranks)
    }
}

pub(super) fn job(layer: &str, ranks: usize, wait: Wait) -> Job {
    let (kernel, class) = ("scripted".to_owned(), ProblemClass::S);
    Job { kernel, class, ranks: ranks as u32, layer: layer.to_owned(), wait }
}

fn launched(kernel: &'static Scripted, layer: &str, ranks: usize) -> Launched {
    let job = job(layer, ranks, Wait::Block);
    launch(kernel, &job, &seats(ranks), Nanos::from_secs(60), &Arc::default(), &[]).unwrap()
}

fn refusal(layer: &str, seats: &[Seat]) -> String {
    let job = job(layer, seats.len(), Wait::Block);
    let refused =
        launch(&RING, &job, seats, Nanos::from_secs(60), &Arc::default(), &[]).unwrap_err();
    assert!(matches!(refused, EngineError::Refused(_)), "{refused:?}");
    refused.to_string()
}

/// Each rank passes what it got to the next, 20 times round; then all add up.
pub(super) static RING: Scripted = Scripted(|ranks| {
    let (me, all) = (ranks.rank(), ranks.size());
    let (next, before) = ((me + 1) % all, (me + all - 1) % all);
    let mut held = [me as u64; 64];
    ranks.start()?;
    for _ in 0..20 * all {
        let sent = held;
        ranks.exchange((next, &sent), (before, &mut held), 1)?;
    }
    let mut sum = [held[0] as f64];
    ranks.all_reduce(&mut sum)?;
    ranks.stop();
    let whole = (all * (all - 1) / 2) as f64;
    Ok(Outcome { checks: vec![Check::new("sum", sum[0], whole, 0.0)] })
});

#[test]
fn every_rank_of_a_launch_tells_what_it_found_passed_and_used() {
    for layer in layers() {
        let Launched { ranks, host, cpus, .. } = launched(&RING, layer.name(), 3);
        assert!(host.is_some() && cpus > 0);
        for (number, rank) in (0..).zip(&ranks) {
            assert_eq!((rank.rank, &rank.failure), (number, &None), "{}", layer.name());
            assert!(rank.outcome.as_ref().unwrap().is_verified());
            assert_eq!(rank.tally.messages.count, 60);
            assert_eq!(rank.tally.messages.bytes, Bytes::new(60 * 512));
            let (elapsed, split) = (rank.elapsed_ns.unwrap(), rank.split);
            assert!(
                split.wait_ns.saturating_add(split.transfer_ns) <= elapsed && split.undated == 0
            );
            assert!(elapsed < rank.lived_ns && rank.cpu_ns.unwrap() > Nanos::ZERO);
        }
    }
}

#[test]
fn a_launch_of_one_rank_needs_no_channel() {
    let launched = launched(&RING, "tcp", 1);
    assert!(launched.ranks[0].outcome.as_ref().unwrap().is_verified());
}

/// Rank 1 computes for 10 ms before each of its messages.
static LATE: Scripted = Scripted(|ranks| {
    ranks.start()?;
    for _ in 0..LATE_MESSAGES {
        if ranks.rank() == 1 {
            thread::sleep(Duration::from_millis(10));
            ranks.send(0, 1, &[1.0; 100])?;
        } else {
            ranks.receive(1, 1, &mut [0.0; 100])?;
        }
    }
    ranks.stop();
    Ok(Outcome::default())
});

const LATE_MESSAGES: u64 = 4;

/// A receiver that has no CPU when the message is sent calls later or returns later: on a busy machine some launches show
/// less of waiting, and not all of them do.
#[test]
fn a_peer_that_is_late_is_waited_for_and_costs_no_transfer() {
    let late = Nanos::from_millis(10) * LATE_MESSAGES;
    for layer in layers() {
        let shows = |_| {
            let split = launched(&LATE, layer.name(), 2).ranks[0].split;
            split.wait_ns * 10 >= late * 9 && split.transfer_ns * 5 < late
        };
        assert!((0..50).any(shows), "{}", layer.name());
    }
}

pub(super) static DIES: Scripted = Scripted(|ranks| match ranks.rank() {
    1 => panic!("out of luck"),
    _ => ranks.receive(1, 1, &mut [0_i32]).map(|()| Outcome::default()),
});

#[test]
fn a_rank_that_panics_is_told_and_ends_the_others() {
    for layer in layers() {
        let ranks = launched(&DIES, layer.name(), 3).ranks;
        let told = |rank: &RankSample| rank.failure.clone().unwrap();
        assert_eq!(told(&ranks[1]), "thread rank-1 panicked: out of luck");
        for rank in [&ranks[0], &ranks[2]] {
            assert!(told(rank).starts_with("rank 1 is gone"), "{}", told(rank));
            assert_eq!((rank.elapsed_ns, &rank.outcome), (None, &None));
        }
    }
}

pub(super) static HANGS: Scripted = Scripted(|ranks| {
    let before = (ranks.rank() + ranks.size() - 1) % ranks.size();
    ranks.receive(before, 1, &mut [0_i32]).map(|()| Outcome::default())
});

/// All wait for each other.
#[test]
fn ranks_that_hang_end_with_the_cap() {
    for layer in layers() {
        for wait in layer.waits() {
            let (start, job) = (Instant::now(), job(layer.name(), 2, *wait));
            let cap = Nanos::from_millis(100);
            let ranks = launch(&HANGS, &job, &seats(2), cap, &Arc::default(), &[]).unwrap().ranks;
            assert!(start.elapsed() >= Duration::from(cap));
            let failures = ranks.iter().map(|rank| rank.failure.as_deref());
            assert!(failures.eq([Some("its time was up: 0.1 s"); 2]), "{ranks:?}");
        }
    }
}

#[test]
fn an_interruption_ends_a_launch() {
    let stop = Arc::new(AtomicBool::new(true));
    let job = job("shm", 2, Wait::Block);
    let launched = launch(&HANGS, &job, &seats(2), Nanos::from_secs(60), &stop, &[]).unwrap();
    let failures = launched.ranks.iter().map(|rank| rank.failure.as_deref());
    assert!(failures.clone().all(|told| told == Some("it was interrupted")), "{launched:?}");
}

/// It computes, as far as anybody can see: it sleeps, so that no other test is slowed down, and ends once it was seen.
static COMPUTES_ON: Scripted = Scripted(|ranks| {
    while ranks.rank() == 1 && !WAS_LEFT.load(Relaxed) {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(Outcome::default())
});

static WAS_LEFT: AtomicBool = AtomicBool::new(false);

#[test]
fn a_rank_that_computes_on_is_left_behind_and_told() {
    let job = job("unix", 2, Wait::Block);
    let cap = Nanos::from_millis(50);
    let launched = launch(&COMPUTES_ON, &job, &seats(2), cap, &Arc::default(), &[]).unwrap();
    WAS_LEFT.store(true, Relaxed);
    assert_eq!(launched.ranks[0].failure, None);
    let failure = launched.ranks[1].failure.as_deref().unwrap();
    let told = "its time was up: 0.05 s; 1.5 s later it still computed, and was left behind";
    assert_eq!(failure, told);
    assert!(launched.flags.iter().any(|flag| flag.name == LEFT_BEHIND), "{:?}", launched.flags);
}

#[test]
fn more_ranks_than_cpus_are_flagged() {
    let ranks = thread::available_parallelism().unwrap().get() + 1;
    let ranks = if ranks == 7 { 8 } else { ranks };
    let launched = launched(&RING, "unix", ranks);
    assert!(launched.ranks.iter().all(|rank| rank.outcome.as_ref().unwrap().is_verified()));
    let flag = launched.flags.iter().find(|flag| flag.name == Flag::OVERSUBSCRIBED).unwrap();
    assert!(flag.detail.starts_with(&format!("{ranks} ranks on ")), "{}", flag.detail);
}

#[test]
fn what_cannot_be_launched_is_refused_with_the_reason() {
    assert_eq!(refusal("pigeon", &seats(2)), "there is no message layer \"pigeon\"");
    assert_eq!(refusal("tcp", &seats(7)), "scripted on 7 ranks; it takes any number but 7");
    let mut apart = seats(2);
    apart[1].place.role = Role::Active;
    let told = "shm joins ranks of one host, and these are on test and active; tcp joins them";
    assert_eq!(refusal("shm", &apart), told);
}

/// Nobody but these two hosts has their addresses.
#[test]
fn ranks_on_two_hosts_are_joined_through_their_networks() {
    isolated("messages::launches::ranks_on_two_hosts_are_joined_through_their_networks", || {
        let hosts = veth::hosts().map(|host| Seat { place: host.place, address: host.address });
        hosts.iter().for_each(loopback_up);
        let seats: Vec<Seat> = hosts.iter().cycle().take(4).cloned().collect();
        let job = job("tcp", 4, Wait::Block);
        let launched =
            launch(&RING, &job, &seats, Nanos::from_secs(60), &Arc::default(), &[]).unwrap();
        let failures: Vec<_> = launched.ranks.iter().filter_map(|r| r.failure.as_ref()).collect();
        assert!(failures.is_empty(), "{failures:?}");
        assert!(launched.ranks.iter().all(|rank| rank.outcome.as_ref().unwrap().is_verified()));
    });
}

/// Ranks of one host reach each other over it.
fn loopback_up(host: &Seat) {
    let mut netlink = Netlink::open(host.place.net.as_ref().unwrap()).unwrap();
    let loopback = netlink.link("lo").unwrap().index;
    netlink.set_up(loopback).unwrap();
}
