//! The line T = a + b n through times, in least squares of relative errors.

/// T(n) = `fixed` + `per_byte` x n, in the unit of the times it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The time of an empty block.
    pub fixed: f64,
    /// The time of each further byte.
    pub per_byte: f64,
}

/// A line being fitted, point by point, with weights 1 / T^2: errors of times are relative.
///
/// Moments are kept around the running weighted mean (West, "Updating mean and variance estimates:
/// an improved method", CACM 22(9), 1979), because sizes span seven orders of magnitude.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineFit {
    points: u32,
    weight: f64,
    mean_n: f64,
    mean_t: f64,
    nn: f64,
    nt: f64,
    tt: f64,
}

impl Line {
    /// The line through (n, T) pairs; `None` without points.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let mut fit = LineFit::default();
        for (n, t) in points {
            fit.add(*n, *t);
        }
        fit.line()
    }

    /// The time of a block of `n` bytes.
    pub fn at(self, n: f64) -> f64 {
        self.fixed + self.per_byte * n
    }

    /// The slope of log T over log n at `n`: 0 where latency rules, 1 where bytes do.
    pub fn log_slope(self, n: f64) -> f64 {
        self.per_byte * n / self.at(n)
    }
}

impl LineFit {
    /// Takes one point.
    pub fn add(&mut self, n: f64, t: f64) {
        let weight = (t * t).recip();
        if !weight.is_finite() {
            return;
        }
        self.points += 1;
        self.weight += weight;
        let (from_n, from_t) = (n - self.mean_n, t - self.mean_t);
        self.mean_n += weight / self.weight * from_n;
        self.mean_t += weight / self.weight * from_t;
        self.nn += weight * from_n * (n - self.mean_n);
        self.nt += weight * from_n * (t - self.mean_t);
        self.tt += weight * from_t * (t - self.mean_t);
    }

    /// The line so far; level through a single size.
    pub fn line(&self) -> Option<Line> {
        let per_byte = if self.nn > 0.0 { self.nt / self.nn } else { 0.0 };
        let fixed = self.mean_t - per_byte * self.mean_n;
        (self.points > 0).then_some(Line { fixed, per_byte })
    }

    /// The sum of the squared relative residuals: for small ones, those of log T.
    pub fn residual(&self) -> f64 {
        let explained = if self.nn > 0.0 { self.nt * self.nt / self.nn } else { 0.0 };
        (self.tt - explained).max(0.0)
    }

    /// Points taken.
    pub const fn points(&self) -> u32 {
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 us and 1 GB/s over seven orders of magnitude.
    #[test]
    fn a_line_is_found_over_seven_orders_of_magnitude() {
        let points: Vec<(f64, f64)> =
            (0..24).map(|k| 2.0_f64.powi(k)).map(|n| (n, 10.0 + n / 1e3)).collect();
        let line = Line::through(&points).unwrap();
        assert!((line.fixed - 10.0).abs() < 1e-9 && (line.per_byte - 1e-3).abs() < 1e-12);
        assert!((line.log_slope(190_000.0) - 0.95).abs() < 1e-9);
    }

    /// T = 1 at 0 and 2 and T = 2 at 1: weights 1, 1, 1/4, level at their mean 2.5 / 2.25.
    #[test]
    fn residuals_are_relative() {
        let mut fit = LineFit::default();
        for (n, t) in [(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)] {
            fit.add(n, t);
        }
        let line = fit.line().unwrap();
        let mean = (1.0 + 0.25 * 2.0 + 1.0) / 2.25;
        assert!(line.per_byte.abs() < 1e-12 && (line.fixed - mean).abs() < 1e-12);
        let by_hand = 2.0 * (1.0 - mean).powi(2) + 0.25 * (2.0 - mean).powi(2);
        assert!((fit.residual() - by_hand).abs() < 1e-12);
    }

    #[test]
    fn one_size_has_a_level_line_and_none_has_none() {
        assert_eq!(Line::through(&[(5.0, 3.0)]), Some(Line { fixed: 3.0, per_byte: 0.0 }));
        assert_eq!(Line::through(&[]), None);
    }
}
