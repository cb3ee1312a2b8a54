//! Responsiveness under working conditions: round trips per minute while a path is full.

use crate::stats;

/// Moving averages of intervals, and whether they have settled (draft-ietf-ippm-responsiveness,
/// section 4.4: the last 4 of the moving averages over 4 within 5 %).
#[derive(Clone, Debug, Default)]
pub struct Stability {
    values: Vec<f64>,
}

impl Stability {
    /// The value of the next interval.
    pub fn record(&mut self, value: f64) {
        self.values.push(value);
    }

    /// True where the last averages differ by no more than the tolerance.
    pub fn is_stable(&self) -> bool {
        let averages: Vec<f64> = self
            .values
            .windows(AVERAGED)
            .map(|window| window.iter().sum::<f64>() / stats::count(window.len()))
            .collect();
        let Some(last) = averages.len().checked_sub(AVERAGED).map(|from| &averages[from..]) else {
            return false;
        };
        let mean = last.iter().sum::<f64>() / stats::count(last.len());
        let spread = last.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (spread / stats::count(last.len())).sqrt() <= TOLERANCE * mean
    }
}

/// Round trips per minute of these round-trip times in seconds: 60 over the mean of the fastest 95 %.
/// `None` without times.
pub fn rpm(round_trips_s: &[f64]) -> Option<f64> {
    trimmed_mean(round_trips_s).filter(|mean| *mean > 0.0).map(|mean| 60.0 / mean)
}

/// The mean of the smallest 95 %. `None` without values.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let kept = stats::floor((stats::count(sorted.len()) * TRIMMED).ceil()).min(sorted.len());
    stats::arithmetic_mean(sorted.get(..kept)?)
}

/// Intervals of a moving average (MAD).
pub const AVERAGED: usize = 4;
const TOLERANCE: f64 = 0.05;
const TRIMMED: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t13_an_idle_path_has_sixty_over_its_round_trip() {
        assert!((rpm(&[0.05; 100]).unwrap() - 1200.0).abs() < 1e-9);
        // One in twenty may be anything.
        let mut one_wild = vec![0.05; 19];
        one_wild.push(9.0);
        assert!((rpm(&one_wild).unwrap() - 1200.0).abs() < 1e-9);
        assert_eq!(rpm(&[]), None);
    }

    #[test]
    fn growth_is_not_stable_and_a_plateau_is() {
        let mut stability = Stability::default();
        for value in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0] {
            stability.record(value);
            assert!(!stability.is_stable());
        }
        (0..8).for_each(|_| stability.record(64.0));
        assert!(stability.is_stable());
    }
}
