//! Worked examples of a point, and what its intervals cover.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rand_distr::Distribution;
use rand_distr::Exp1;
use rand_distr::StandardNormal;

use super::*;
use crate::pingpong::sample::Ended;
use crate::pingpong::sample::Times;
use crate::pingpong::schedule::Visit;
use crate::stats::median_ranks;
use crate::stats::student_on_logs;
use crate::units::Nanos;

fn visit(round: u32, unit_ns: &[u64]) -> VisitSample {
    sized(8, round, unit_ns)
}

fn sized(bytes: u64, round: u32, unit_ns: &[u64]) -> VisitSample {
    let visit = Visit {
        configuration: ConfigurationId(1),
        round,
        connection: round.div_ceil(2),
        ..Visit::single(Bytes::new(bytes), 1, Nanos::from_secs(1))
    };
    VisitSample {
        times: Times::fold(unit_ns, 1, 64),
        ..VisitSample::of(&visit, Nanos::from_micros(100), Ended::Complete)
    }
}

#[track_caller]
fn only(samples: &[VisitSample]) -> PointSummary {
    let mut points = summarize(samples, ConfigurationId(1), Mode::PingPong);
    assert_eq!(points.len(), 1);
    points.remove(0)
}

#[track_caller]
fn assert_close(found: f64, want: f64) {
    assert!((found - want).abs() < 1e-9 * want.abs(), "{found}, expected {want}");
}

/// Round medians 20, 20, 40 us there and back: T = cube root of 10 x 10 x 20 us.
#[test]
fn the_statistics_of_three_rounds() {
    let point = only(&[
        visit(1, &[20_000, 18_000, 60_000]),
        visit(2, &[20_000, 20_000, 20_000]),
        visit(3, &[40_000, 40_000, 42_000]),
    ]);
    assert_close(point.typical_us, 2_000.0_f64.cbrt());
    assert_close(point.min_us, 9.0);
    assert_close(point.median_us, 10.0);
    let sum = (20 + 18 + 60 + 60 + 40 + 40 + 42) * 1_000;
    assert_close(point.mean_us, f64::from(sum) / 9.0 / 2e3);
    assert_close(point.average_of_3000_us.0, point.mean_us);
    assert_eq!((point.exchanges, point.average_of_3000_us.1), (9, 9));
    assert_close(point.netpipe_us, 10.0);
    assert_eq!(point.connections_us.len(), 2);
    assert!(point.interval_us.is_some_and(|interval| interval.contains(12.6)));
}

/// 2,000 exchanges of 10 us and 2,000 of 20 us, each round as a whole: 4,000, and not the third round.
#[test]
fn the_average_of_3000_says_of_how_many_it_is() {
    let rounds = [visit(1, &[20_000; 2_000]), visit(2, &[40_000; 2_000]), visit(3, &[60_000])];
    assert_eq!(only(&rounds).average_of_3000_us, (15.0, 4_000));
    let point = only(&rounds[..2]);
    assert_eq!(point.average_of_3000_us.1, 4_000);
    assert!(point.interval_us.is_none() && point.flags[0].name == "few-rounds");
}

#[test]
fn a_repeated_visit_stands_for_its_round_and_a_failed_one_for_nothing() {
    let again = VisitSample { attempt: 2, ..visit(1, &[20_000]) };
    let failed = Ended::Failed {
        fault: crate::pingpong::sample::Fault::Short,
        detail: "recv: 3 of 8 bytes".into(),
    };
    let broken = VisitSample { ended: failed, ..visit(4, &[1]) };
    let all = [visit(1, &[90_000]), again, visit(2, &[20_000]), visit(3, &[20_000]), broken];
    let point = only(&all);
    assert_eq!(point.rounds_us, [10.0, 10.0, 10.0]);
    assert!(summarize(&all, ConfigurationId(2), Mode::PingPong).is_empty());
}

#[test]
fn units_of_a_batch_are_divided() {
    let mut batched = visit(1, &[20_000]);
    batched.times.batch = 10;
    assert_close(only(&[batched]).typical_us, 1.0);
}

/// Exponential values, whose true median is ln 2.
#[test]
fn p8_the_interval_within_a_round_covers_the_true_median() {
    let mut chance = ChaCha12Rng::seed_from_u64(8);
    for n in [30_usize, 200] {
        let mut covered = 0;
        for _ in 0..2_000 {
            let values: Vec<(f64, u64)> = (0..n).map(|_| (Exp1.sample(&mut chance), 1)).collect();
            let interval = Counted::new(values).median_interval().unwrap();
            covered += u32::from(interval.contains(std::f64::consts::LN_2));
        }
        let percent = f64::from(covered) / 20.0;
        assert!((93.0..=99.0).contains(&percent), "{percent} % of n = {n}");
    }
    assert_eq!(median_ranks(5), None, "5 values cannot hold the median with 95 %");
}

