//! Properties of every chain: nothing is lost unseen, order is kept where it should be, and fates
//! depend neither on how wire packets were grouped nor on how often the chain was polled.

use proptest::prelude::*;

use super::bench::Bench;
use super::bench::Fate;
use super::bench::segments;
use crate::link::Packet;
use crate::units::Nanos;

/// Chains that keep the order and do not cut time into quanta: even times must be the same.
const EXACT: &[&[&str]] = &[
    &["drop 1@7,3@20/20", "delay 10ms"],
    &["drop 10%", "delay 1ms", "jitter normal(2ms,1ms)"],
    &["drop ge 5% 30% 90% 1%", "duplicate 5%", "corrupt 3%"],
    &["drop above 1000B", "drop 1@4/10", "delay 1ms"],
    &["drop 4state 5% 40% 10% 60% 1%", "hold 2@9/30 5ms"],
    &["duplicate 1@3/10", "drop 1@4/10 phase 5", "hold 1@10/10 3pkt"],
    &["trace up queue 40pkt", "drop 5%"],
    &["trace up once queue 20kB"],
    &["rate 8Mbit/s queue 30pkt codel 2ms 10ms", "drop 3%"],
];

/// Chains in which packets overtake.
const UNORDERED: &[&[&str]] = &[
    &["reorder 10% after 3pkt", "drop 5%"],
    &["hold 2@9/30 5ms overtake"],
    &["hold 2@9/30 4pkt overtake", "delay 2ms"],
    &["jitter exp(2ms) free", "drop 1@5/10"],
];

/// Behind a line the pieces of a run leave together, so only fates are compared.
const QUANTA: &[&[&str]] = &[
    &["drop 5%", "rate 30Mbit/s queue 20pkt", "delay 5ms"],
    &["rate 200Mbit/s queue 2ms", "corrupt 10%"],
    &["rate 100Mbit/s queue 30kB", "duplicate 1@5/10"],
    &["rate 1Gbit/s", "drop 1@7,3@20/20", "jitter uniform(0ms,2ms)"],
];

/// A super-packet of the test: gap before it, segments, and where it is cut.
#[derive(Clone, Debug)]
struct Arrival {
    gap: Nanos,
    count: u32,
    cuts: Vec<u32>,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0_u64), 0_u64..1_000_000, 0_u64..400_000_000];
    let cuts = prop::collection::vec(1_u32..44, 0..6);
    let arrival = (gap, prop_oneof![Just(1_u32), 1_u32..44], cuts);
    let arrival =
        arrival.prop_map(|(gap, count, cuts)| Arrival { gap: Nanos::new(gap), count, cuts });
    prop::collection::vec(arrival, 1..40)
}

/// How the chain is driven.
#[derive(Clone, Copy)]
enum Drive {
    /// Popped whenever it wants to.
    Eager,
    /// Everything is pushed before the first pop.
    Lazy,
}

#[derive(Clone, Copy)]
enum Grouping {
    Cut,
    Single,
    Whole,
}

fn run(texts: &[&str], arrivals: &[Arrival], grouping: Grouping, drive: Drive) -> Bench {
    let mut bench = Bench::new(texts);
    let mut now = Nanos::from_millis(1);
    for (slot, arrival) in (0_u32..).zip(arrivals) {
        now += arrival.gap;
        if matches!(drive, Drive::Eager) {
            bench.run_until(now);
        }
        for run in cut(segments(slot, arrival.count, now), arrival, grouping) {
            bench.push(run);
        }
    }
    bench.run_until(now + Nanos::from_secs(100));
    bench
}

fn cut(packet: Packet, arrival: &Arrival, grouping: Grouping) -> Vec<Packet> {
    let cuts: Vec<u32> = match grouping {
        Grouping::Cut => arrival.cuts.clone(),
        Grouping::Single => vec![1; 44],
        Grouping::Whole => Vec::new(),
    };
    let mut rest = packet;
    let mut runs: Vec<Packet> = cuts.iter().filter_map(|count| rest.split_front(*count)).collect();
    runs.push(rest);
    runs
}

