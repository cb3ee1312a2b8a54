//! Values in order, and their quantiles.

use crate::stats;

/// Values in order, at least one.
pub(super) struct Sorted(pub(super) Vec<f64>);

impl Sorted {
    pub(super) fn new(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then_some(Self(values))
    }

    /// By linear interpolation.
    pub(super) fn at(&self, share: f64) -> f64 {
        let position = stats::count(self.0.len() - 1) * share;
        let low = stats::floor(position);
        let high = (low + 1).min(self.0.len() - 1);
        self.0[low] + (position - stats::count(low)) * (self.0[high] - self.0[low])
    }

    /// The smallest, the median, the 95th, 99th and 99.9th percentile, the largest.
    pub(super) fn quantiles(&self) -> [f64; 6] {
        [0.0, 0.5, 0.95, 0.99, 0.999, 1.0].map(|share| self.at(share))
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / stats::count(self.0.len())
    }
}
