//! How much cells vary, by the standard deviations of a few repeats of each.

use statrs::distribution::ChiSquared;
use statrs::distribution::ContinuousCDF;

use super::NORMAL_MAD;
use super::count;
use super::median;

/// What the standard deviations of many cells come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dispersion {
    /// That of the cell in the middle, freed from what few repeats make it too small.
    middle: f64,
    /// By how much cells above it differ from it, as a standard deviation on logs, beyond what those of
    /// equal cells differ by chance.
    apart: f64,
}

impl Dispersion {
    /// Of cells with so many repeats each; `None` without cells or with fewer than two repeats.
    ///
    /// (n - 1) s^2 of normal repeats has a chi-squared distribution with n - 1 degrees of freedom (Helmert,
    /// 1876), whose quartiles say how far the deviations of equal cells lie apart. The half above the middle
    /// decides: below it are cells whose few repeats agree by chance.
    pub(crate) fn of(deviations: &[f64], repeats: usize) -> Option<Self> {
        let freedom = count(repeats.checked_sub(1)?);
        let chance = ChiSquared::new(freedom).ok()?;
        let [half, three_quarters] = [0.5, 0.75].map(|share| chance.inverse_cdf(share));
        let middle = median(deviations)? / (half / freedom).sqrt();
        let by_chance = NORMAL_MAD * 0.5 * (three_quarters / half).ln();
        let apart = (above(deviations).powi(2) - by_chance.powi(2)).max(0.0).sqrt();
        Some(Self { middle, apart })
    }

    /// `times` what the cell in the middle varies, and more where cells differ in that: a cell of this
    /// machine varies by more in one of 200 at the most.
    pub(crate) fn bound(self, times: f64) -> f64 {
        self.middle * times.ln().hypot(ONE_OF_200 * self.apart).exp()
    }
}

/// How far the deviations above the middle lie from it, as a standard deviation on logs; 0 where there are
/// too few to tell.
fn above(deviations: &[f64]) -> f64 {
    let positive = deviations.iter().filter(|deviation| **deviation > 0.0);
    let logs: Vec<f64> = positive.map(|deviation| deviation.ln()).collect();
    let Some(middle) = median(&logs).filter(|_| logs.len() >= FEWEST) else { return 0.0 };
    let upper: Vec<f64> = logs.iter().map(|log| log - middle).filter(|far| *far > 0.0).collect();
    median(&upper).map_or(0.0, |far| NORMAL_MAD * far)
}

/// Of which at least a few lie above the middle.
const FEWEST: usize = 10;
/// The quantile of the normal distribution that one of 200 exceeds.
const ONE_OF_200: f64 = 2.576;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::Distribution;
    use rand_distr::Normal;

    use super::*;
    use crate::stats::mean_and_sd;

    /// Deviations of five repeats of 2000 cells, each of which varies by `sd` times something of its own.
    fn deviations(sd: f64, own: f64) -> Vec<f64> {
        let chance = &mut ChaCha12Rng::seed_from_u64(84);
        let normal = Normal::new(0.0, 1.0).unwrap();
        let mut of_cell = || {
            let sd = sd * (own * normal.sample(chance)).exp();
            let repeats: Vec<f64> = (0..5).map(|_| sd * normal.sample(chance)).collect();
            mean_and_sd(&repeats).unwrap().1
        };
        (0..2000).map(|_| of_cell()).collect()
    }

    #[test]
    fn equal_cells_differ_by_chance_alone_and_others_beyond_it() {
        let equal = Dispersion::of(&deviations(0.1, 0.0), 5).unwrap();
        assert!((equal.middle - 0.1).abs() < 0.005 && equal.apart < 0.12, "{equal:?}");
        let differing = Dispersion::of(&deviations(0.1, 0.5), 5).unwrap();
        assert!((differing.middle - 0.1).abs() < 0.005, "{differing:?}");
        assert!((differing.apart - 0.5).abs() < 0.05, "{differing:?}");
    }

    /// exp(sqrt(ln(3)^2 + (2.576 x 0.5)^2)) = exp(1.693) = 5.4 times.
    #[test]
    fn a_bound_is_wider_where_cells_differ() {
        let bound = |apart| Dispersion { middle: 0.1, apart }.bound(3.0);
        assert!((bound(0.0) - 0.3).abs() < 1e-12);
        assert!((bound(0.5) - 0.5436).abs() < 5e-4, "{}", bound(0.5));
    }

    /// Chi-squared of 4 has its median at 3.357: 0.2 / sqrt(3.357 / 4).
    #[test]
    fn few_cells_and_cells_without_any_spread() {
        let few = Dispersion::of(&[0.0, 0.2, 0.9], 5).unwrap();
        assert!((few.middle - 0.2183).abs() < 1e-4 && few.apart <= 0.0, "{few:?}");
        assert!(Dispersion::of(&[0.0; 20], 5).unwrap().bound(3.0) <= 0.0);
        assert_eq!(Dispersion::of(&[], 5), None);
        assert_eq!(Dispersion::of(&[0.1], 1), None);
    }
}
