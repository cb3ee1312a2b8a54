//! Rules over repeats where chance makes repeats differ, and where something else does.

use chacha20::ChaCha12Rng;
use rand::SeedableRng;
use rand_distr::Distribution;
use rand_distr::Normal;

use super::*;
use crate::analysis::abnormal_cells;

/// Cells that a rule over repeats calls abnormal, of five passes of 30 cells on the direct path. The
/// logarithm of each goodput is off by a normal chance and by what `shift` says of the place of its
/// cell and its pass.
fn abnormal(sd: f64, chance: &mut ChaCha12Rng, shift: impl Fn(usize, u32) -> f64) -> Vec<usize> {
    let journal = five_applications(&[Case::Send, Case::Recv, Case::SendRecv]);
    let normal = Normal::new(0.0, sd).unwrap();
    let (cells, mut records) = (journal.plan.cells(), Vec::new());
    for (place, cell) in cells.iter().enumerate() {
        let calm = run(&journal.plan, &cell.id(), 1, 1000, 1.0);
        for pass in 1..=5 {
            let (mut sample, off) = (calm.clone(), normal.sample(chance) + shift(place, pass));
            sample.pass = pass;
            // As much in more time or less, never in less than the second that the rules want.
            let comm = sample.comm.as_mut().unwrap();
            comm.elapsed_ns = Nanos::from_micros(whole(1e8 * (-off).exp()));
            records.push(sample.into());
        }
    }
    let over_repeats = |flag: &Flag| ["two-groups", "spread"].contains(&flag.name.as_str());
    let found = abnormal_cells(&journal.plan, &records);
    let found = found.iter().filter(|one| one.why.iter().any(over_repeats));
    found.map(|one| cells.iter().position(|cell| *cell == one.cell).unwrap()).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "microseconds")]
fn whole(micros: f64) -> u64 {
    micros as u64
}

/// 1200 cells of each machine, from one on which cells vary by a tenth to one on which they vary by half:
/// of a hundred at most one is called abnormal. By a gap three times as wide as either group, and 15 %,
/// alone it would be three. On calmer machines the 15 % let hardly any pass.
#[test]
fn chance_makes_hardly_any_cell_abnormal() {
    let called = |(sd, seed): (f64, u64)| {
        let chance = &mut ChaCha12Rng::seed_from_u64(seed);
        (0..40).map(|_| abnormal(sd, chance, |_, _| 0.0).len()).sum::<usize>()
    };
    let noisy = [(0.1, 3), (0.15, 4), (0.2, 5), (0.3, 6), (0.5, 7)].map(called);
    assert!(noisy.iter().sum::<usize>() <= 60, "{noisy:?} of 1200 each");
    let calm = [(0.02, 1), (0.05, 2)].map(called);
    assert!(calm.iter().sum::<usize>() <= 12, "{calm:?} of 1200 each");
}

/// Groups that lie apart by several times what the machine's cells spread are found nearly always.
#[test]
fn two_speeds_of_one_cell_are_found_among_cells_that_vary() {
    for (sd, apart, seed) in [(0.02, 1.25, 1), (0.05, 1.6, 2), (0.1, 3.0, 3)] {
        let chance = &mut ChaCha12Rng::seed_from_u64(10 + seed);
        let speeds = |place: usize, pass: u32| {
            if place == 3 && pass.is_multiple_of(2) { f64::ln(apart) } else { 0.0 }
        };
        let found = (0..40).filter(|_| abnormal(sd, chance, speeds).contains(&3)).count();
        assert!(found >= 36, "{found} of 40 at {apart} times among cells that vary by {sd}");
    }
}
