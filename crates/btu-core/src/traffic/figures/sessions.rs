//! How a path scales with sessions: contention, coherence, fairness.

use std::ops::RangeInclusive;

use crate::stats;

/// The universal scalability law X(N) = X1 N / (1 + s (N - 1) + k N (N - 1)) (Gunther, "Guerrilla
/// Capacity Planning", 2007, chapter 4), fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// X1: what one session gets alone, bit/s.
    pub single: f64,
    /// s, contention: the share of the work that only one session can do at a time.
    pub contention: f64,
    /// k, coherence: what each pair of sessions costs.
    pub coherence: f64,
    /// Where the total is greatest; `None` on a shared link, and where more sessions always get more.
    pub most_at: Option<f64>,
    /// True where the total does not depend on the number: sessions share a link.
    pub is_shared_link: bool,
    /// The most sessions that were measured: of more nothing is known.
    pub largest: u32,
}

/// Fits total rates (N, X(N)). `None` below three different numbers of sessions.
///
/// N / X(N) = (1 + s (N - 1) + k N (N - 1)) / X1 is linear in 1/X1, s/X1 and k/X1; each point is
/// weighted by the square of X/N, so that relative errors count. What comes out negative is zero.
pub fn scaling(totals: &[(u32, f64)]) -> Option<Scaling> {
    let usable: Vec<(f64, f64)> = totals
        .iter()
        .filter(|(n, x)| *n > 0 && *x > 0.0)
        .map(|(n, x)| (f64::from(*n), *x))
        .collect();
    let largest = totals.iter().filter(|(_, x)| *x > 0.0).map(|(n, _)| *n).max()?;
    let mut numbers: Vec<f64> = usable.iter().map(|(n, _)| *n).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    if numbers.len() < 3 {
        return None;
    }
    let terms = [|_: f64| 1.0, |n: f64| n - 1.0, |n: f64| n * (n - 1.0)];
    // Without what came out negative, as often as there is something.
    let mut kept = vec![0, 1, 2];
    let solved = loop {
        let solved = least_squares(&usable, &kept.iter().map(|t| terms[*t]).collect::<Vec<_>>())?;
        match (1..kept.len()).find(|place| solved[*place] < 0.0) {
            Some(place) => drop(kept.remove(place)),
            None => break solved,
        }
    };
    let of = |term: usize| kept.iter().position(|kept| *kept == term).map_or(0.0, |at| solved[at]);
    let inverse = of(0);
    (inverse > 0.0).then(|| {
        let law = Scaling {
            single: 1.0 / inverse,
            contention: of(1) / inverse,
            coherence: of(2) / inverse,
            most_at: None,
            is_shared_link: false,
            largest,
        };
        let is_shared_link = law.is_constant();
        let most_at = law.best().filter(|_| !is_shared_link);
        Scaling { most_at, is_shared_link, ..law }
    })
}

impl Scaling {
    /// X(N).
    pub fn total(&self, sessions: f64) -> f64 {
        let n = sessions;
        self.single * n / (1.0 + self.contention * (n - 1.0) + self.coherence * n * (n - 1.0))
    }

    /// A contention near one says it of many sessions, and what each pair costs may add up all the same: as many as were
    /// measured have as much as one.
    fn is_constant(&self) -> bool {
        let at_the_end = self.total(f64::from(self.largest)) / self.single;
        SHARED.contains(&self.contention) && (at_the_end - 1.0).abs() <= CONSTANT
    }

    /// Where X(N) is greatest: at one session where each further one takes more than it brings.
    fn best(&self) -> Option<f64> {
        let falls = self.contention > 1.0 || self.coherence > 0.0;
        let gain = (1.0 - self.contention).max(0.0);
        let place = if self.coherence > 0.0 { (gain / self.coherence).sqrt() } else { 1.0 };
        falls.then(|| place.max(1.0))
    }
}

/// Jain's index of fairness (DEC-TR-301, 1984): 1 where all get the same, 1/n where one gets all.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let (sum, squares): (f64, f64) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
    (squares > 0.0).then(|| sum * sum / (stats::count(rates.len()) * squares))
}