/// Means of 10, 20 and 30 us, 20 of all: without one of them 25, 20 and 15, so the pseudo-values are
/// 20^3 / 25^2, 20 and 20^3 / 15^2. The medians of the rounds are the same three, and so is that of all.
#[test]
fn the_interval_of_a_mean_comes_from_its_rounds() {
    let rounds = [(1, 20_000), (2, 40_000), (3, 60_000)];
    let samples = rounds.map(|(round, time)| visit(round, &[time; 40]));
    let of = |statistic| intervals(&samples, ConfigurationId(1), Mode::PingPong, statistic);
    let found = of(Statistic::Mean)[&Bytes::new(8)];
    let want = student_on_logs(&[12.8, 20.0, 320.0 / 9.0]).unwrap();
    assert_close(found.low, want.low);
    assert_close(found.high, want.high);
    let found = of(Statistic::Median)[&Bytes::new(8)];
    let want = student_on_logs(&[10.0, 20.0, 30.0]).unwrap();
    let middle = 6_000.0_f64.cbrt();
    assert_close(found.low, want.low * 20.0 / middle);
    assert_close(found.high, want.high * 20.0 / middle);
    for none in [Statistic::P99, Statistic::Min, Statistic::Typical] {
        assert!(of(none).is_empty(), "{none}");
    }
    let found = of(Statistic::Netpipe)[&Bytes::new(8)];
    // The smallest of three means is that of the first round.
    let half = student_on_logs(&[12.8, 20.0, 320.0 / 9.0]).unwrap().half_width().ln_1p();
    let wider = (half * (3.0_f64 * 0.559_467).sqrt()).exp();
    assert_close(found.low, 10.0 / wider);
    assert_close(found.high, 10.0 * wider);
    let two = &samples[..2];
    assert!(intervals(two, ConfigurationId(1), Mode::PingPong, Statistic::Mean).is_empty());
}

/// The interval of a statistic of the only size.
fn bounds(samples: &[VisitSample], statistic: Statistic) -> Option<Interval> {
    let found = intervals(samples, ConfigurationId(1), Mode::PingPong, statistic);
    found.get(&Bytes::new(8)).copied()
}

/// Of 1,000 exchanges a round it is of three rounds, each as a whole.
#[test]
fn an_average_of_3000_has_the_interval_of_its_rounds() {
    let rounds = [(1, 20_000), (2, 40_000), (3, 60_000), (4, 400_000)];
    let samples = rounds.map(|(round, time)| visit(round, &[time; 1_000]));
    let found = bounds(&samples, Statistic::AverageOf3000).unwrap();
    let of_three = bounds(&samples[..3], Statistic::Mean).unwrap();
    assert_close(found.low, of_three.low);
    assert_close(found.high, of_three.high);
    let long = rounds.map(|(round, time)| visit(round, &[time; 2_000]));
    assert_eq!(bounds(&long, Statistic::AverageOf3000), None, "two rounds have them all");
}

/// Of 300 units a round two rounds make a stretch, and what is left over belongs to the last one.
#[test]
fn p99_has_an_interval_from_three_stretches_of_500_units_on() {
    let rounds = |count: u32| -> Vec<VisitSample> {
        let time = |round: u32| u64::from(round.div_ceil(2).min(3)) * 20_000;
        (1..=count).map(|round| visit(round, &[time(round); 300])).collect()
    };
    assert_eq!(bounds(&rounds(5), Statistic::P99), None);
    let want = student_on_logs(&[10.0, 20.0, 30.0]).unwrap().half_width();
    for count in [6, 7] {
        let found = bounds(&rounds(count), Statistic::P99).unwrap();
        assert!((found.half_width() / want - 1.0).abs() < 0.01, "{found:?}");
        // All that is known of a time in a bin is within a thousandth.
        assert!(((found.low * found.high).sqrt() / 30.0 - 1.0).abs() < 0.001, "{found:?}");
    }
}

/// A round of exponential values of which the mean is 1 ms of T, moved as a whole by a tenth.
fn moved_round(round: u32, exchanges: usize, chance: &mut ChaCha12Rng) -> VisitSample {
    let scale = (0.1 * normal(chance)).exp() * 2e6;
    let times = (0..exchanges).map(|_| {
        let drawn: f64 = Exp1.sample(chance);
        crate::pingpong::schedule::whole(drawn * scale).count().max(1)
    });
    visit(round, &times.collect::<Vec<u64>>())
}

/// The true mean of all is e^(0.01 / 2) times that of a round; its true median, and that of the medians of
/// rounds, ln 2 times (the spread of the rounds moves it by less than a twentieth of the interval).
#[test]
fn p8_each_interval_that_is_printed_covers_its_statistic_although_rounds_differ() {
    let (mean, median) = (1e3 * 0.005_f64.exp(), 1e3 * std::f64::consts::LN_2);
    for exchanges in [11, 61] {
        let mut chance = ChaCha12Rng::seed_from_u64(9);
        let (mut covered, repetitions) = ([0_u32; 3], 400);
        for _ in 0..repetitions {
            let samples: Vec<VisitSample> =
                (1..=10).map(|round| moved_round(round, exchanges, &mut chance)).collect();
            let of = |statistic| {
                intervals(&samples, ConfigurationId(1), Mode::PingPong, statistic)[&Bytes::new(8)]
            };
            let typical = only(&samples).interval_us.unwrap();
            let held = [
                of(Statistic::Mean).contains(mean),
                of(Statistic::Median).contains(median),
                typical.contains(median),
            ];
            covered.iter_mut().zip(held).for_each(|(covered, held)| *covered += u32::from(held));
        }
        let percent = covered.map(|covered| 100.0 * f64::from(covered) / f64::from(repetitions));
        let is_right = percent.iter().all(|percent| (90.0..=99.0).contains(percent));
        assert!(is_right, "{exchanges} exchanges: {percent:?} %");
    }
}

