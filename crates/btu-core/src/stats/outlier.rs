//! Values that stand apart from their repeats. They are marked, never dropped.

use super::logs;
use super::quantile;

/// How far out a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Beyond 1.5 interquartile ranges.
    Mild,
    /// Beyond 3 interquartile ranges.
    Severe,
}

/// Tukey's fences on the logarithms (Tukey, "Exploratory Data Analysis", 1977, 2D), quartiles by
/// type 7: one entry per value. Under 5 values quartiles mean nothing, and none is marked.
pub fn outliers_on_logs(values: &[f64]) -> Vec<Option<Severity>> {
    let fences = fences(values);
    values.iter().map(|value| severity(value.ln(), fences?)).collect()
}

/// First and third quartile of the logarithms.
fn fences(values: &[f64]) -> Option<(f64, f64)> {
    let logs = logs(values).filter(|logs| logs.len() >= 5)?;
    Some((quantile(&logs, 0.25)?, quantile(&logs, 0.75)?))
}

fn severity(log: f64, (first, third): (f64, f64)) -> Option<Severity> {
    let out = (first - log).max(log - third);
    let range = third - first;
    match out {
        out if out <= 1.5 * range => None,
        out if out <= 3.0 * range => Some(Severity::Mild),
        _ => Some(Severity::Severe),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs 0 1 2 3 4 x: for x = 8 the quartiles are 1.25 and 3.75, the fences at 7.5 and 11.25.
    #[test]
    fn the_fences_stand_at_one_and_a_half_and_three_ranges() {
        let row = |x: f64| [0.0, 1.0, 2.0, 3.0, 4.0, x].map(f64::exp);
        assert_eq!(outliers_on_logs(&row(7.4))[5], None);
        assert_eq!(outliers_on_logs(&row(8.0))[5], Some(Severity::Mild));
        assert_eq!(outliers_on_logs(&row(12.0))[5], Some(Severity::Severe));
        assert!(outliers_on_logs(&row(12.0))[..5].iter().all(Option::is_none));
    }

    #[test]
    fn four_values_have_no_outlier() {
        assert_eq!(outliers_on_logs(&[1.0, 1.0, 1.0, 1000.0]), [None; 4]);
    }
}
