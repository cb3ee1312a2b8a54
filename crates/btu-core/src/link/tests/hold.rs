//! Elements that hold chosen packets.

use super::bench::Bench;
use super::bench::full;
use super::bench::segments;
use crate::units::Nanos;

/// Slots with their times of departure in milliseconds, packet i having come at i ms.
fn departures(element: &str, packets: u32) -> Vec<(u32, u64)> {
    let mut bench = Bench::new(&[element]);
    for i in 1..=packets {
        let now = Nanos::from_millis(i.into());
        bench.run_until(now);
        bench.push(full(i, now));
    }
    bench.run_until(Nanos::MAX);
    bench.out.iter().map(|packet| (packet.slot().0, packet.at().count() / 1_000_000)).collect()
}

#[test]
fn followers_of_a_packet_held_for_a_time_wait_behind_it() {
    let left = departures("hold 1@3/10 4ms", 9);
    assert_eq!(left, [(1, 1), (2, 2), (3, 7), (4, 7), (5, 7), (6, 7), (7, 7), (8, 8), (9, 9)]);
}

#[test]
fn followers_overtake_a_held_packet_if_asked() {
    let left = departures("hold 1@3/10 4ms overtake", 9);
    assert_eq!(left, [(1, 1), (2, 2), (4, 4), (5, 5), (6, 6), (3, 7), (7, 7), (8, 8), (9, 9)]);
}

#[test]
fn a_packet_held_for_followers_leaves_with_the_last_of_them() {
    let left = departures("hold 2@3/10 2pkt", 8);
    assert_eq!(left, [(1, 1), (2, 2), (3, 5), (4, 6), (5, 6), (6, 6), (7, 7), (8, 8)]);
    let left = departures("hold 1@3/10 2pkt overtake", 6);
    assert_eq!(left, [(1, 1), (2, 2), (4, 4), (5, 5), (3, 5), (6, 6)]);
}

#[test]
fn a_held_packet_without_followers_leaves_after_200_ms_of_silence() {
    let left = departures("hold 1@3/10 5pkt", 4);
    assert_eq!(left, [(1, 1), (2, 2), (3, 204), (4, 204)]);
}

#[test]
fn reorder_lets_so_many_followers_pass_or_gives_up_after_50_ms() {
    let left = departures("reorder 1@2/10 after 3pkt", 6);
    assert_eq!(left, [(1, 1), (3, 3), (4, 4), (5, 5), (2, 5), (6, 6)]);
    let left = departures("reorder 1@2/10 after 3pkt", 4);
    assert_eq!(left, [(1, 1), (3, 3), (4, 4), (2, 52)]);
}

#[test]
fn a_packet_is_reordered_within_one_super_packet() {
    let mut bench = Bench::new(&["reorder 1@2/100 after 3pkt"]);
    bench.push(segments(0, 8, Nanos::ZERO));
    bench.run_until(Nanos::ZERO);
    let order: Vec<u32> = bench.fates().iter().map(|fate| fate.segment).collect();
    assert_eq!(order, [0, 2, 3, 4, 1, 5, 6, 7]);
}
