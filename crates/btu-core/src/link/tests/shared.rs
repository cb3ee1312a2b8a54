//! One line for several chains.

use super::bench::Bench;
use super::bench::chain;
use super::bench::full;
use super::bench::spec;
use crate::link::Lines;
use crate::link::LinkError;
use crate::link::Place;
use crate::link::Wire;
use crate::units::Nanos;

#[test]
fn two_directions_take_turns_on_a_shared_line() {
    let spec = spec(&["rate 10Mbit/s queue 1s shared ether"]);
    let mut lines = Lines::default();
    let mut up = Bench::of(chain(&spec, 1, &mut lines));
    let mut down = Bench::of(chain(&spec, 1, &mut lines));
    for i in 0..10 {
        up.push(full(i, Nanos::ZERO));
        down.push(full(i, Nanos::ZERO));
    }
    while let Some(now) = up.chain.next_wakeup().into_iter().chain(down.chain.next_wakeup()).min() {
        for bench in [&mut up, &mut down] {
            while bench.pop(now).is_some() {}
        }
    }
    let times = |bench: &Bench| -> Vec<u64> {
        bench.out.iter().map(|packet| packet.at().count() / 1_230_400).collect()
    };
    assert_eq!(times(&up), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    assert_eq!(times(&down), [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    for bench in [&up, &down] {
        bench.check();
        assert_eq!((bench.chain.held(), bench.released_once().len()), (0, 10));
    }
}

#[test]
fn a_full_shared_queue_and_codel_charge_the_chain_whose_packet_it_was() {
    let spec = spec(&["rate 10Mbit/s queue 60pkt codel shared ether"]);
    let mut lines = Lines::default();
    let mut up = Bench::of(chain(&spec, 1, &mut lines));
    let mut down = Bench::of(chain(&spec, 1, &mut lines));
    let mut now = Nanos::ZERO;
    for i in 0..3_000 {
        up.push(full(i, now));
        down.push(full(i, now));
        while up.pop(now).is_some() {}
        now += Nanos::from_micros(2_000);
    }
    for bench in [&mut up, &mut down] {
        while bench.pop(now + Nanos::from_secs(10)).is_some() {}
        bench.check();
        let dropped = bench.chain.sample().queue_dropped;
        assert!(dropped > 100, "{dropped} dropped");
        assert_eq!((bench.chain.held(), bench.released_once().len()), (0, 3_000));
    }
}

#[test]
fn one_name_means_one_line() {
    let mut lines = Lines::default();
    chain(&spec(&["rate 10Mbit/s shared ether"]), 1, &mut lines);
    let place = Place {
        seed: 1,
        link: "a",
        direction: "up",
        wire: Wire::Ethernet,
        limits: crate::link::Limits::default(),
    };
    let other = spec(&["rate 20Mbit/s shared ether"]);
    let error = crate::link::Chain::new(&other, &place, &mut lines).expect_err("another rate");
    assert_eq!(error, LinkError::SharedLine { name: "ether".to_owned() });
    let own = Place { wire: Wire::Ip, ..place };
    let other = spec(&["rate 10Mbit/s shared ether"]);
    crate::link::Chain::new(&other, &own, &mut lines).expect_err("another wire");
}
