//! Copies and flipped bits.

use super::bench::Bench;
use super::bench::full;
use super::bench::segments;
use crate::units::Nanos;

#[test]
fn a_copy_follows_its_original_at_once_and_its_buffer_lives_until_both_are_sent() {
    let mut bench = Bench::new(&["duplicate 1@2/3", "delay 1ms"]);
    bench.push(segments(4, 5, Nanos::ZERO));
    bench.run_until(Nanos::from_secs(1));
    let order: Vec<u32> = bench.fates().iter().map(|fate| fate.segment).collect();
    assert_eq!(order, [0, 1, 1, 2, 3, 4, 4]);
    let sample = bench.chain.sample();
    assert_eq!((sample.packets, sample.duplicated, sample.held), (5, 2, 0));
    assert_eq!(bench.released_once().len(), 1);
}

#[test]
fn a_corrupted_packet_is_alone_and_its_bit_lies_within_it() {
    let mut bench = Bench::new(&["corrupt 1@3/10"]);
    bench.push(segments(0, 44, Nanos::ZERO));
    bench.run_until(Nanos::ZERO);
    let marked: Vec<_> = bench.out.iter().filter(|packet| packet.flip().is_some()).collect();
    assert_eq!(marked.iter().map(|packet| packet.first()).collect::<Vec<_>>(), [2, 12, 22, 32, 42]);
    for packet in marked {
        assert_eq!(packet.count(), 1);
        assert!(packet.flip() < Some(12_000));
    }
    assert_eq!(bench.chain.sample().corrupted, 5);
}

#[test]
fn flipped_bits_are_spread_over_the_whole_packet() {
    let mut bench = Bench::new(&["corrupt 100%"]);
    let packets = 24_000;
    for i in 0..packets {
        bench.push(full(i, Nanos::ZERO));
    }
    bench.run_until(Nanos::ZERO);
    let mut tenths = [0_u32; 10];
    for packet in &bench.out {
        let bit = packet.flip().expect("every packet is marked");
        tenths[usize::try_from(bit / 1_200).expect("small")] += 1;
    }
    for count in tenths {
        assert!((2_200..2_600).contains(&count), "{tenths:?}");
    }
}
