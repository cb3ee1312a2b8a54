//! Links in virtual time.

mod bench;
mod grouping;
mod hold;
mod jitter;
mod loss;
mod marks;
mod rate;
mod shared;
mod text;
mod trace;

use std::collections::BTreeSet;

use super::*;
use crate::units::Bytes;
use crate::units::Nanos;
use bench::Bench;
use bench::full;

#[test]
fn a_delay_releases_each_packet_exactly_when_it_is_due() {
    let mut bench = Bench::new(&["delay 10ms"]);
    for i in 0..100_u32 {
        bench.push(full(i, Nanos::from_micros(u64::from(i) * 37)));
    }
    assert_eq!(bench.chain.next_wakeup(), Some(Nanos::from_millis(10)));
    assert_eq!(bench.pop(Nanos::new(9_999_999)), None);
    bench.run_until(Nanos::from_secs(1));
    for fate in bench.fates() {
        assert_eq!(fate.left.since(fate.arrival), Nanos::from_millis(10));
    }
    assert_eq!(bench.fates().len(), 100);
    assert_eq!(bench.chain.sample().delay_asked_us, Some(10_000.0));
}

#[test]
fn a_link_without_elements_is_a_wire() {
    let mut bench = Bench::new(&[]);
    bench.push(full(3, Nanos::new(5)));
    let packet = bench.pop(Nanos::new(5)).expect("passes at once");
    assert_eq!((packet.slot(), packet.at()), (Slot(3), Nanos::new(5)));
    assert_eq!(bench.chain.sample().delay_asked_us, None);
}

#[test]
fn a_pattern_drops_exactly_its_positions_and_frees_their_buffers() {
    let mut bench = Bench::new(&["drop 1@200,3@400/400", "delay 10ms"]);
    for i in 0..802_u32 {
        bench.push(full(i, Nanos::from_micros(u64::from(i))));
    }
    bench.run_until(Nanos::from_secs(1));
    let sample = bench.chain.sample();
    assert_eq!(sample.drop_positions, [200, 400, 401, 402, 600, 800, 801, 802]);
    assert_eq!((sample.packets, sample.dropped, sample.pattern_drops), (802, 8, Some(8)));
    assert_eq!(sample.dropped_by, [("drop 1@200,3@400/400".to_owned(), 8)]);
    assert_eq!(sample.bytes, 802 * 1500);
    assert_eq!(bench.released_once(), (0..802).map(Slot).collect::<BTreeSet<_>>());
}

#[test]
fn a_pattern_cuts_a_super_packet_at_the_hits() {
    let mut bench = Bench::new(&["drop 2@3/10"]);
    bench.push(bench::segments(0, 13, Nanos::ZERO));
    let mut runs = Vec::new();
    while let Some(packet) = bench.pop(Nanos::ZERO) {
        runs.push((packet.first(), packet.count(), packet.l3()));
    }
    let full = Bytes::new(1500);
    assert_eq!(runs, [(0, 2, full * 2), (4, 8, full * 8)]);
    assert_eq!(bench.chain.sample().drop_positions, [3, 4, 13]);
}

/// Two elements count their own packets; what is told are places among all that came.
#[test]
fn positions_of_drops_are_those_of_the_direction_in_rising_order() {
    let mut bench = Bench::new(&["drop 1@2/4", "drop 1@3/5"]);
    (0..20).for_each(|slot| bench.push(full(slot, Nanos::ZERO)));
    while bench.pop(Nanos::ZERO).is_some() {}
    let lost = bench.chain.sample().drop_positions;
    let arrived = bench.fates().into_iter().map(|fate| u64::from(fate.slot.0) + 1);
    let arrived: Vec<u64> = arrived.collect();
    assert_eq!(lost, [2, 4, 6, 10, 11, 14, 17, 18]);
    assert!((1..=20).all(|position| arrived.contains(&position) != lost.contains(&position)));
}

