//! Curves whose differences are known.

use super::*;
use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::Mode;
use crate::pingpong::point::summarize;
use crate::pingpong::sample::ConfigurationId;
use crate::pingpong::schedule::Schedule;
use crate::pingpong::schedule::Sweep;
use crate::pingpong::simulated::Noise;
use crate::pingpong::simulated::Simulated;
use crate::pingpong::sizes::Sizes;
use crate::pingpong::statistic::Statistic;
use crate::units::Nanos;

fn sweep(path: Simulated, seed: u64) -> Curve {
    let noise = Noise::correlated(0.05, Nanos::from_millis(20), seed).and_each(0.1);
    let all = Sweep::new(Sizes::default().points(), seed);
    let mut schedule = Schedule::new(Sweep { budget: Nanos::from_secs(2), ..all });
    let tcp = [Configuration::new("tcp")];
    let samples = path.with_noise(noise).sweep(&mut schedule, &tcp);
    let points = summarize(&samples, ConfigurationId(1), Mode::PingPong);
    Curve::new("tcp", Mode::PingPong, Statistic::Typical, &points)
}

/// All sizes tested at once find something by chance in one pair of twenty.
#[test]
fn p6_two_sweeps_of_one_path_do_not_differ() {
    let path = || Simulated::new(10.0, 1.0);
    let mut found_by_chance = 0;
    for seed in [1, 3, 5] {
        let found = compare(&sweep(path(), seed), &sweep(path(), seed + 1), Rounds::Own);
        assert_eq!(found.sizes.len(), 124);
        assert_eq!(found.verdict(), Verdict::Same, "overlap {:?}", found.overlap);
        let said = found.to_string();
        assert!(said.starts_with("no difference: intervals overlap at 1"), "{said}");
        assert!(said.contains(" of 124 sizes; T "), "{said}");
        assert!((found.ratio.unwrap() - 1.0).abs() < 0.02);
        found_by_chance += usize::from(found.differing().count() > 0);
    }
    assert!(found_by_chance <= 1);
}

#[test]
fn a_path_with_half_the_latency_differs_at_small_sizes() {
    let (first, second) = (sweep(Simulated::new(10.0, 1.0), 1), sweep(Simulated::new(5.0, 1.0), 2));
    for rounds in [Rounds::Own, Rounds::Shared] {
        let found = compare(&first, &second, rounds);
        assert_eq!(found.verdict(), Verdict::Different);
        let said = found.to_string();
        assert!(said.starts_with("differ at 1 to "), "{said}");
        let differing: Vec<Bytes> = found.differing().map(|size| size.size).collect();
        assert!(differing.contains(&Bytes::new(1)));
        assert!(!differing.contains(&Bytes::new(8 << 20)));
    }
}

/// Four curves of three sizes: the same, another at 2 bytes, one without intervals.
#[test]
fn p6_a_verdict_names_the_sizes_that_differ_and_none_follows_without_intervals() {
    let curve = |middle: f64, half_width: Option<f64>| {
        let point = |(size, time_us): (u64, f64)| CurvePoint {
            size: Bytes::new(size),
            time_us,
            interval_us: half_width
                .map(|half| Interval { low: time_us - half, high: time_us + half }),
            rounds_us: Vec::new(),
        };
        let points = [(1, 10.0), (2, middle), (3, 30.0)].map(point).to_vec();
        let statistic = Statistic::Typical;
        Curve { label: String::new(), mode: Mode::PingPong, statistic, points }
    };
    let base = curve(20.0, Some(1.0));
    let said = |other: &Curve| compare(&base, other, Rounds::Own).to_string();
    assert_eq!(
        said(&curve(20.0, Some(0.5))),
        "no difference: intervals overlap at 3 of 3 sizes; T 1.000 times as long, in the \
         geometric mean of 3"
    );
    assert_eq!(
        said(&curve(40.0, Some(0.5))),
        "differ at 2 bytes: intervals overlap at 2 of 3 sizes; T 1.260 times as long, in the \
         geometric mean of 3"
    );
    let slower = |point: CurvePoint| CurvePoint {
        time_us: 1.5 * point.time_us,
        interval_us: point
            .interval_us
            .map(|bounds| Interval { low: 1.5 * bounds.low, high: 1.5 * bounds.high }),
        ..point
    };
    let points = base.points.iter().cloned().map(slower).collect();
    assert_eq!(
        said(&Curve { points, ..base.clone() }),
        "differ at 1 to 3 bytes: intervals overlap at 0 of 3 sizes, at 3 if one is moved as a \
         whole; T 1.500 times as long, in the geometric mean of 3"
    );
    let without = said(&curve(40.0, None));
    assert!(without.starts_with("no verdict, as not both have intervals; one lies"), "{without}");
    assert!(without.contains("within those of the other at 2 of 3 sizes; T 1.260"), "{without}");
    let empty = Curve { points: Vec::new(), ..base.clone() };
    assert_eq!(said(&empty), "no size in common");
}

/// Five sizes, T from a tenth to ten times as long within its interval: nothing is said by the overlap.
#[test]
fn overlapping_intervals_of_any_width_are_no_verdict() {
    let curve = |moved: f64, factor: f64| {
        let point = |size: u64| CurvePoint {
            size: Bytes::new(size),
            time_us: 10.0 * moved,
            interval_us: Some(Interval { low: 10.0 * moved / factor, high: 10.0 * moved * factor }),
            rounds_us: Vec::new(),
        };
        let (mode, statistic) = (Mode::PingPong, Statistic::Typical);
        Curve { label: String::new(), mode, statistic, points: (1..=5).map(point).collect() }
    };
    let found = |moved, factor| compare(&curve(1.0, 1.05), &curve(moved, factor), Rounds::Own);
    let wide = found(0.113, 10.0);
    assert_eq!(wide.verdict(), Verdict::TooWide);
    assert!(
        wide.to_string().starts_with(
            "no verdict, as the intervals are too wide to tell (900 % to each side in the median): \
             they overlap at 5 of 5 sizes; T 0.113"
        ),
        "{wide}"
    );
    assert_eq!(found(1.0, 1.24).verdict(), Verdict::Same);
    assert_eq!(found(1.0, 1.26).verdict(), Verdict::TooWide);
    assert_eq!(found(20.0, 10.0).verdict(), Verdict::Different, "apart, however wide");
}

/// Every second size differs: single ranges, of which the first few are named.
#[test]
fn the_ranges_that_are_not_named_are_counted() {
    let said = |ranges: u64| {
        let curve = |moved: f64| {
            let point = |size: u64| {
                let time_us = if size % 2 == 1 { 10.0 } else { moved };
                let interval = Interval { low: time_us - 1.0, high: time_us + 1.0 };
                let size = Bytes::new(size);
                CurvePoint { size, time_us, interval_us: Some(interval), rounds_us: Vec::new() }
            };
            let points = (1..=2 * ranges).map(point).collect();
            let (mode, statistic) = (Mode::PingPong, Statistic::Typical);
            Curve { label: String::new(), mode, statistic, points }
        };
        compare(&curve(10.0), &curve(20.0), Rounds::Own).to_string()
    };
    let many = u64::try_from(SHOWN_RANGES).unwrap();
    assert!(!said(many).contains("more"), "{}", said(many));
    assert!(said(many + 1).contains(" bytes and 1 more range: "), "{}", said(many + 1));
    assert!(said(many + 2).contains(" bytes and 2 more ranges: "), "{}", said(many + 2));
}
