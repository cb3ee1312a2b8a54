//! The course of a sweep over burst periods: what a full stream gets, loads around it, and then halfway between the
//! highest load that was carried and the one above it.

use super::SoFar;
use super::sheet;
use crate::traffic::analysis::Measured;
use crate::traffic::figures::flow::rounded;
use crate::traffic::language::recipe;
use crate::traffic::language::recipe::BURST;
use crate::traffic::language::recipe::Path;
use crate::traffic::language::recipe::burst_period_s;
use crate::traffic::plan::Cell;
use crate::traffic::plan::Group;
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
    let (cells, step) = (cells(seen), step(mu, seen.course.time_ns));
    // One that was begun is measured as often as the others.
    let open = cells.iter().find(|cell| seen.times(cell) < passes(seen));
    if let Some(open) = open {
        return Some((*open).clone());
    }
    if cells.len() >= MOST_LOADS {
        return None;
    }
    let next = between(&loads(seen, &cells), mu, step)?;
    Some(bursts(seen, mu, next)).filter(|next| seen.times(next) == 0)
}

/// The load halfway between the highest that was carried and the one above it, bit/s; `None` where those are next to
/// each other. A lower one that was not carried had a bad run, and says nothing of the knee.
fn between(loads: &[Load], mu: f64, step: f64) -> Option<f64> {
    let Some(highest) = loads.iter().rposition(|load| load.is_carried(step)) else {
        return Some(loads.first()?.offered / BEYOND);
    };
    let good = loads[highest].offered;
    let Some(bad) = loads.get(highest + 1).map(|load| load.offered) else {
        return Some(good * BEYOND);
    };
    (bad - good > (NEAR * mu).max(step)).then(|| f64::midpoint(good, bad))
}

/// What was measured of a load: the means that the report says, bit/s.
#[derive(Clone, Copy, Debug)]
struct Load {
    offered: f64,
    carried: f64,
}

impl Load {
    /// Closer values tell noise from nothing; the last block may be on its way at the end.
    fn is_carried(&self, step: f64) -> bool {
        self.carried >= self.offered * (1.0 - NEAR) - step
    }
}

/// By how much the rates of a run differ for one burst more, bit/s.
fn step(mu: f64, time: Nanos) -> f64 {
    float(block(mu, time).bits()) / time.seconds()
}

/// The cells of all loads that were begun.
fn cells<'a>(seen: &'a SoFar<'_>) -> Vec<&'a Cell> {
    let mut cells: Vec<&Cell> =
        seen.made().map(|made| made.cell).filter(|cell| cell.group == Group::Period).collect();
    cells.sort_by_key(|cell| cell.id);
    cells.dedup_by_key(|cell| cell.id);
    cells
}

/// Every load of which a run could be made, by rising rate.
fn loads(seen: &SoFar<'_>, cells: &[&Cell]) -> Vec<Load> {
    let runs = |id: u32| seen.made().filter(move |made| made.cell.id == id);
    let load = |cell: &&Cell| {
        let measured = Measured::of(cell, runs(cell.id).map(|made| made.totals.clone()).collect());
        let (offered, carried) = (measured.arrival?.value, measured.carried()?.value);
        Some(Load { offered, carried })
    };
    let mut loads: Vec<Load> = cells.iter().filter_map(load).collect();
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
    let needs = burst_period_s(mu);
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
/// What the path needs for a burst at the least, seconds.
const SHORTEST_S: f64 = 0.002;
/// At the rate of the path a run has so many bursts at the least.
const BLOCKS: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads in steps of `MU / 5`, carried up to `MU` but for those of these numbers.
    fn loads(dips: &[u32]) -> Vec<Load> {
        let load = |number: u32| {
            let offered = f64::from(number) * MU / 5.0;
            let share = if dips.contains(&number) { 0.5 } else { 1.0 };
            Load { offered, carried: offered.min(MU) * share }
        };
        (1..=10).map(load).collect()
    }

    const MU: f64 = 10e6;

    /// Between 1.0 and 1.2 of mu, whatever a run at a fifth of it met.
    #[test]
    fn one_bad_run_far_below_the_knee_draws_no_loads_to_it() {
        for dips in [[].as_slice(), &[1], &[2, 3], &[4]] {
            let next = between(&loads(dips), MU, 0.0).unwrap();
            assert!((next / MU - 1.1).abs() < 1e-9, "{dips:?}: {next}");
        }
        // 1.01 and 1.025 of mu are next to each other.
        let load = |share: f64| Load { offered: share * MU, carried: share.min(1.0) * MU };
        assert_eq!(between(&[load(1.01), load(1.025)], MU, 0.0), None);
    }

    #[test]
    fn loads_on_one_side_of_the_knee_are_followed_by_one_twice_as_far() {
        let of = |loads: &[Load]| between(loads, MU, 0.0).map(|next| next / MU);
        let all = loads(&[]);
        assert!(of(&all[..5]).is_some_and(|next| (next - 2.0).abs() < 1e-9));
        assert!(of(&all[6..]).is_some_and(|next| (next - 0.7).abs() < 1e-9));
        assert_eq!(of(&[]), None);
    }

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