/// With x = 4.688 a share e^-x (1 + 0.01 (x^2 - x) / 2) = 1 % of all lies above x, to the second order of
/// how rounds differ. The expectation of the least of three means is that of the draws themselves.
#[test]
fn p8_intervals_of_p99_of_the_first_3000_and_of_the_least_of_three_hold_although_rounds_differ() {
    let (repetitions, all) = (150, [Statistic::P99, Statistic::AverageOf3000, Statistic::Netpipe]);
    for exchanges in [260, 600] {
        let mut chance = ChaCha12Rng::seed_from_u64(11);
        let draw = |_| -> Vec<VisitSample> {
            (1..=10).map(|round| moved_round(round, exchanges, &mut chance)).collect()
        };
        let drawn: Vec<Vec<VisitSample>> = (0..repetitions).map(draw).collect();
        let least: Vec<f64> = drawn.iter().map(|samples| only(samples).netpipe_us).collect();
        let truth = [4_688.0, 1e3 * 0.005_f64.exp(), geometric_mean(&least).unwrap()];
        let percent = all.into_iter().zip(truth).map(|(statistic, truth)| {
            let holds =
                |samples: &&Vec<VisitSample>| bounds(samples, statistic).unwrap().contains(truth);
            100.0 * count(drawn.iter().filter(holds).count()) / count(repetitions)
        });
        let percent: Vec<f64> = percent.collect();
        let is_right = percent.iter().all(|percent| (90.0..=99.5).contains(percent));
        assert!(is_right, "{exchanges} exchanges: {percent:?} %");
    }
}

/// A machine with a tide: sd of it on logs, the rounds in which it forgets itself (an
/// Ornstein-Uhlenbeck process), and the sd of each visit on its own.
#[derive(Clone, Copy)]
struct Wandering {
    tide: f64,
    memory: f64,
    own: f64,
}

impl Wandering {
    /// Ten rounds of 30 sizes that take 1 ms each, in random order.
    fn sweep(self, chance: &mut ChaCha12Rng) -> Vec<VisitSample> {
        let mut sizes: Vec<u64> = (1..=30).collect();
        let kept = (-1.0 / (30.0 * self.memory)).exp();
        let fresh = (1.0 - kept * kept).sqrt();
        let (mut samples, mut tide): (Vec<VisitSample>, f64) = (vec![], normal(chance));
        for round in 1..=10 {
            crate::run::schedule::shuffle(&mut sizes, chance);
            for size in &sizes {
                tide = kept * tide + fresh * normal(chance);
                let log = self.tide * tide + self.own * normal(chance);
                let unit_ns = crate::pingpong::schedule::whole(2e6 * log.exp()).count();
                samples.push(sized(*size, round, &[unit_ns]));
            }
        }
        samples
    }

    /// How many of 100 intervals hold the time: those that are printed, and t on rounds as if independent.
    fn covered(self) -> [f64; 2] {
        let (mut chance, mut held) = (ChaCha12Rng::seed_from_u64(10), [0_u32; 2]);
        for _ in 0..100 {
            for point in summarize(&self.sweep(&mut chance), ConfigurationId(1), Mode::PingPong) {
                let both = [point.interval_us, student_on_logs(&point.rounds_us)];
                let holds = both.map(|bounds| bounds.is_some_and(|bounds| bounds.contains(1e3)));
                held.iter_mut().zip(holds).for_each(|(held, holds)| *held += u32::from(holds));
            }
        }
        held.map(|held| f64::from(held) / 30.0)
    }
}

fn normal(chance: &mut ChaCha12Rng) -> f64 {
    StandardNormal.sample(chance)
}

/// Where nothing wanders both hold what they promise; a tide that keeps for one round, two and three
/// leaves the plain ones far behind.
#[test]
fn p8_intervals_hold_although_a_machine_wanders_from_round_to_round() {
    let still = Wandering { tide: 0.0, memory: 1.0, own: 0.1 };
    assert!(still.covered().iter().all(|percent| (93.0..=99.0).contains(percent)));
    for (memory, least, most_plain) in [(0.7, 93.0, 93.0), (1.7, 88.0, 80.0), (3.3, 80.0, 70.0)] {
        let wandering = Wandering { tide: 0.1, memory, own: 0.05 };
        let [found, plain] = wandering.covered();
        assert!(found >= least && plain <= most_plain, "{memory}: {found} %, plain {plain} %");
    }
}