/// The coefficients of the terms, by the normal equations.
fn least_squares(points: &[(f64, f64)], terms: &[fn(f64) -> f64]) -> Option<Vec<f64>> {
    let size = terms.len();
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (n, total) in points {
        let (value, weight) = (n / total, (total / n).powi(2));
        for (row, left) in rows.iter_mut().zip(terms) {
            for (cell, right) in row.iter_mut().zip(terms) {
                *cell += weight * left(*n) * right(*n);
            }
            row[size] += weight * left(*n) * value;
        }
    }
    solve(rows)
}

/// Gauss's elimination with pivots.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let lead = rows[column].clone();
        if lead[column] == 0.0 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != column) {
            let factor = row[column] / lead[column];
            for (cell, from) in row.iter_mut().zip(&lead) {
                *cell -= factor * from;
            }
        }
    }
    Some((0..size).map(|at| rows[at][size] / rows[at][at]).collect())
}

/// The contention of a total that is a constant.
const SHARED: RangeInclusive<f64> = 0.99..=1.05;
/// By how much the total of the most sessions may differ from that of one.
const CONSTANT: f64 = 0.03;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::Distribution;
    use rand_distr::Normal;

    use super::*;

    fn planted(contention: f64, coherence: f64) -> Scaling {
        let (single, largest, most_at, is_shared_link) = (1e8, 16, None, false);
        Scaling { single, contention, coherence, most_at, is_shared_link, largest }
    }

    #[test]
    fn t12_planted_contention_and_coherence_are_recovered() {
        let mut chance = ChaCha12Rng::seed_from_u64(12);
        for (s, k) in [(0.1, 0.01), (0.3, 0.002), (0.05, 0.02), (0.6, 0.005)] {
            let law = planted(s, k);
            let noise = Normal::new(0.0, 0.002).unwrap();
            let measured: Vec<(u32, f64)> = (1..=16)
                .flat_map(|n| (0..5).map(move |_| n))
                .map(|n| (n, law.total(f64::from(n)) * f64::exp(noise.sample(&mut chance))))
                .collect();
            let found = scaling(&measured).unwrap();
            assert!((found.contention / s - 1.0).abs() < 0.1, "{s} {k}: {found:?}");
            assert!((found.coherence / k - 1.0).abs() < 0.1, "{s} {k}: {found:?}");
            let most = ((1.0 - s) / k).sqrt();
            assert!((found.most_at.unwrap() / most - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn t12_a_shared_link_has_no_best_number_of_sessions() {
        let totals: Vec<(u32, f64)> = (1..=16).map(|n| (n, 1.7e6)).collect();
        let found = scaling(&totals).unwrap();
        assert!(found.is_shared_link && found.most_at.is_none(), "{found:?}");
        assert!((found.total(16.0) / 1.7e6 - 1.0).abs() < 1e-6);
    }

    /// Sixteen sessions have two thirds of what one has, or a thirteenth: that is no shared link, and one is the best.
    #[test]
    fn a_total_that_falls_with_the_sessions_is_no_constant() {
        for (s, k, most) in
            [(1.5, 0.0, 1.0), (1.0, 0.05, 1.0), (1.04, 0.0, 1.0), (0.995, 0.003, 1.3)]
        {
            let law = planted(s, k);
            let totals: Vec<(u32, f64)> = (1..=16).map(|n| (n, law.total(f64::from(n)))).collect();
            let found = scaling(&totals).unwrap();
            assert!(!found.is_shared_link && found.largest == 16, "{s} {k}: {found:?}");
            assert!((found.most_at.unwrap() - most).abs() < 0.1, "{s} {k}: {found:?}");
        }
        // A percent of noise, as on a real link, is none.
        let totals: Vec<(u32, f64)> =
            (1..=16).map(|n| (n, if n % 2 == 0 { 1.01e8 } else { 0.99e8 })).collect();
        assert!(scaling(&totals).unwrap().is_shared_link);
    }

    #[test]
    fn totals_that_grow_with_the_sessions_have_neither() {
        let totals: Vec<(u32, f64)> = (1..=8).map(|n| (n, 1e6 * f64::from(n))).collect();
        let found = scaling(&totals).unwrap();
        assert!(found.contention.abs() < 1e-9 && found.coherence.abs() < 1e-9, "{found:?}");
        assert_eq!(scaling(&totals[..2]), None);
    }

    #[test]
    fn jains_index_is_one_for_equals() {
        assert!((jain(&[3.0, 3.0, 3.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(jain(&[]), None);
    }
}
