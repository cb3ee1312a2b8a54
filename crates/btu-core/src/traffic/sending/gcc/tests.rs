//! Both controllers together, on reports that are written by hand.

use super::*;

fn rates() -> [BitRate; 2] {
    [BitRate::new(50_000), BitRate::new(10_000_000)]
}

/// Reports each 100 ms about packets of 1250 bytes each 10 ms (1 Mb/s) that take `delay(ms)`; of each ten `lost` are.
fn fed(start: u64, seconds: u64, lost: u64, delay_ms: impl Fn(u64) -> f64) -> Gcc {
    let mut gcc = Gcc::new(BitRate::new(start), rates());
    for report in 1..=10 * seconds {
        let sent = (0..10 - lost).map(|one| 100 * (report - 1) + 10 * one);
        let packets: Vec<Acknowledged> = sent
            .map(|sent| Acknowledged {
                sent: Nanos::from_millis(sent),
                came: Nanos::from_millis(sent) + Nanos::new(rounded(delay_ms(sent) * 1e6)),
                size: Bytes::new(1250),
            })
            .collect();
        let round_trip = Nanos::from_millis(50);
        let heard = Heard { packets: &packets, expected: 10, lost, round_trip };
        let _ = gcc.hear(Nanos::from_millis(100 * report), &heard);
    }
    gcc
}

fn rate(gcc: &Gcc) -> f64 {
    float(gcc.rate().bit_per_second())
}

/// 8 % a second from 0.9 Mb/s up to 1.5 times what comes.
#[test]
fn without_queue_and_loss_the_rate_grows_up_to_one_and_a_half_of_what_comes() {
    // Nothing is known of the first 500 ms, then 4.5 s are left.
    let found = rate(&fed(900_000, 5, 0, |_| 20.0));
    let wanted = 0.9e6 * 1.08_f64.powf(4.5);
    assert!((found / wanted - 1.0).abs() < 0.02, "{found} {wanted}");
    assert!((rate(&fed(900_000, 60, 0, |_| 20.0)) / 1.5e6 - 1.0).abs() < 1e-6);
}

/// A delay that grows by a tenth of the time: the path carries a tenth less than is sent.
#[test]
fn a_queue_that_grows_takes_the_rate_below_what_comes() {
    let found = rate(&fed(1_000_000, 3, 0, |sent| 20.0 + float(sent) / 10.0));
    // 0.85 of 0.91 Mb/s.
    assert!((0.7e6..0.8e6).contains(&found), "{found}");
    // One that is there and does not grow does nothing.
    assert!(rate(&fed(1_000_000, 3, 0, |_| 300.0)) > 1e6);
}

/// 20 % of loss takes a tenth each time: at the reports after 200, 600, 1000 ms.
#[test]
fn loss_alone_takes_the_rate_down_as_the_draft_says() {
    let found = rate(&fed(1_000_000, 1, 2, |_| 20.0));
    assert!((found / 729e3 - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn whoever_hears_nothing_halves_his_rate_down_to_the_least() {
    let mut gcc = Gcc::new(BitRate::new(160_000), rates());
    let rates: Vec<u64> = (0..3).map(|_| gcc.hear_nothing().bit_per_second()).collect();
    assert_eq!(rates, [80_000, 50_000, 50_000]);
}
