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

#[test]
fn a_reset_starts_the_pattern_anew_and_keeps_what_is_inside() {
    let mut bench = Bench::new(&["drop 1@2/100", "delay 1ms"]);
    for i in 0..3_u32 {
        bench.push(full(i, Nanos::new(u64::from(i))));
    }
    assert_eq!(bench.pop(Nanos::new(3)), None);
    bench.reset();
    let sample = bench.chain.sample();
    assert_eq!((sample.packets, sample.dropped, sample.held), (0, 0, 2));
    assert!(sample.drop_positions.is_empty());
    bench.push(full(3, Nanos::new(3)));
    bench.push(full(4, Nanos::new(4)));
    bench.run_until(Nanos::from_secs(1));
    assert_eq!(bench.chain.sample().drop_positions, [2]);
    assert!(bench.chain.conserves());
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
