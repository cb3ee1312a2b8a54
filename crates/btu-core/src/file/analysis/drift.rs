//! Whether rates changed through a night: a line through their logarithms over the hours.

use crate::file::plan::Plan;
use crate::file::point::Point;
use crate::stats;
use crate::stats::Interval;
use crate::units::Nanos;

/// The change of a trial's rate from hour to hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The trial, in words.
    pub label: String,
    /// By which part the rate grew in an hour: -0.02 for 2 % less.
    pub per_hour: f64,
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
    let Some(night) = &plan.night else { return Vec::new() };
    points.iter().filter_map(|point| drift(plan, night.every_ns, point)).collect()
}

fn drift(plan: &Plan, every: Nanos, point: &Point) -> Option<Drift> {
    let place = |(slot, rate): (&u32, &f64)| (hours(every, *slot), rate.ln());
    let places: Vec<(f64, f64)> = point.totals_kib_s.iter().map(place).collect();
    let (slope, interval) = stats::slope(&places).filter(|_| places.len() >= LEAST_SLOTS)?;
    Some(Drift {
        label: plan.label(&point.trial),
        per_hour: slope.exp_m1(),
        interval: Interval { low: interval.low.exp_m1(), high: interval.high.exp_m1() },
        slots: places.len(),
    })
}

/// From the first slot to this one.
fn hours(every: Nanos, slot: u32) -> f64 {
    every.seconds() / 3600.0 * f64::from(slot.saturating_sub(1))
}

/// Fewer leave a line no freedom worth an interval.
const LEAST_SLOTS: usize = 5;