fn without_times(fates: &[Fate]) -> Vec<Fate> {
    fates.iter().map(|fate| Fate { left: Nanos::ZERO, ..*fate }).collect()
}

fn same_books(one: &Bench, other: &Bench) {
    assert_eq!(one.chain.sample(), other.chain.sample());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn times_and_fates_do_not_depend_on_grouping_or_polling(arrivals in arrivals()) {
        for texts in EXACT.iter().chain(UNORDERED) {
            let whole = run(texts, &arrivals, Grouping::Whole, Drive::Eager);
            for (grouping, drive) in [
                (Grouping::Cut, Drive::Eager),
                (Grouping::Single, Drive::Eager),
                (Grouping::Whole, Drive::Lazy),
                (Grouping::Single, Drive::Lazy),
            ] {
                let other = run(texts, &arrivals, grouping, drive);
                prop_assert_eq!(whole.fates(), other.fates(), "{:?}", texts);
                same_books(&whole, &other);
            }
        }
    }

    #[test]
    fn fates_behind_a_line_do_not_depend_on_grouping_or_polling(arrivals in arrivals()) {
        for texts in QUANTA {
            let whole = run(texts, &arrivals, Grouping::Whole, Drive::Eager);
            for (grouping, drive) in [
                (Grouping::Cut, Drive::Eager),
                (Grouping::Single, Drive::Eager),
                (Grouping::Whole, Drive::Lazy),
            ] {
                let other = run(texts, &arrivals, grouping, drive);
                let (one, two) = (whole.fates(), other.fates());
                prop_assert_eq!(without_times(&one), without_times(&two), "{:?}", texts);
                same_books(&whole, &other);
            }
        }
    }

    #[test]
    fn packets_leave_in_order_of_time_and_of_arrival(arrivals in arrivals()) {
        for texts in EXACT.iter().chain(QUANTA) {
            let fates = run(texts, &arrivals, Grouping::Whole, Drive::Eager).fates();
            for pair in fates.windows(2) {
                prop_assert!(pair[0].left <= pair[1].left, "{:?}: {:?}", texts, pair);
                let order = |fate: &Fate| (fate.slot, fate.segment);
                prop_assert!(order(&pair[0]) <= order(&pair[1]), "{:?}: {:?}", texts, pair);
            }
        }
        for texts in UNORDERED {
            let fates = run(texts, &arrivals, Grouping::Whole, Drive::Eager).fates();
            prop_assert!(fates.is_sorted_by_key(|fate| fate.left), "{:?}", texts);
        }
    }

    /// Only `once` may hold packets for ever, when the trace has ended.
    #[test]
    fn every_buffer_is_free_in_the_end(arrivals in arrivals()) {
        for texts in EXACT.iter().chain(UNORDERED).chain(QUANTA) {
            let bench = run(texts, &arrivals, Grouping::Whole, Drive::Eager);
            let held = bench.chain.held();
            prop_assert!(held == 0 || texts[0].contains("once"), "{:?} holds {}", texts, held);
            prop_assert!(held > 0 || bench.released_once().len() == arrivals.len());
        }
    }
}

#[test]
fn equal_seeds_give_equal_fates_and_others_do_not() {
    let arrivals = vec![Arrival { gap: Nanos::new(1_000), count: 40, cuts: Vec::new() }; 20];
    let fates = |seed: u64| {
        let mut bench = Bench::seeded(&["drop 10%"], seed);
        for (slot, arrival) in (0_u32..).zip(&arrivals) {
            bench.push(segments(slot, arrival.count, Nanos::ZERO));
        }
        bench.run_until(Nanos::MAX);
        bench.fates()
    };
    assert_eq!(fates(1), fates(1));
    assert_ne!(fates(1), fates(2));
}