#[test]
fn a_continuous_counter_is_kept_over_runs_of_other_chains() {
    let mut kept = Continued::default();
    let mut hits = Vec::new();
    for texts in [["drop 1@2/5 continuous"], ["drop 1@2/5"], ["drop 1@2/5 continuous"]] {
        let mut chain = bench::chain(&bench::spec(&texts), 1, &mut Lines::default());
        kept.apply(&mut chain);
        let mut bench = Bench::of(chain);
        (0..3).for_each(|slot| bench.push(full(slot, Nanos::ZERO)));
        kept.keep(&bench.chain);
        let sample = bench.chain.sample();
        assert_eq!(sample.pattern_drops, Some(sample.dropped));
        hits.push(sample.drop_positions);
    }
    assert_eq!(hits, [vec![2], vec![2], vec![]]);
}

/// A relay that serves many conductors keeps the counters of the chains that ran last.
#[test]
fn of_too_many_continuous_chains_the_oldest_starts_again() {
    let mut kept = Continued::default();
    let mut first_hit = |chain: usize| {
        let text = format!("drop 1@2/5 phase {} continuous", chain % 5);
        let mut chain = bench::chain(
            &bench::spec(&[&text, &format!("delay {}us", chain + 1)]),
            1,
            &mut Lines::default(),
        );
        kept.apply(&mut chain);
        let mut bench = Bench::of(chain);
        (0..3).for_each(|slot| bench.push(full(slot, Nanos::ZERO)));
        kept.keep(&bench.chain);
        bench.chain.sample().drop_positions
    };
    let fresh = first_hit(0);
    let went_on = first_hit(0);
    assert_ne!(fresh, went_on);
    (1..=64).for_each(|other| drop(first_hit(other)));
    assert_eq!(first_hit(0), fresh);
}

#[test]
fn a_chain_tells_what_it_holds_when_it_is_given_up() {
    let mut bench = Bench::new(&["drop 1@2/3", "delay 1h"]);
    (0..6).for_each(|slot| bench.push(full(slot, Nanos::ZERO)));
    while bench.pop(Nanos::ZERO).is_some() {}
    let held: Vec<u32> = bench.chain.held_slots().map(|slot| slot.0).collect();
    assert_eq!(held, [0, 2, 3, 5]);
}

#[test]
fn what_waits_by_choice_is_counted() {
    for text in ["hold 1@3/5 20ms", "hold 1@3/5 2pkt", "reorder 1@3/5 after 2pkt"] {
        let mut bench = Bench::new(&[text]);
        (0..20).for_each(|slot| bench.push(full(slot, Nanos::ZERO)));
        assert_eq!(bench.chain.sample().held_back, 4, "{text}");
    }
}

/// The golden run, and every wire packet accounted for.
#[test]
fn e1_ten_million_packets_through_four_elements_are_all_accounted_for() {
    const PACKETS: u32 = if cfg!(debug_assertions) { 100_000 } else { 10_000_000 };
    const SLOTS: u32 = 1 << 15;
    let texts = ["drop 1@200,3@400/400", "duplicate 0.1%", "rate 10Gbit/s queue 10ms", "delay 1ms"];
    let mut chain = bench::chain(&bench::spec(&texts), 1, &mut Lines::default());
    let (mut out, mut released) = (0, 0);
    for i in 0..PACKETS {
        let now = Nanos::from_micros(2) * u64::from(i);
        chain.push(full(i % SLOTS, now));
        while let Some(packet) = chain.pop(now) {
            chain.done(&packet);
            out += u64::from(packet.count());
        }
        released += std::iter::from_fn(|| chain.take_released()).count();
    }
    let sample = chain.sample();
    let pattern: Pattern = "1@200,3@400/400".parse().expect("legal");
    assert_eq!(sample.dropped, pattern.count(PACKETS.into()));
    assert_eq!(u64::from(PACKETS) + sample.duplicated, out + sample.dropped + sample.held);
    assert_eq!((sample.queue_dropped, sample.overflow), (0, 0));
    assert!(chain.conserves() && released > 0);
}
