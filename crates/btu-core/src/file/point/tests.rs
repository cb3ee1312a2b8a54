//! Tests of figures over rounds.

use super::*;
use crate::file::sample::Operation;
use crate::file::testing::client;
use crate::file::testing::sample;

/// CITI TR 92-2, table 5: seconds of barnone, cauchy ... pumper, rioja, virgo.
const T5: [f64; 15] = [
    147.0, 138.0, 152.0, 146.0, 149.0, 146.0, 146.0, 141.0, 148.0, 148.0, 147.0, 149.0, 104.0,
    141.0, 137.0,
];

fn trial(clients: u32) -> Trial {
    Trial {
        protocol: "ftp".into(),
        operation: Operation::Get,
        direction: Direction::BToA,
        size_bytes: Bytes::new(1_024_000),
        count: 1,
        clients,
        mtu_bytes: None,
        held: Held::Nowhere,
    }
}

/// Mean 142.6 s, printed as 142; Jain's index of the rates 0.990.
#[test]
fn the_papers_table_5_has_its_mean_its_fairness_and_its_worst_client() {
    let trial = trial(15);
    let night = sample(&trial, Direction::BToA, &T5);
    let point = Point::of(&trial, &[&night], None);
    let fair = point.fairness.clone().unwrap();
    assert!((fair.mean_s - 142.6).abs() < 0.05, "{fair:?}");
    assert!((fair.median_s - 146.0).abs() < 1e-6, "{fair:?}");
    assert!((fair.jain.value - 0.990).abs() < 5e-4, "{fair:?}");
    assert!((fair.slowest_over_median.value - 1.04).abs() < 5e-3, "{fair:?}");
    assert_eq!((fair.worst_client, fair.finish_spread_s.value.round()), (3, 48.0));
    assert!((point.mean_elapsed_s().unwrap() - fair.mean_s).abs() < 1e-9);
    // 14 x 1000 KB in 142 s: 99 KB/s, without `pumper`.
    let without: Vec<f64> = T5.iter().copied().filter(|one| *one > 120.0).collect();
    let others = sample(&trial, Direction::BToA, &without);
    let mean = Point::of(&trial, &[&others], None).mean_elapsed_s().unwrap();
    assert!((mean - 145.4).abs() < 0.05, "{mean}");
    assert!((14.0 * 1000.0 / 142.0_f64 - 98.6).abs() < 0.05);
}

/// In each round another client takes twice as long: each of three has the same time over all rounds.
#[test]
fn a_victim_of_one_round_is_not_hidden_by_the_others() {
    let trial = trial(3);
    let rounds = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]];
    let rounds = rounds.map(|times| sample(&trial, Direction::BToA, &times));
    let fair = Point::of(&trial, &rounds.iter().collect::<Vec<_>>(), None).fairness.unwrap();
    let found =
        [fair.jain, fair.slowest_over_median, fair.least_over_most_rate, fair.finish_spread_s];
    // (1 + 1 + 1/2)^2 / (3 x (1 + 1 + 1/4)) = 25 / 27
    for (found, wanted) in found.into_iter().zip([25.0 / 27.0, 2.0, 0.5, 1.0]) {
        assert!((found.value - wanted).abs() < 1e-6, "{fair:?}");
    }
    assert!((fair.worst_over_median - 1.0).abs() < 1e-6, "{fair:?}");
}

/// One of two began a second later and took as long: it ended a second later.
#[test]
fn a_finish_spread_is_between_ends_and_not_between_times() {
    let trial = trial(2);
    let mut seen = sample(&trial, Direction::BToA, &[1.0]);
    seen.clients.push(client(&trial, 2, Direction::BToA, [1.0, 2.0]));
    let fair = Point::of(&trial, &[&seen], None).fairness.unwrap();
    assert!((fair.finish_spread_s.value - 1.0).abs() < 1e-6, "{fair:?}");
}

#[test]
fn a_round_with_a_failure_is_counted_apart_and_a_warm_up_not_at_all() {
    let trial = trial(1);
    let mut rounds = [1.0, 1.0, 1.0, 100.0, 100.0].map(|s| sample(&trial, Direction::BToA, &[s]));
    rounds[3].warm_up = true;
    rounds[4].clients[0].failure = Some("connection reset".into());
    let point = Point::of(&trial, &rounds.iter().collect::<Vec<_>>(), None);
    assert_eq!((point.rounds, point.failed), (3, 1));
    assert!((point.total.unwrap().value - 1000.0).abs() < 1e-6);
    assert!(point.fairness.is_none(), "one client is alike itself");
}

#[test]
fn a_mean_has_an_interval_from_three_rounds_on_and_survives_a_zero() {
    assert_eq!(Figure::of(&[]), None);
    assert_eq!(Figure::of(&[2.0, 8.0]).unwrap(), Figure { value: 4.0, interval: None });
    let zero = Figure::of(&[0.0, 1.0, 2.0]).unwrap();
    assert!((zero.value - 1.0).abs() < 1e-12 && zero.interval.is_some());
    let three = Figure::of(&[1.0, 2.0, 4.0]).unwrap();
    assert!((three.value - 2.0).abs() < 1e-12 && three.interval.unwrap().contains(2.0));
}
