//! Streams in virtual time: what is divided, and what comes out.

use super::*;
use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::Mode;
use crate::pingpong::point::PointSummary;
use crate::pingpong::point::summarize;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::sample::VisitSample;
use crate::pingpong::schedule::Schedule;
use crate::pingpong::schedule::Sweep;
use crate::pingpong::simulated::Simulated;
use crate::pingpong::sizes::Sizes;
use crate::units::Bytes;

/// Blocks of 0.5 us and 0.2 ns a byte, one way.
fn path(acknowledgement: Nanos) -> Simulated {
    Simulated::new(0.5, 0.2).acknowledged_after(acknowledgement)
}

fn time_us(size: u64) -> f64 {
    0.5 + f64::from(u32::try_from(size).unwrap()) * 0.2e-3
}

fn streamed(mut path: Simulated, sweep: Sweep) -> (Schedule, Vec<VisitSample>) {
    let streams = sweep.configurations.iter().copied().collect();
    let mut schedule = Schedule::new(Sweep { streams, ..sweep });
    let wanted = Configuration { mode: Mode::Streaming, ..Configuration::new("tcp") };
    let samples = path.sweep(&mut schedule, &[wanted]);
    (schedule, samples)
}

fn points(samples: &[VisitSample]) -> Vec<PointSummary> {
    summarize(samples, ConfigurationId(1), Mode::Streaming)
}

#[test]
fn a_block_of_a_stream_takes_its_time_and_hardly_any_of_an_acknowledgement() {
    let sweep = Sweep::new(Sizes::default().points(), 7);
    let (schedule, samples) = streamed(path(Nanos::from_micros(20)), sweep);
    assert!(schedule.spent() <= Nanos::from_secs(31) && schedule.remaining() == 0);
    assert_eq!(samples.len(), 1240);
    for point in points(&samples) {
        let ratio = point.typical_us / time_us(point.size.count());
        assert!((1.0..1.05).contains(&ratio), "{}: {ratio}", point.size);
        assert!(point.flags.is_empty(), "{}: {:?}", point.size, point.flags);
    }
}

#[test]
fn a_visit_of_a_stream_has_ten_units_where_a_block_is_no_tenth_of_it() {
    let sweep = Sweep::new(Sizes::default().points(), 7);
    let (_, samples) = streamed(path(Nanos::from_micros(20)), sweep);
    for sample in &samples {
        let (size, times) = (sample.size_bytes, &sample.times);
        assert!(times.n >= 6, "{size}: {} units", times.n);
        assert!(size.count() > 1 << 20 || times.n >= 9, "{size}: {} units", times.n);
        assert!(size.count() > 64 << 10 || times.batch > 50, "{size}: {}", times.batch);
    }
}

/// An acknowledgement of half a millisecond makes longer units, and fewer.
#[test]
fn units_grow_with_the_acknowledgement_up_to_the_time_of_a_visit() {
    let sweep = || Sweep::new(vec![Bytes::new(1_000)], 1);
    let (_, samples) = streamed(path(Nanos::from_micros(500)), sweep());
    let point = &points(&samples)[0];
    assert!(point.flags.is_empty() && point.typical_us < 1.06 * time_us(1_000), "{point:?}");
    assert!(samples.iter().all(|sample| sample.times.n >= 1), "{samples:?}");
}

#[test]
fn a_visit_too_short_for_its_acknowledgement_is_flagged() {
    let sweep = || Sweep::new(vec![Bytes::new(1_000)], 1);
    let (schedule, samples) = streamed(path(Nanos::from_millis(20)), sweep());
    assert!(samples.len() >= 3, "three rounds whatever it takes");
    assert!(schedule.spent() < Nanos::from_secs(2), "{}", schedule.spent());
    let point = &points(&samples)[0];
    assert!(point.flags.iter().any(|flag| flag.name == SHORT_UNITS), "{point:?}");
}

#[test]
fn blocks_that_take_longer_than_a_visit_go_one_by_one() {
    let slow = Simulated::new(100.0, 8_000.0);
    let (_, samples) = streamed(slow, Sweep::new(vec![Bytes::new(64 << 10)], 1));
    assert!(samples.iter().all(|sample| (sample.times.n, sample.times.batch) == (1, 1)));
    assert!(points(&samples)[0].flags.iter().any(|flag| flag.name == SHORT_UNITS));
}

#[test]
fn a_division_is_never_longer_than_twice_the_plan() {
    let stream = Stream::within(Nanos::from_millis(24));
    assert_eq!((stream.unit, stream.longest), (Nanos::from_millis(2), Nanos::from_millis(24)));
    let found = |blocks, together_us, single_us| Sounding {
        blocks,
        together: Nanos::from_micros(together_us),
        single: Some(Nanos::from_micros(single_us)),
    };
    let division = stream.divide(&found(1_000, 2_000, 12), 10);
    assert_eq!(division, Division { batch: 1_005, units: 10, is_streamed: true });
    let division = stream.divide(&found(1_000, 2_000, 402), 10);
    assert_eq!((division.batch, division.units), (6_258, 2), "25 times 400.4 us");
    let division = stream.divide(&found(2, 6_000, 3_000), 10);
    assert_eq!(division, Division { batch: 1, units: 7, is_streamed: true });
    // A single block that took longer than two is no block of no time.
    let division = stream.divide(&found(2, 6_000, 7_000), 10);
    assert!(division.batch <= 24 / 3 * 2, "{division:?}");
}
