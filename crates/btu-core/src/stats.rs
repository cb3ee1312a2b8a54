//! Statistics of repeated measurements: means, quantiles, intervals, comparisons.
//!
//! Times and rates are ratio quantities whose errors multiply, so everything here works in
//! logarithms where it can. Bare `f64` goes in and comes out; its unit is the caller's. No function drops a value.

mod bimodal;
mod bootstrap;
mod bounds;
mod change_points;
mod compare;
mod dispersion;
mod interval;
mod isotonic;
mod mean;
mod order;
mod outlier;
mod quantile;
mod rank_sum;
#[cfg(test)]
mod simulation;
mod spearman;
mod tide;
mod trend;

pub use bimodal::Split;
pub use bimodal::bimodality_coefficient;
pub use bimodal::lasting_bimodality;
pub use bimodal::two_groups;
pub use bootstrap::RESAMPLES;
pub use bootstrap::whole_pass_bootstrap;
pub use change_points::ChangePoint;
pub use change_points::ChangeRule;
pub use change_points::Values;
pub use change_points::change_points;
pub use compare::Comparison;
pub use compare::detectable_change;
pub use compare::holm;
pub use compare::mann_whitney;
pub use compare::welch_difference;
pub use compare::welch_on_logs;
pub use interval::Interval;
pub use interval::student;
pub use interval::student_on_logs;
pub use isotonic::isotonic;
pub use isotonic::isotonic_weighted;
pub use mean::Means;
pub use mean::arithmetic_mean;
pub use mean::coefficient_of_variation;
pub use mean::geometric_mean;
pub use mean::harmonic_mean;
pub use order::Counted;
pub use order::median_ranks;
pub use outlier::Severity;
pub use outlier::outliers_on_logs;
pub use quantile::Sorted;
pub use quantile::mad;
pub use quantile::median;
pub use quantile::quantile;
pub use quantile::robust_cv;
pub use quantile::whole_quantile;
pub use tide::student_with_tide;

pub use rank_sum::mann_whitney_greater;
pub use spearman::spearman;
pub use spearman::spearman_interval;
pub use spearman::spearman_p;
pub use trend::slope;

pub(crate) use bounds::LEAST_EFFECT;
pub(crate) use bounds::LEAST_PASSES;
pub(crate) use bounds::SIGNIFICANCE;
pub(crate) use dispersion::Dispersion;
pub(crate) use quantile::NORMAL_MAD;
pub(crate) use quantile::floor;
pub(crate) use spearman::correlation;

/// A number of values as a float.
#[expect(clippy::cast_precision_loss, reason = "samples in memory are far fewer than 2^53")]
pub(crate) fn count(n: usize) -> f64 {
    n as f64
}

/// The natural logarithms, or `None` where a value is not positive and finite.
pub(crate) fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let positive = values.iter().all(|value| *value > 0.0 && value.is_finite());
    positive.then(|| values.iter().map(|value| value.ln()).collect())
}

/// Mean and standard deviation (n - 1) of at least two values.
pub(crate) fn mean_and_sd(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let mean = arithmetic_mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (squares / (count(values.len()) - 1.0)).sqrt()))
}
