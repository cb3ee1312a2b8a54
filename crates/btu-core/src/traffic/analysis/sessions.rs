//! How a path scales with sessions: contention, coherence, fairness.

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
    /// Where the total is greatest; `None` on a shared link and without coherence.
    pub most_at: Option<f64>,
    /// True where the total does not depend on the number: sessions share a link.
    pub is_shared_link: bool,
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
        let (contention, coherence) = (of(1) / inverse, of(2) / inverse);
        let is_shared_link = contention >= SHARED;
        let most =
            (!is_shared_link && coherence > 0.0).then(|| ((1.0 - contention) / coherence).sqrt());
        Scaling { single: 1.0 / inverse, contention, coherence, most_at: most, is_shared_link }
    })
}

impl Scaling {
    /// X(N).
    pub fn total(&self, sessions: f64) -> f64 {
        let n = sessions;
        self.single * n / (1.0 + self.contention * (n - 1.0) + self.coherence * n * (n - 1.0))
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

/// From this contention on the total is a constant.
const SHARED: f64 = 0.99;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;
    use rand_distr::Distribution;
    use rand_distr::Normal;

    use super::*;

    fn planted(contention: f64, coherence: f64) -> Scaling {
        Scaling { single: 1e8, contention, coherence, most_at: None, is_shared_link: false }
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
