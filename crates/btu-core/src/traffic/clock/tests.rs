//! Two clocks agree within the bound that is said.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use super::*;

/// Two clocks in virtual time: the other is ahead by `ahead_ns` when ours says `EPOCH`, and runs
/// faster by `drift_ppm`.
struct Clocks {
    ahead_ns: i64,
    drift_ppm: f64,
}

const EPOCH: u64 = 3_600_000_000_000;

impl Clocks {
    fn ahead(&self, here: u64) -> i64 {
        self.ahead_ns + rounded(self.drift_ppm / 1e6 * wide(signed(here - EPOCH)))
    }

    fn read(&self, asked: u64, there: u64, back: u64) -> Reading {
        let told = (asked + there).saturating_add_signed(self.ahead(asked + there));
        let heard = asked + there + back;
        Reading { asked: Nanos::new(asked), told: Nanos::new(told), heard: Nanos::new(heard) }
    }

    /// Sixteen readings from `from` on, with the delays of the ways.
    fn group(&self, mut from: u64, mut delays: impl FnMut() -> (u64, u64)) -> Vec<Reading> {
        let mut readings = Vec::new();
        for _ in 0..16 {
            let (there, back) = delays();
            readings.push(self.read(from, there, back));
            from += there + back + 1000;
        }
        readings
    }
}

fn line(before: &[Reading], after: &[Reading]) -> Line {
    Line::new(Offset::of(before).unwrap(), Offset::of(after).unwrap()).unwrap()
}

/// Asymmetric ways, outliers of half a second, drift of both signs, clocks far apart in either
/// direction: the truth is within the bound, at every time of the run.
#[test]
fn the_bound_holds_whatever_the_ways_take() {
    let mut chance = ChaCha12Rng::seed_from_u64(5);
    for _ in 0..2000 {
        let clocks = Clocks {
            ahead_ns: chance.random_range(-3_000_000_000_000..3_000_000_000_000),
            drift_ppm: chance.random_range(-400.0..400.0),
        };
        let least = [chance.random_range(1_000..40_000_000), chance.random_range(1_000..2_000_000)];
        let mut delays = || {
            let slow = |least: u64, chance: &mut ChaCha12Rng| {
                let outlier = if chance.random_range(0..4) == 0 { 500_000_000 } else { 1 };
                least + chance.random_range(0..=least / 2 + outlier)
            };
            (slow(least[0], &mut chance), slow(least[1], &mut chance))
        };
        let before = clocks.group(EPOCH, &mut delays);
        let later = EPOCH + 40_000_000_000;
        let after = clocks.group(later, &mut delays);
        let line = line(&before, &after);
        let (from, to) = (line.before.at.count(), line.after.at.count());
        for part in 0..=10 {
            let at = from + (to - from) / 10 * part;
            let error = line.ahead(Nanos::new(at)).abs_diff(clocks.ahead(at));
            assert!(error <= line.bound().count() + 2, "{error} > {:?}", line.bound());
        }
        // Half of the fastest round trip is all that can stay unknown, but for the drift on the way.
        let half = |group: &[Reading]| {
            group.iter().map(Reading::round_trip).min().unwrap().count().div_ceil(2)
        };
        let worst = half(&before).max(half(&after));
        assert!(line.bound().count() <= worst + worst / 500 + 4, "{:?} {worst}", line.bound());
    }
}

/// Nobody corrects what was read with the offset of the beginning alone: the clocks come apart by 2 ms within 20 s.
#[test]
fn the_offset_of_the_beginning_has_a_bound_until_the_end() {
    for drift_ppm in [-100.0, 0.0, 100.0] {
        let clocks = Clocks { ahead_ns: 8_000_000, drift_ppm };
        let before = Offset::of(&clocks.group(EPOCH, || (50_000, 90_000))).unwrap();
        let later = EPOCH + 20_000_000_000;
        let after = Offset::of(&clocks.group(later, || (70_000, 50_000))).unwrap();
        let bound = before.bound_until(&after);
        for at in [EPOCH, EPOCH + 7_000_000_000, later] {
            assert!(before.ahead().abs_diff(clocks.ahead(at)) <= bound.count(), "{bound:?}");
        }
        let drifted = if drift_ppm == 0.0 { 0 } else { 2_000_000 };
        assert!(bound.count() < drifted + 200_000, "{bound:?}");
    }
}

