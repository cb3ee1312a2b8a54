//! A composite with its interval: Student's t on the logs of the per-pass composites.

use super::Estimate;
use crate::stats::Interval;
use crate::stats::LEAST_PASSES;
use crate::stats::geometric_mean;
use crate::stats::student_on_logs;
use crate::stats::whole_pass_bootstrap;
use crate::words::several;

/// One composite, pass by pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Composite {
    /// Over everything that counts.
    pub(super) value: Option<f64>,
    /// Why there is no value.
    pub(super) reason: Option<String>,
    /// Of each complete pass that has all it is made of.
    pub(super) passes: Vec<f64>,
    /// How many passes are complete.
    pub(super) complete: usize,
}

impl Composite {
    /// The estimate on the scale of the composite itself.
    pub(super) fn estimate(&self, seed: u64) -> Estimate {
        self.estimate_as(seed, |value| value)
    }

    /// The estimate of a rising function of the composite.
    pub(super) fn estimate_as(&self, seed: u64, show: impl Fn(f64) -> f64) -> Estimate {
        let n = self.passes.len();
        let bounds = |interval: Interval| [show(interval.low), show(interval.high)];
        let enough = self.value.filter(|_| n >= LEAST_PASSES);
        let student = enough.and_then(|_| student_on_logs(&self.passes)).map(bounds);
        let bootstrap = enough.and_then(|_| whole_pass_bootstrap(&self.passes, seed)).map(bounds);
        Estimate {
            value: self.value.map(&show),
            reason: self.reason.clone().filter(|_| self.value.is_none()),
            n: u32::try_from(n).unwrap_or(u32::MAX),
            ci95: student,
            ci95_reason: student.is_none().then(|| self.no_interval()),
            bootstrap95: bootstrap,
        }
    }

    fn no_interval(&self) -> String {
        match (self.passes.len(), self.complete) {
            (0, 0) => "no complete pass: over some of the cells".to_owned(),
            (0, _) => "no pass has all of it: over some of the cells".to_owned(),
            (n, _) => format!("{}, no interval", several(n, "pass")),
        }
    }
}

/// The composite of a set of passes: the geometric mean of theirs, or that of all runs where no
/// pass is complete.
pub(super) fn composite(
    passes: Vec<Option<f64>>,
    over_all: Option<f64>,
    why_none: &str,
) -> Composite {
    let complete = passes.len();
    let passes: Vec<f64> = passes.into_iter().flatten().collect();
    let value = geometric_mean(&passes).or(over_all);
    let reason = value.is_none().then(|| why_none.to_owned());
    Composite { value, reason, passes, complete }
}
