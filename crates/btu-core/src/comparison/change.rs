//! One figure of two results: by how much it changed, and how sure that is.

use crate::stats::LEAST_EFFECT;
use crate::stats::LEAST_PASSES;
use crate::stats::SIGNIFICANCE;
use crate::stats::geometric_mean;
use crate::stats::holm;
use crate::stats::welch_on_logs;

/// One figure of both results.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The name by which conditions know it: `btu`, `application.video.penalty`, `cell.SEND/video/cpu`.
    pub figure: String,
    /// The figure before: of a run Mb/s, or the slowdown of the host's own work.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// After over before.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub ci95: Option<[f64; 2]>,
    /// Why there is no interval.
    pub ci95_reason: Option<String>,
    /// Welch's p value of "no change", of this figure alone; `None` where there is no interval.
    pub p: Option<f64>,
    /// True where the change is sure and exceeds 2 %, of a part or a cell beside all others of its table; `None` where
    /// that cannot be told.
    pub different: Option<bool>,
    /// True where a run behind it met its cap, or failed, or, of a penalty, had an activity that finished nothing: a
    /// side of it is a bound, and no figure.
    pub is_bound: bool,
}

impl Change {
    /// A figure by its values before and after, one of each pass or round, as they are called in `unit`. `None` where a side
    /// has no geometric mean.
    pub(super) fn of(
        figure: String,
        [before, after]: [&[f64]; 2],
        unit: &str,
        is_whole: bool,
    ) -> Option<Self> {
        let (a, b) = (before.len(), after.len());
        let enough = a.min(b) >= LEAST_PASSES && is_whole;
        let test = if enough { welch_on_logs(before, after) } else { None };
        let (before, after) = (geometric_mean(before)?, geometric_mean(after)?);
        let (ratio, interval) = (after / before, test.map(|test| test.interval));
        let beyond = ratio.ln().abs() > LEAST_EFFECT.ln_1p();
        let few = || format!("{a} and {b} {unit}, at least {LEAST_PASSES} each are needed");
        Some(Self {
            figure,
            before,
            after,
            ratio,
            ci95: interval.map(|interval| [interval.low, interval.high]),
            ci95_reason: interval.is_none().then(few),
            p: test.map(|test| test.p),
            different: interval.map(|interval| beyond && !interval.contains(1.0)),
            is_bound: false,
        })
    }

    /// A figure that did not change.
    pub(super) fn none(figure: &str) -> Self {
        Self {
            figure: figure.to_owned(),
            before: 1.0,
            after: 1.0,
            ratio: 1.0,
            ci95: Some([1.0, 1.0]),
            ci95_reason: None,
            p: Some(1.0),
            different: Some(false),
            is_bound: false,
        }
    }

    /// The same of which a side is a bound: nothing is said of it.
    #[must_use]
    pub(super) fn bounded(self) -> Self {
        Self { different: None, is_bound: true, ..self }
    }

    /// The change in percent.
    pub fn percent(&self) -> f64 {
        (self.ratio - 1.0) * 100.0
    }
}

/// Of a hundred equal figures five are "different" by chance: Holm's correction over the table that they stand in.
pub(super) fn correct_for_many(table: &mut [Change]) {
    let adjusted = adjusted(&table.iter().collect::<Vec<_>>());
    for (change, p) in table.iter_mut().zip(adjusted) {
        change.different = change.different.map(|different| different && p < SIGNIFICANCE);
    }
}

/// The p values of figures that are asked together, after Holm's correction over them; 1 where there is none.
pub(super) fn adjusted(changes: &[&Change]) -> Vec<f64> {
    holm(&changes.iter().map(|change| change.p.unwrap_or(1.0)).collect::<Vec<f64>>())
}
