//! The interval of a mean whose values follow one another in time, and rise and fall with others: the tide.

use super::count;
use super::interval::Interval;
use super::interval::student_on_logs;
use super::interval::t_quantile;
use super::logs;
use super::mean_and_sd;

/// The 95 % interval of the geometric mean of `values`, which came one after the other. `tide` tells of
/// each by how much, on logs, everything that was measured beside it was above its own mean.
///
/// Two variances of the mean add. What a value has beside its tide is chance of its own: sd^2 / n, with
/// n - 1 degrees of freedom. The tide hangs together in time, and only stretches that are long against
/// its memory say how far another mean would be: batch means (B. Schmeiser, "Batch size effects in the
/// analysis of simulation output", Operations Research 30, 1982), with one degree less than batches. The
/// degrees of the sum are those of F. Satterthwaite ("An approximate distribution of estimates of
/// variance components", Biometrics Bulletin 2, 1946). No narrower than [`student_on_logs`], which takes
/// the values for independent.
///
/// `None` as there, and where a value has no tide.
pub fn student_with_tide(values: &[f64], tide: &[f64]) -> Option<Interval> {
    let independent = student_on_logs(values)?;
    let logs = logs(values)?;
    let own: Vec<f64> = logs.iter().zip(tide).map(|(value, tide)| value - tide).collect();
    if own.len() != values.len() {
        return None;
    }
    let (mean, _) = mean_and_sd(&logs)?;
    let Some(half) = Spread::of_values(&own)?.and(Spread::of_batches(tide)?).half_width() else {
        return Some(independent);
    };
    let drifting = Interval { low: (mean - half).exp(), high: (mean + half).exp() };
    let is_wider = drifting.half_width() > independent.half_width();
    Some(if is_wider { drifting } else { independent })
}

/// The variance of a mean, and the degrees of freedom of that figure.
#[derive(Clone, Copy, Debug)]
struct Spread {
    variance: f64,
    freedom: f64,
}

impl Spread {
    fn of_values(values: &[f64]) -> Option<Self> {
        let (_, sd) = mean_and_sd(values)?;
        let n = count(values.len());
        Some(Self { variance: sd * sd / n, freedom: n - 1.0 })
    }

    /// Batches that differ by one in length count by it.
    fn of_batches(values: &[f64]) -> Option<Self> {
        let (mean, _) = mean_and_sd(values)?;
        let batches = batches(values.len());
        let bound = |batch: usize| (batch * values.len()).div_ceil(batches);
        let square = |batch: usize| {
            let values = &values[bound(batch)..bound(batch + 1)];
            let off: f64 = values.iter().map(|value| value - mean).sum();
            off * off / count(values.len())
        };
        let squares: f64 = (0..batches).map(square).sum();
        let freedom = count(batches) - 1.0;
        Some(Self { variance: squares / freedom / count(values.len()), freedom })
    }

    fn and(self, other: Self) -> Self {
        let variance = self.variance + other.variance;
        let part = |one: Self| one.variance * one.variance / one.freedom;
        Self { variance, freedom: variance * variance / (part(self) + part(other)) }
    }

    /// `None` where nothing differs.
    fn half_width(self) -> Option<f64> {
        (self.variance > 0.0).then_some(())?;
        Some(t_quantile(self.freedom, 0.975)? * self.variance.sqrt())
    }
}

/// Batches of four values and more, three at the least and ten at the most: beyond, Schmeiser found,
/// little is won.
fn batches(values: usize) -> usize {
    (values / 4).clamp(3, 10).min(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exp(logs: &[f64]) -> Vec<f64> {
        logs.iter().map(|log| log.exp()).collect()
    }

    /// Three values that are nothing but their tide: t of 2 degrees both ways.
    #[test]
    fn three_values_are_three_batches() {
        let logs = [0.0, 1.0, 2.0];
        let found = student_with_tide(&exp(&logs), &[-1.0, 0.0, 1.0]).unwrap();
        let want = student_on_logs(&exp(&logs)).unwrap();
        assert!((found.low - want.low).abs() < 1e-12 && (found.high - want.high).abs() < 1e-9);
    }

    /// Ten values that rise by steps of a third: batches of 4, 3 and 3 have the means 0, 1 and 2, less 0.9.
    /// Squares 4 x 0.81 + 3 x 0.01 + 3 x 1.21 = 6.9; variance of the mean 6.9 / 2 / 10 = 0.345, and
    /// t(0.975, 2) = 4.3027 makes 2.5272 of it. As if independent: sd^2 = 6.9 / 9, t(0.975, 9) = 2.2622,
    /// half of that 0.6264.
    #[test]
    fn what_rises_from_batch_to_batch_is_known_by_three_of_them() {
        let logs = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
        let tide: Vec<f64> = logs.iter().map(|log| log - 0.9).collect();
        let found = student_with_tide(&exp(&logs), &tide).unwrap();
        assert!((found.half_width() - 2.5272_f64.exp_m1()).abs() < 1e-3, "{found:?}");
        let independent = student_on_logs(&exp(&logs)).unwrap();
        assert!((independent.half_width() - 0.6264_f64.exp_m1()).abs() < 1e-3);
    }

    #[test]
    fn a_tide_that_stays_leaves_the_interval_as_it_is() {
        let logs = [0.3, -0.1, 0.2, 0.0, -0.4, 0.1, 0.2, -0.3, 0.0, 0.0];
        let found = student_with_tide(&exp(&logs), &[0.0; 10]);
        assert_eq!(found, student_on_logs(&exp(&logs)));
        assert_eq!(student_with_tide(&[5.0; 4], &[0.0; 4]), student_on_logs(&[5.0; 4]));
        assert_eq!(student_with_tide(&exp(&logs), &[0.0; 9]), None);
        assert_eq!(student_with_tide(&[1.0], &[0.0]), None);
    }

    #[test]
    fn ten_values_are_batched_as_three_connections_share_ten_rounds() {
        let of = |values| batches(values);
        assert_eq!([2, 3, 9, 10, 12, 20, 40, 400].map(of), [2, 3, 3, 3, 3, 5, 10, 10]);
    }
}