#[test]
fn symmetric_ways_give_the_offset_and_the_drift() {
    let clocks = Clocks { ahead_ns: -7_000_000_000, drift_ppm: 35.0 };
    let before = clocks.group(EPOCH, || (50_000, 50_000));
    let after = clocks.group(EPOCH + 20_000_000_000, || (50_000, 50_000));
    let line = line(&before, &after);
    assert!((line.drift_ppm() - 35.0).abs() < 0.1, "{}", line.drift_ppm());
    let at = EPOCH + 10_000_000_000;
    assert!(line.ahead(Nanos::new(at)).abs_diff(clocks.ahead(at)) < 200);
    assert!(line.bound() <= Nanos::from_micros(51), "{:?}", line.bound());
}

#[test]
fn one_fast_reading_among_outliers_is_enough() {
    let clocks = Clocks { ahead_ns: 12_345_678, drift_ppm: 0.0 };
    let mut ways = vec![(90_000_000, 10), (20_000, 20_000)];
    ways.extend([(10, 80_000_000); 14]);
    let mut ways = ways.into_iter();
    let offset = Offset::of(&clocks.group(EPOCH, || ways.next().unwrap())).unwrap();
    assert!(offset.ahead().abs_diff(12_345_678) <= offset.bound().count());
    assert!(offset.bound() <= Nanos::from_micros(21), "{:?}", offset.bound());
    assert_eq!(
        offset.there(Nanos::from_secs(1)).count(),
        1_000_000_000_u64.saturating_add_signed(offset.ahead())
    );
}

/// A clock that was set, or a host that was suspended.
#[test]
fn a_clock_that_jumps_is_told_and_not_averaged() {
    let [early, late] = [0, 5_000_000].map(|ahead_ns| Clocks { ahead_ns, drift_ppm: 0.0 });
    let before = early.group(EPOCH, || (50_000, 50_000));
    let after = late.group(EPOCH + 1_000_000_000, || (50_000, 50_000));
    let apart = Line::new(Offset::of(&before).unwrap(), Offset::of(&after).unwrap());
    assert!(matches!(apart, Err(ClockError::Uneven(4500..5500))), "{apart:?}");
    let mixed = [&before[..], &late.group(EPOCH + 3_000_000, || (50_000, 50_000))].concat();
    let within = Offset::of(&mixed);
    assert!(matches!(within, Err(ClockError::Uneven(4500..5500))), "{within:?}");
    assert_eq!(Offset::of(&[]), Err(ClockError::Unread));
}

/// The start is announced from what was known before; what is known afterwards corrects it.
#[test]
fn times_there_become_times_here_and_back() {
    let clocks = Clocks { ahead_ns: 1_000_000_000, drift_ppm: 100.0 };
    let before = clocks.group(EPOCH, || (10_000, 90_000));
    let after = clocks.group(EPOCH + 10_000_000_000, || (50_000, 50_000));
    let line = line(&before, &after);
    let here = Nanos::new(EPOCH + 50_000_000);
    let there = Offset::of(&before).unwrap().there(here);
    let (ours, theirs) = (Shift::to_here(&line, here, there), Shift::to_there(&line, here, there));
    for passed in [1_000_000, 3_000_000_000_u64] {
        // When ours says so much since the start, what does the other count?
        let at = here.count() + passed;
        let read = at.saturating_add_signed(clocks.ahead(at));
        let counted = Nanos::new(read - there.count());
        let (back, forth) = (ours.of(counted), theirs.of(Nanos::new(passed)));
        assert!(back.count().abs_diff(passed) <= line.bound().count() + 2, "{back:?}");
        assert!(forth.count().abs_diff(counted.count()) <= line.bound().count() + 2);
    }
    assert_eq!(ours.within(Nanos::ZERO, Nanos::from_secs(1)).count() / 1_000_000, 0);
}
