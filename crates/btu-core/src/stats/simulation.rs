//! What the intervals cover, simulated: why composites are taken per pass, and why t on logs.
//!
//! Nominal coverage is 95 % throughout. The seeds are fixed, so each figure is one number; the
//! tolerance is what 3 standard errors of that many trials allow.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use rand_distr::Distribution;
use rand_distr::Normal;

use super::arithmetic_mean;
use super::bootstrap::resampled_means;
use super::count;
use super::detectable_change;
use super::interval::Interval;
use super::mean_and_sd;
use super::quantile;
use super::student_on_logs;
use super::welch_on_logs;

/// Cells of a full matrix of loaded cells: 6 cases, 5 applications, 3 activities.
const CELLS: usize = 90;
const CELL_SD: f64 = 0.05;
const PASSES: usize = 5;

fn chance(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

fn noise(n: usize, sd: f64, chance: &mut ChaCha12Rng) -> Vec<f64> {
    let normal = Normal::new(0.0, sd).unwrap();
    (0..n).map(|_| normal.sample(chance)).collect()
}

/// The share of `trials` in which `hit` holds, in percent.
fn percent(trials: usize, mut hit: impl FnMut() -> bool) -> f64 {
    100.0 * count((0..trials).filter(|_| hit()).count()) / count(trials)
}

#[track_caller]
fn assert_about(found: f64, want: f64, tolerance: f64) {
    assert!((found - want).abs() <= tolerance, "{found} %, expected {want} +- {tolerance} %");
}

/// The true value is 1; `logs` have mean 0.
fn covered_by_t(logs: &[f64]) -> bool {
    let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    student_on_logs(&values).unwrap().contains(1.0)
}

#[test]
fn t_on_logs_covers_95_percent_at_any_number_of_passes() {
    for (n, seed) in [(3, 1), (5, 2), (10, 3), (15, 4)] {
        let chance = &mut chance(seed);
        assert_about(percent(4000, || covered_by_t(&noise(n, CELL_SD, chance))), 95.0, 1.1);
    }
}

/// One draw of a bootstrap serves both forms: percentile as it is, and scaled by sqrt(n / (n - 1)).
fn covered_by_bootstrap(logs: &[f64], chance: &mut ChaCha12Rng) -> [bool; 2] {
    let mean = arithmetic_mean(logs).unwrap();
    let means = resampled_means(logs, 300, chance);
    let n = count(logs.len());
    [1.0, (n / (n - 1.0)).sqrt()].map(|scale| {
        let bound = |share| mean + scale * (quantile(&means, share).unwrap() - mean);
        Interval { low: bound(0.025), high: bound(0.975) }.contains(0.0)
    })
}

#[test]
fn a_bootstrap_of_few_values_covers_too_little_and_scaling_mends_part_of_it() {
    let want = [(3, [75.0, 81.0]), (5, [83.0, 86.0]), (10, [89.0, 91.0]), (15, [91.0, 92.0])];
    for (n, [plain, scaled]) in want {
        let chance = &mut chance(10 + n);
        let n = usize::try_from(n).unwrap();
        let trials: Vec<[bool; 2]> =
            (0..700).map(|_| covered_by_bootstrap(&noise(n, CELL_SD, chance), chance)).collect();
        let share = |form: usize| {
            let mut trials = trials.iter();
            percent(700, || trials.next().unwrap()[form])
        };
        assert_about(share(0), plain, 4.5);
        assert_about(share(1), scaled, 4.5);
        assert!(share(0) <= share(1));
    }
}

/// The logs of a run: `PASSES` rows of cells, each row moved by the drift of its pass.
fn drifting_passes(drift: f64, chance: &mut ChaCha12Rng) -> Vec<Vec<f64>> {
    let moves = noise(PASSES, drift, chance);
    let row = |by: f64| noise(CELLS, CELL_SD, chance).into_iter().map(|v| v + by).collect();
    moves.into_iter().map(row).collect()
}

/// The interval that resampling cells one by one converges to: the composite is a mean of `CELLS`
/// independent bootstrapped means, so it is normal with the sum of their scaled variances.
fn covered_by_single_cells(passes: &[Vec<f64>]) -> bool {
    let cell = |at: usize| -> Vec<f64> { passes.iter().map(|row| row[at]).collect() };
    let cells: Vec<(f64, f64)> = (0..CELLS).map(|at| mean_and_sd(&cell(at)).unwrap()).collect();
    let mean = cells.iter().map(|(mean, _)| mean).sum::<f64>() / count(CELLS);
    let variance: f64 = cells.iter().map(|(_, sd)| sd * sd / count(PASSES)).sum();
    mean.abs() <= 1.96 * variance.sqrt() / count(CELLS)
}

fn composites(passes: &[Vec<f64>]) -> Vec<f64> {
    passes.iter().map(|row| arithmetic_mean(row).unwrap()).collect()
}

#[test]
fn cells_resampled_one_by_one_deny_the_drift_of_a_pass_and_whole_passes_do_not() {
    for (drift, cells, seed) in [(0.0, 95.0, 1), (0.005, 84.0, 2), (0.01, 65.0, 3), (0.02, 39.0, 4)]
    {
        let chance = &mut chance(20 + seed);
        let runs: Vec<_> = (0..500).map(|_| drifting_passes(drift, chance)).collect();
        let share = |covered: &dyn Fn(&[Vec<f64>]) -> bool| {
            let mut runs = runs.iter();
            percent(500, || covered(runs.next().unwrap()))
        };
        assert_about(share(&covered_by_single_cells), cells, 6.5);
        assert_about(share(&|run| covered_by_t(&composites(run))), 94.5, 3.0);
    }
}

/// Passes are added from 5 to 15 until the half width is at most 2.5 %.
fn covered_after_looking(sd: f64, chance: &mut ChaCha12Rng) -> bool {
    let logs = noise(15, sd, chance);
    let settled = |n: &usize| {
        let values: Vec<f64> = logs[..*n].iter().map(|log| log.exp()).collect();
        student_on_logs(&values).unwrap().half_width() <= 0.025
    };
    covered_by_t(&logs[..(5..=15).find(settled).unwrap_or(15)])
}

#[test]
fn stopping_when_the_interval_is_narrow_costs_a_little() {
    for (sd, seed) in [(0.01, 1), (0.02, 2), (0.03, 3), (0.05, 4)] {
        let chance = &mut chance(30 + seed);
        assert_about(percent(2000, || covered_after_looking(sd, chance)), 93.5, 3.0);
    }
}

/// 5 passes a side: how often a change of `effect` is called different.
fn found(sd: f64, effect: f64, chance: &mut ChaCha12Rng) -> bool {
    let before: Vec<f64> = noise(5, sd, chance).into_iter().map(f64::exp).collect();
    let after: Vec<f64> =
        noise(5, sd, chance).into_iter().map(|log| log.exp() * (1.0 + effect)).collect();
    welch_on_logs(&before, &after).unwrap().is_different()
}

#[test]
fn five_passes_a_side_find_a_change_of_three_percent_and_rarely_invent_one() {
    let want = [
        (0.01, 0.03, 93.0, 3.0),
        (0.01, 0.05, 100.0, 0.5),
        (0.01, 0.0, 0.2, 0.4),
        (0.02, 0.03, 51.0, 5.0),
        (0.02, 0.05, 91.0, 3.0),
        (0.02, 0.0, 3.8, 1.8),
    ];
    for ((sd, effect, share, tolerance), seed) in want.into_iter().zip(40..) {
        let chance = &mut chance(seed);
        assert_about(percent(1000, || found(sd, effect, chance)), share, tolerance);
    }
}

/// Whether a second run shows the change that the first one says it probably would.
fn shown_as_promised(passes: usize, chance: &mut ChaCha12Rng) -> bool {
    let before: Vec<f64> = noise(passes, 0.1, chance).into_iter().map(f64::exp).collect();
    let times = 1.0 + detectable_change(&before).unwrap();
    let after = noise(passes, 0.1, chance).into_iter().map(|log| log.exp() * times);
    welch_on_logs(&before, &after.collect::<Vec<f64>>()).unwrap().is_different()
}

#[test]
fn a_change_that_would_probably_be_seen_is_in_two_of_three_runs_and_more() {
    for (passes, share) in [(3, 63.0), (5, 72.0), (10, 77.0)] {
        let chance = &mut chance(50);
        assert_about(percent(1000, || shown_as_promised(passes, chance)), share, 4.5);
    }
}
