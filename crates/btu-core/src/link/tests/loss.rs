//! E2: the loss models lose as much and in such bursts as their formulas say.

use statrs::distribution::ChiSquared;
use statrs::distribution::ContinuousCDF as _;

use super::bench::Bench;
use super::bench::segments;
use crate::link::Packet;
use crate::link::Slot;
use crate::units::Bytes;
use crate::units::Nanos;

/// 10^6 packets as the check asks; unoptimised builds take fewer.
const PACKETS: u32 = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
const SEEDS: std::ops::Range<u64> = 1..21;

/// A model with its stationary loss, the correlation of one packet with the next, and the chance
/// that a burst ends, where bursts are geometric.
struct Model {
    element: &'static str,
    loss: f64,
    correlation: f64,
    burst_end: Option<f64>,
}

const MODELS: &[Model] = &[
    Model { element: "drop 1%", loss: 0.01, correlation: 0.0, burst_end: Some(0.99) },
    Model { element: "drop 30%", loss: 0.3, correlation: 0.0, burst_end: Some(0.7) },
    Model {
        element: "drop ge 1% 25%",
        loss: 0.01 / 0.26,
        correlation: 0.74,
        burst_end: Some(0.25),
    },
    Model {
        element: "drop ge 10% 40% 50% 2%",
        loss: (0.1 * 0.5 + 0.4 * 0.02) / 0.5,
        correlation: 0.5,
        burst_end: None,
    },
    Model {
        element: "drop 4state 2% 40%",
        loss: 0.02 / 0.42,
        correlation: 0.58,
        burst_end: Some(0.4),
    },
];

fn lost(element: &str, seed: u64) -> Vec<bool> {
    let mut bench = Bench::seeded(&[element], seed);
    let mut lost = vec![true; usize::try_from(PACKETS).expect("fits")];
    for slot in 0..PACKETS / 40 {
        bench.push(segments(slot, 40, Nanos::ZERO));
        while let Some(run) = bench.pop(Nanos::ZERO) {
            let first = usize::try_from(slot * 40 + run.first()).expect("fits");
            lost[first..][..usize::try_from(run.count()).expect("fits")].fill(false);
        }
    }
    bench.check();
    lost
}

/// A super-packet of five segments and a shorter end: what is too large of it goes, the end passes.
#[test]
fn packets_that_are_too_large_are_lost_and_no_others() {
    let of = |size: u64| {
        let mut bench = Bench::new(&[&format!("drop above {size}B")]);
        let (header, segment) = (Bytes::new(52), Bytes::new(1448));
        let payload = Bytes::new(5 * 1448 + 100);
        bench.push(Packet::segmented(Slot(1), header, segment, payload, Nanos::ZERO));
        bench.push(Packet::single(Slot(2), Bytes::new(size), Nanos::ZERO));
        bench.push(Packet::single(Slot(3), Bytes::new(size + 1), Nanos::ZERO));
        while bench.pop(Nanos::ZERO).is_some() {}
        bench.check();
        bench.out.iter().map(Packet::count).sum::<u32>()
    };
    assert_eq!([of(1500), of(1499), of(152), of(151)], [6 + 1, 1 + 1, 1 + 1, 1]);
}

fn chi_squared_p(statistic: f64, freedom: f64) -> f64 {
    1.0 - ChiSquared::new(freedom).expect("positive").cdf(statistic)
}

/// The variance of a two-state chain's mean is inflated by (1 + r) / (1 - r); where only part of
/// the bad packets is lost, that is an upper bound and the test the milder.
fn loss_p(lost: &[bool], model: &Model) -> f64 {
    let n = f64::from(PACKETS);
    let share = lost.iter().map(|lost| f64::from(u8::from(*lost))).sum::<f64>() / n;
    let inflation = (1.0 + model.correlation) / (1.0 - model.correlation);
    let variance = model.loss * (1.0 - model.loss) / n * inflation;
    chi_squared_p((share - model.loss).powi(2) / variance, 1.0)
}

/// Bursts of 1, 2, ... packets, the last class open, against the geometric law.
fn burst_p(lost: &[bool], end: f64) -> f64 {
    let bursts: Vec<usize> =
        lost.split(|lost| !lost).map(<[bool]>::len).filter(|length| *length > 0).collect();
    let all = bursts.iter().map(|_| 1.0).sum::<f64>();
    let (mut statistic, mut classes, mut left) = (0.0, 0.0, all);
    for length in 1_usize.. {
        let closed = left * end;
        let is_last = left - closed < 10.0;
        let expected = if is_last { left } else { closed };
        let fits = |burst: &&usize| if is_last { **burst >= length } else { **burst == length };
        let seen = bursts.iter().filter(fits).map(|_| 1.0).sum::<f64>();
        statistic += (seen - expected).powi(2) / expected;
        classes += 1.0;
        left -= expected;
        if is_last {
            break;
        }
    }
    if classes < 2.0 { 1.0 } else { chi_squared_p(statistic, classes - 1.0) }
}

#[test]
fn e2_losses_and_bursts_are_as_the_models_say() {
    for model in MODELS {
        for seed in SEEDS {
            let lost = lost(model.element, seed);
            let p = loss_p(&lost, model);
            assert!(p > 1e-3, "{}, seed {seed}: loss p = {p}", model.element);
            if let Some(end) = model.burst_end {
                let p = burst_p(&lost, end);
                assert!(p > 1e-3, "{}, seed {seed}: bursts p = {p}", model.element);
            }
        }
    }
}

/// All four states: stationary loss from the balance of the chain. With f = flow 1 -> 3 and back:
/// weights 1 : P13 P32 / (P31 P23) : P13 / P31 : P14.
#[test]
fn e2_the_four_states_have_their_stationary_weights() {
    let (p13, p31, p32, p23, p14) = (0.05, 0.3, 0.2, 0.5, 0.01);
    let weights = [1.0, p13 * p32 / (p31 * p23), p13 / p31, p14];
    let expected = (weights[2] + weights[3]) / weights.iter().sum::<f64>();
    let n = f64::from(PACKETS);
    for seed in SEEDS {
        let lost = lost("drop 4state 5% 30% 20% 50% 1%", seed);
        let share = lost.iter().map(|lost| f64::from(u8::from(*lost))).sum::<f64>() / n;
        let blocks = block_variance(&lost);
        let p = chi_squared_p((share - expected).powi(2) / blocks, 1.0);
        assert!(p > 1e-3, "seed {seed}: {share} lost, expected {expected}, p = {p}");
    }
}

/// Variance of the mean, from means of blocks much longer than any burst.
fn block_variance(lost: &[bool]) -> f64 {
    let means: Vec<f64> = lost
        .chunks_exact(500)
        .map(|block| block.iter().map(|lost| f64::from(u8::from(*lost))).sum::<f64>() / 500.0)
        .collect();
    let blocks = means.iter().map(|_| 1.0).sum::<f64>();
    statrs::statistics::Statistics::variance(&means) / blocks
}
