//! Random delays.

use super::bench::Bench;
use super::bench::full;
use crate::units::Nanos;

fn delays_ms(element: &str) -> (Vec<f64>, bool) {
    let mut bench = Bench::new(&[element]);
    let packets = 20_000;
    for i in 0..packets {
        bench.push(full(i, Nanos::from_millis(u64::from(i) * 100)));
    }
    bench.run_until(Nanos::MAX);
    let delays = bench.out.iter().map(|packet| bench.delay(packet).millis()).collect();
    let in_order = bench.out.is_sorted_by_key(crate::link::Packet::slot);
    (delays, in_order)
}

/// At a packet each 100 ms nobody waits for the one before, so the delays are the samples.
#[test]
fn delays_have_the_mean_and_the_spread_of_their_distribution() {
    let (delays, _) = delays_ms("jitter normal(50ms,5ms)");
    let mean = statrs::statistics::Statistics::mean(&delays);
    let sd = statrs::statistics::Statistics::std_dev(&delays);
    assert!((mean - 50.0).abs() < 0.2, "mean {mean} ms");
    assert!((sd - 5.0).abs() < 0.2, "standard deviation {sd} ms");
}

#[test]
fn order_is_kept_unless_free() {
    assert!(delays_ms("jitter exp(200ms)").1);
    assert!(!delays_ms("jitter exp(200ms) free").1);
}

#[test]
fn jitter_starts_the_same_in_each_run() {
    let times = [(); 2].map(|()| {
        let mut bench = Bench::new(&["jitter uniform(1ms,9ms)"]);
        for i in 0..50_u64 {
            bench.push(full(u32::try_from(i).expect("few"), Nanos::from_millis(i * 20)));
        }
        bench.run_until(Nanos::MAX);
        bench.fates().iter().map(|fate| fate.left).collect::<Vec<_>>()
    });
    assert_eq!(times[0], times[1]);
}
