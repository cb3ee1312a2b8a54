//! Whether rates changed through a night: a line through their logarithms over its slots.

use crate::file::plan::Plan;
use crate::file::point::Point;
use crate::stats;
use crate::stats::Interval;

/// The change of a trial's rate through a night.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The trial, in words.
    pub label: String,
    /// By which part the rate grew from the first slot to the last: -0.02 for 2 % less.
    pub over_night: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Slots that it is of.
    pub slots: usize,
}

impl Drift {
    /// True where the interval leaves no room for a rate that stays.
    pub fn is_there(&self) -> bool {
        !self.interval.contains(0.0)
    }
}

/// Those of a plan for a night, for each trial with slots enough.
pub(super) fn drifts(plan: &Plan, points: &[Point]) -> Vec<Drift> {
    let is_night = plan.night.is_some();
    points.iter().filter(|_| is_night).filter_map(|point| drift(plan, point)).collect()
}

fn drift(plan: &Plan, point: &Point) -> Option<Drift> {
    let last = f64::from(plan.rounds.saturating_sub(1).max(1));
    let part = |slot: u32| f64::from(slot.saturating_sub(1)) / last;
    let place = |(slot, rate): (&u32, &f64)| (part(*slot), rate.ln());
    let places: Vec<(f64, f64)> = point.totals_kib_s.iter().map(place).collect();
    let (slope, interval) = stats::slope(&places).filter(|_| places.len() >= LEAST_SLOTS)?;
    Some(Drift {
        label: plan.label(&point.trial),
        over_night: slope.exp_m1(),
        interval: Interval { low: interval.low.exp_m1(), high: interval.high.exp_m1() },
        slots: places.len(),
    })
}

/// Fewer leave a line no freedom worth an interval.
const LEAST_SLOTS: usize = 5;

#[cfg(test)]
mod tests {
    use crate::file::analysis::analyse;
    use crate::file::night::Night;
    use crate::file::plan::Plan;
    use crate::file::sample::TrialSample;
    use crate::file::testing::journal;
    use crate::file::testing::sample;
    use crate::units::Nanos;

    /// Nine slots whose times grow as `growth` says, with a little noise that no line has.
    fn drifts(growth: f64) -> Vec<super::Drift> {
        let night = Some(Night { every_ns: Nanos::from_secs(1800), from: None });
        let own = Plan::new(vec!["client-load".into()], 1);
        let plan = Plan { night, warm_rounds: 0, rounds: 9, clients: vec![1], ..own };
        let trial = plan.trials().remove(0);
        let seen = |round: u32| {
            let noise = if round.is_multiple_of(2) { 1.001 } else { 0.999 };
            let seconds = growth.powf(f64::from(round - 1) / 8.0) * noise;
            TrialSample { round, ..sample(&trial, trial.direction, &[seconds]) }
        };
        let samples = (1..=9).map(seen).collect();
        analyse(&journal(plan, samples)).drifts
    }

    #[test]
    fn a_rate_that_falls_all_night_is_a_drift_and_one_that_stays_is_none() {
        let falling = drifts(1.25).remove(0);
        assert!(falling.is_there() && (falling.over_night + 0.2).abs() < 0.01, "{falling:?}");
        let steady = drifts(1.0).remove(0);
        assert!(!steady.is_there() && steady.slots == 9, "{steady:?}");
    }
}
