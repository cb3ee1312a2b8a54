//! The serial line.

use super::bench::Bench;
use super::bench::full;
use super::bench::segments;
use crate::units::BitRate;
use crate::units::Nanos;

/// The line is always busy: what passes is the rate's share of payload, and the last packet waited
/// as long as the queue lasts.
#[test]
fn e10_goodput_is_the_payload_share_of_the_rate_and_the_queue_is_as_long_as_asked() {
    for (rate, text) in [
        (1_700_000_u32, "1.7Mbit/s"),
        (10_000_000, "10Mbit/s"),
        (100_000_000, "100Mbit/s"),
        (1_000_000_000, "1Gbit/s"),
    ] {
        let mut bench = Bench::new(&[&format!("rate {text} queue 100ms")]);
        let packet_time = BitRate::new(rate.into()).time_for_bits(1538 * 8);
        let end = packet_time * 2_000;
        let mut now = Nanos::ZERO;
        for i in 0..4_000 {
            bench.push(full(i, now));
            bench.run_until(now);
            now += Nanos::new(packet_time.count() / 2);
        }
        let in_time = bench.out.iter().filter(|packet| packet.at() <= end);
        let goodput = in_time.map(|_| 1448.0 * 8.0).sum::<f64>() / end.seconds();
        let asked = f64::from(rate) * 1448.0 / 1538.0;
        assert!((goodput / asked - 1.0).abs() < 0.01, "{text}: {goodput} of {asked}");
        bench.run_until(Nanos::MAX);
        let waits = bench.out.iter().map(|packet| bench.delay(packet));
        let longest = waits.max().expect("packets left");
        let full_queue = Nanos::from_millis(100) + packet_time;
        assert!(longest <= full_queue, "{text}: {longest} in the queue");
        if end > Nanos::from_millis(400) {
            let within = full_queue.since(longest);
            assert!(within <= packet_time, "{text}: the queue ends {within} early");
            assert!(bench.chain.sample().queue_dropped > 0);
        }
    }
}

#[test]
fn packets_leave_at_the_end_of_their_last_bit_without_a_first_burst() {
    let mut bench = Bench::new(&["rate 10Mbit/s"]);
    for i in 0..5 {
        bench.push(full(i, Nanos::ZERO));
    }
    bench.run_until(Nanos::from_secs(1));
    let times: Vec<u64> = bench.out.iter().map(|packet| packet.at().count()).collect();
    assert_eq!(times, [1_230_400, 2_460_800, 3_691_200, 4_921_600, 6_152_000]);
}

#[test]
fn rounding_to_nanoseconds_does_not_add_up() {
    let mut bench = Bench::new(&["rate 100Gbit/s queue 1s"]);
    for i in 0..10_000 {
        bench.push(full(i, Nanos::ZERO));
    }
    bench.run_until(Nanos::from_secs(1));
    let last = bench.out.last().expect("packets left").at();
    assert_eq!(last, Nanos::new(1_230_400));
}

#[test]
fn a_super_packet_leaves_a_line_in_pieces_of_a_quarter_millisecond() {
    let counts = |rate: &str| {
        let mut bench = Bench::new(&[&format!("rate {rate} queue 1s")]);
        bench.push(segments(0, 44, Nanos::ZERO));
        bench.run_until(Nanos::from_secs(10));
        bench.out.iter().map(super::super::Packet::count).collect::<Vec<_>>()
    };
    assert_eq!(counts("10Mbit/s"), [1; 44]);
    assert_eq!(counts("1Gbit/s"), [20, 20, 4]);
    assert_eq!(counts("10Gbit/s"), [44]);
}

#[test]
fn a_queue_in_packets_drops_the_tail_of_a_burst() {
    let mut bench = Bench::new(&["rate 10Mbit/s queue 5pkt"]);
    bench.push(segments(0, 44, Nanos::ZERO));
    bench.run_until(Nanos::from_secs(1));
    let sample = bench.chain.sample();
    assert_eq!((bench.fates().len(), sample.queue_dropped, sample.dropped), (6, 38, 0));
    assert_eq!(bench.fates().last().expect("six left").segment, 5);
}

#[test]
fn a_queue_in_bytes_admits_a_small_packet_where_a_full_one_finds_no_place() {
    let mut bench = Bench::new(&["rate 10Mbit/s queue 4kB"]);
    for i in 0..4 {
        bench.push(full(i, Nanos::ZERO));
    }
    let ack = super::super::Packet::single(
        super::super::Slot(9),
        crate::units::Bytes::new(52),
        Nanos::ZERO,
    );
    bench.push(ack);
    bench.run_until(Nanos::from_secs(1));
    let slots: Vec<u32> = bench.out.iter().map(|packet| packet.slot().0).collect();
    assert_eq!(slots, [0, 1, 2, 9]);
}

/// The relay may look at the line before it reads a packet that had come by then.
#[test]
fn a_packet_that_is_read_late_finds_the_queue_of_its_arrival() {
    let admitted = |read_late: bool, came: Nanos| {
        let mut bench = Bench::new(&["rate 10Mbit/s queue 1pkt"]);
        bench.push(full(0, Nanos::ZERO));
        bench.push(full(1, Nanos::ZERO));
        if read_late {
            bench.run_until(Nanos::new(1_300_000));
        }
        bench.push(full(2, came));
        bench.chain.sample().queue_dropped == 0
    };
    // The first packet is on the line until 1.2304 ms; the second one waits until then.
    for (came, finds_a_place) in [(1_200_000, false), (1_230_399, false), (1_230_400, true)] {
        assert_eq!(admitted(false, Nanos::new(came)), finds_a_place, "in time, {came} ns");
        assert_eq!(admitted(true, Nanos::new(came)), finds_a_place, "late, {came} ns");
    }
}

#[test]
fn codel_keeps_a_standing_queue_near_its_target() {
    let loaded = |element: &str| {
        let mut bench = Bench::new(&[element]);
        let mut now = Nanos::ZERO;
        for i in 0..20_000 {
            bench.push(full(i, now));
            bench.run_until(now);
            now += Nanos::new(1_200_000);
        }
        let late = bench.out.iter().filter(|packet| bench.arrival(packet) > Nanos::from_secs(10));
        let waits: Vec<f64> = late.map(|packet| bench.delay(packet).millis()).collect();
        let mean = statrs::statistics::Statistics::mean(&waits);
        (mean, bench.chain.sample().queue_dropped)
    };
    let (fifo, _) = loaded("rate 10Mbit/s queue 200ms");
    let (codel, dropped) = loaded("rate 10Mbit/s queue 200ms codel");
    assert!(codel < fifo / 4.0, "mean wait {codel} ms with CoDel, {fifo} ms without");
    assert!(dropped > 100);
}
