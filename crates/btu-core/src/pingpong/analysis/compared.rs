//! Which curves are the same and which differ: each beside the one that costs are counted from, and those
//! of elsewhere beside their like.

use super::Analysis;
use super::Measured;
use super::Overlaid;
use crate::pingpong::curve::Curve;
use crate::pingpong::curve::CurveComparison;
use crate::pingpong::curve::OverheadRow;
use crate::pingpong::curve::Rounds;
use crate::pingpong::curve::TABLE_SIZES;
use crate::pingpong::curve::compare;
use crate::pingpong::curve::overhead;
use crate::pingpong::statistic::Statistic;
use crate::stats::Interval;
use crate::units::Bytes;

/// Two curves and what their comparison says.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The curve that the ratio counts from.
    pub first: String,
    /// The other one.
    pub second: String,
    /// Size by size.
    pub found: CurveComparison,
}

impl Analysis {
    /// Every other curve that was measured here, beside the base.
    pub fn paired(&self, base: Option<&str>) -> Vec<Compared> {
        let Some(base) = self.base(base) else { return Vec::new() };
        let others = self.timed().filter(|curve| curve.id != base.id);
        let beside = |other: &Measured| {
            let found = compare(&base.typical(), &other.typical(), Rounds::Shared);
            Compared { first: base.label.clone(), second: other.label.clone(), found }
        };
        others.map(beside).collect()
    }

    /// What every other curve costs above the base at the sizes of the table, with its label; those of elsewhere last.
    pub fn overheads(&self, base: Option<&str>) -> Vec<(String, OverheadRow)> {
        let Some(base) = self.base(base) else { return Vec::new() };
        let others = self.timed().filter(|curve| curve.id != base.id);
        let own = others.map(|curve| (&curve.label, &curve.curve));
        let foreign =
            self.overlaid.iter().filter_map(|one| Some((&one.label, one.curve.as_ref()?)));
        let rows = own.chain(foreign).flat_map(|(label, curve)| {
            let found = overhead(&base.curve, curve, &TABLE_SIZES).into_iter();
            found.map(|row| (label.clone(), row))
        });
        rows.collect()
    }

    /// Every curve of elsewhere beside its like here, as far as it has times; one of a file beside what is
    /// drawn.
    pub fn imported(&self, base: Option<&str>) -> Vec<Compared> {
        let beside = |other: &Overlaid| {
            let own = other.like.and_then(|id| self.curves.iter().find(|curve| curve.id == id));
            let own = own.or_else(|| self.base(base))?;
            let theirs = other.curve.as_ref()?;
            let like = other.like.map(|_| own.of_statistic(theirs.statistic));
            let ours = like.unwrap_or_else(|| own.curve.clone());
            let found = compare(&ours, theirs, Rounds::Own);
            Some(Compared { first: own.label.clone(), second: other.label.clone(), found })
        };
        self.overlaid.iter().filter_map(beside).collect()
    }
}

impl Measured {
    /// The curve of typical times, which have intervals, whatever is drawn.
    pub fn typical(&self) -> Curve {
        self.of_statistic(Statistic::Typical)
    }

    /// The interval of a point of the plan's statistic.
    pub fn interval_us(&self, size: Bytes) -> Option<Interval> {
        self.curve.at(size)?.interval_us
    }

    /// The curve of a statistic: with its intervals where it is typical or the plan's own.
    pub fn of_statistic(&self, statistic: Statistic) -> Curve {
        if statistic == self.curve.statistic {
            return self.curve.clone();
        }
        Curve::new(&self.label, self.configuration.mode, statistic, &self.points)
    }
}
