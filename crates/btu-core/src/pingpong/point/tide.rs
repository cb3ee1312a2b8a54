//! The tide of a round: how much slower or faster sizes beside each other were in it, all together.
//!
//! What else a machine does makes neighbouring sizes faster and slower at the same time, small blocks,
//! which wait for a CPU, in another way than large ones, which wait for memory: so each point has a tide
//! of its own, that of the sizes around it.

use std::collections::BTreeMap;

use super::LEAST_ROUNDS;
use super::Visits;
use crate::stats::arithmetic_mean;
use crate::stats::logs;
use crate::stats::median;

/// By how much a point was above its own mean, on logs, by round.
type Deviations = BTreeMap<u32, f64>;

/// The tide of each round of each point, in the order of its rounds: the median of what the sizes around
/// it, itself among them, were above their own means. Of few sizes it cannot be told from the chance of
/// each, and is that of none.
pub(super) fn tides(points: &[Visits<'_>]) -> Vec<Vec<f64>> {
    let deviations: Vec<Deviations> = points.iter().map(deviations).collect();
    let beside = |at: usize| {
        let last = points.len().saturating_sub(AROUND);
        let first = at.saturating_sub(AROUND / 2).min(last);
        deviations.iter().skip(first).take(AROUND)
    };
    let tide = |at: usize, round: u32| {
        let known: Vec<f64> =
            beside(at).filter_map(|of_point| of_point.get(&round).copied()).collect();
        median(&known).filter(|_| known.len() >= LEAST_AROUND).unwrap_or(0.0)
    };
    let of_point = |at: usize| {
        points[at].visits.iter().map(|visit| tide(at, visit.round)).collect::<Vec<f64>>()
    };
    (0..points.len()).map(of_point).collect()
}

/// None of a point that has too few rounds, or a time of zero.
fn deviations(point: &Visits<'_>) -> Deviations {
    let logs = logs(&point.rounds_us()).filter(|logs| logs.len() >= LEAST_ROUNDS);
    let Some(logs) = logs else { return Deviations::new() };
    let mean = arithmetic_mean(&logs).unwrap_or(0.0);
    let rounds = point.visits.iter().map(|visit| visit.round);
    rounds.zip(logs).map(|(round, log)| (round, log - mean)).collect()
}

/// Sizes that share a tide: five of `NetPIPE`'s with their neighbours, a factor of four in all.
const AROUND: usize = 15;
/// Below, no tide is told.
const LEAST_AROUND: usize = 5;
