//! The course of a sweep over burst periods: what a full stream gets, loads around it, and then halfway between the
//! last load that was carried and the first that was not.

use super::SoFar;
use super::sheet;
use crate::traffic::analysis::figures::rounded;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
use crate::traffic::recipe;
use crate::traffic::recipe::Path;
use crate::traffic::trace::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// What is measured next.
pub(super) fn next(seen: &SoFar<'_>) -> Option<Cell> {
    sheet::stream(seen).or_else(|| {
        let mu = sheet::mu(seen)?.value;
        let loads = SHARES.iter().map(|share| bursts(seen, mu, share * mu)).collect();
        seen.round(loads, seen.plan.passes).or_else(|| closer(seen, mu))
    })
}

/// A load that tells more of the knee than those that were measured.
fn closer(seen: &SoFar<'_>, mu: f64) -> Option<Cell> {
    let (loads, step) = (loads(seen), step(mu, seen.course.time_ns));
    // One that was begun is measured as often as the others.
    let open = loads.iter().find(|load| seen.times(load.cell) < passes(seen));
    if let Some(open) = open {
        return Some(open.cell.clone());
    }
    if loads.len() >= MOST_LOADS {
        return None;
    }
    let above = loads.iter().position(|load| !load.is_carried(step));
    let next = match above {
        None => loads.last()?.offered * BEYOND,
        Some(0) => loads.first()?.offered / BEYOND,
        Some(first) => {
            let (good, bad) = (loads[first - 1].offered, loads[first].offered);
            if bad - good <= (NEAR * mu).max(step) {
                return None;
            }
            f64::midpoint(good, bad)
        }
    };
    Some(bursts(seen, mu, next)).filter(|next| seen.times(next) == 0)
}

/// What was measured of a load.
struct Load<'a> {
    cell: &'a Cell,
    /// The mean of its runs, bit/s.
    offered: f64,
    carried: f64,
}

impl Load<'_> {
    /// Closer values tell noise from nothing; the last block may be on its way at the end.
    fn is_carried(&self, step: f64) -> bool {
        self.carried >= self.offered * (1.0 - NEAR) - step
    }
}

/// By how much the rates of a run differ for one burst more, bit/s.
fn step(mu: f64, time: Nanos) -> f64 {
    float(block(mu, time).bits()) / time.seconds()
}

/// Every load, by rising rate.
fn loads<'a>(seen: &'a SoFar<'_>) -> Vec<Load<'a>> {
    let mut loads: Vec<(Load<'a>, f64)> = Vec::new();
    for made in seen.made().filter(|made| made.cell.group == Group::Period) {
        let (offered, carried) = (made.totals.arrival, made.totals.carried());
        match loads.iter_mut().find(|(load, _)| load.cell.id == made.cell.id) {
            Some((load, runs)) => {
                *runs += 1.0;
                load.offered += (offered - load.offered) / *runs;
                load.carried += (carried - load.carried) / *runs;
            }
            None => loads.push((Load { cell: made.cell, offered, carried }, 1.0)),
        }
    }
    let mut loads: Vec<Load<'a>> = loads.into_iter().map(|(load, _)| load).collect();
    loads.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    loads
}

fn passes(seen: &SoFar<'_>) -> usize {
    usize::try_from(seen.plan.passes).unwrap_or(usize::MAX)
}

/// Queued bursts of such a rate.
fn bursts(seen: &SoFar<'_>, mu: f64, bit_s: f64) -> Cell {
    let time = seen.course.time_ns;
    let block = block(mu, time);
    let period = neat(recipe::period(block, bit_s));
    Cell {
        group: Group::Period,
        label: format!("{} ms", period.millis()),
        x: period.millis(),
        sessions: 1,
        scenario: recipe::bursts("burstq", Path::of(seen.plan).tcp(), block, period, time),
        ..Cell::default()
    }
}

/// The same to three digits.
fn neat(period: Nanos) -> Nanos {
    let mut unit = 1;
    while period.count() / unit >= 1000 {
        unit *= 10;
    }
    Nanos::new((period.count() + unit / 2) / unit * unit)
}

/// The bursts of the paper, where the path needs some milliseconds for one and less than a small part of the
/// time: shorter periods would measure the sender, longer ones a few blocks. Else others that do.
fn block(mu: f64, time: Nanos) -> Bytes {
    let longest = (time.seconds() / BLOCKS).max(SHORTEST_S);
    let needs = float(BURST.bits()) / mu;
    if (SHORTEST_S..=longest).contains(&needs) {
        return BURST;
    }
    Bytes::new(rounded(needs.clamp(SHORTEST_S, longest) * mu / 8.0).max(1))
}

/// Of what a full stream gets.
const SHARES: [f64; 10] = [0.2, 0.4, 0.6, 0.8, 0.9, 1.1, 1.3, 1.6, 2.0, 3.0];
/// Loads at most: those, and some that are decided on the way.
const MOST_LOADS: usize = 16;
/// Where no load is on the other side of the knee, the next one is so many times as far.
const BEYOND: f64 = 2.0;
/// Of mu: bounds that are so close need no load between them.
const NEAR: f64 = 0.02;
/// napier, section 4 b.
const BURST: Bytes = Bytes::new(12_500);
/// What the path needs for a burst at the least, seconds.
const SHORTEST_S: f64 = 0.002;
/// At the rate of the path a run has so many bursts at the least.
const BLOCKS: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// At 1.7 Mb/s, as in the paper, 12500 B; beside it whatever has a period that can be kept.
    #[test]
    fn bursts_are_as_long_as_the_path_needs_milliseconds_for() {
        let time = Nanos::from_secs(2);
        for (mu, bytes) in [
            (1.7e6, 12_500),
            (9.4e6, 12_500),
            (50e6, 12_500),
            (100e6, 25_000),
            (20e9, 5_000_000),
            (64e3, 533),
            (100.0, 1),
        ] {
            assert_eq!(block(mu, time), Bytes::new(bytes), "{mu}");
        }
        assert_eq!(block(1.7e6, Nanos::from_millis(50)), Bytes::new(425));
        let periods = [5_882_352, 667, 58_823_529, 999_600].map(|ns| neat(Nanos::new(ns)).count());
        assert_eq!(periods, [5_880_000, 667, 58_800_000, 1_000_000]);
    }
}
