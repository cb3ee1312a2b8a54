//! Recorded capacity. The trace `up` has its opportunities at 0, 1, 1, 2, 5, 9 and 10 ms.

use super::bench::Bench;
use super::bench::full;
use crate::link::Packet;
use crate::link::Slot;
use crate::units::Bytes;
use crate::units::Nanos;

fn departures_ms(bench: &mut Bench) -> Vec<(u32, u64)> {
    bench.run_until(Nanos::from_secs(10));
    bench.out.iter().map(|packet| (packet.slot().0, packet.at().count() / 1_000_000)).collect()
}

#[test]
fn full_packets_leave_one_per_opportunity_and_the_trace_repeats() {
    let mut bench = Bench::new(&["trace up queue 50pkt"]);
    for i in 0..9 {
        bench.push(full(i, Nanos::ZERO));
    }
    let times: Vec<u64> = departures_ms(&mut bench).iter().map(|(_, ms)| *ms).collect();
    assert_eq!(times, [1, 1, 2, 5, 9, 10, 10, 11, 11]);
}

#[test]
fn once_holds_what_comes_after_the_end() {
    let mut bench = Bench::new(&["trace up once queue 50pkt"]);
    for i in 0..9 {
        bench.push(full(i, Nanos::ZERO));
    }
    assert_eq!(departures_ms(&mut bench).len(), 6);
    assert_eq!((bench.chain.held(), bench.chain.next_wakeup()), (3, None));
}

#[test]
fn bytes_are_accounted_and_unused_opportunities_are_lost() {
    let mut bench = Bench::new(&["trace up queue 50pkt"]);
    let small = |slot, at| Packet::single(Slot(slot), Bytes::new(900), at);
    for i in 0..3 {
        bench.push(small(i, Nanos::ZERO));
    }
    bench.run_until(Nanos::from_millis(3));
    bench.push(full(3, Nanos::from_millis(7)));
    let left = departures_ms(&mut bench);
    assert_eq!(left, [(0, 1), (1, 1), (2, 1), (3, 9)]);
}
