//! How many blocks of a one-way stream make a timed unit.
//!
//! The receiver acknowledges the end of a unit: one of a few blocks would be a request and its answer. So
//! each visit begins with a sounding that is not timed, and cuts what follows by what that took.

use super::Limit;
use super::whole;
use crate::sample::Flag;
use crate::stats::count;
use crate::units::Nanos;

/// How long the units of a stream shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The time of a unit, where an acknowledgement is short beside it.
    pub unit: Nanos,
    /// The longest that a unit is made for the sake of its acknowledgement.
    pub longest: Nanos,
}

/// What a stream was found to take before the first timed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sounding {
    /// Blocks that went in a row, two or more.
    pub blocks: u32,
    /// What they took, acknowledgement included.
    pub together: Nanos,
    /// What a single block and its acknowledgement took after them; `None` where there was no time to look.
    pub single: Option<Nanos>,
}

/// A stream in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Blocks per unit.
    pub batch: u32,
    /// Units.
    pub units: u32,
    /// True where the acknowledgement is a small part of a unit.
    pub is_streamed: bool,
}

impl Stream {
    /// For a visit that has this time: ten units and the sounding.
    pub fn within(share: Nanos) -> Self {
        Self { unit: whole(share.seconds() * 1e9 / PARTS), longest: share }
    }

    /// True once the first part of a sounding has enough blocks, `sent` of them in `elapsed`.
    pub fn is_sounded(&self, sent: u32, elapsed: Nanos) -> bool {
        sent >= LEAST_BLOCKS && elapsed >= self.unit
    }

    /// True where there is time for the second part, a block alone, after the first took `together`.
    pub fn has_time(&self, together: Nanos) -> bool {
        together <= self.longest * 2
    }

    /// Cuts what follows into at most so many units.
    pub fn divide(&self, found: &Sounding, most_units: u32) -> Division {
        let (block, acknowledgement) = found.parts_ns();
        let wanted = ns(self.unit).max(acknowledgement.unwrap_or(0.0) / WANTED_PART);
        let batch = (wanted.min(ns(self.longest)) / block).round().clamp(1.0, MOST_BLOCKS);
        let unit = batch * block;
        let units = whole((ns(self.unit) * f64::from(most_units) / unit).round()).count();
        Division {
            batch: u32::try_from(whole(batch).count()).unwrap_or(1),
            units: u32::try_from(units).unwrap_or(u32::MAX).clamp(1, most_units.max(1)),
            is_streamed: acknowledgement.is_some_and(|part| part <= unit * MOST_PART),
        }
    }
}

impl Sounding {
    /// What a block takes, and an acknowledgement, in nanoseconds: a + b and a + k b are known. Both are
    /// of one moment, so b is held to between half and all of (a + k b) / k: no unit takes more than twice
    /// what it was planned to.
    fn parts_ns(&self) -> (f64, Option<f64>) {
        let (blocks, together) = (f64::from(self.blocks.max(LEAST_BLOCKS)), ns(self.together));
        let most = (together / blocks).max(1.0);
        let Some(single) = self.single.map(ns) else { return (most, None) };
        let block = ((together - single) / (blocks - 1.0)).clamp(most / 2.0, most);
        (block, Some((single - block).max(0.0)))
    }
}

impl Division {
    /// What a reader should know of a visit whose units are too short.
    pub fn flag(&self) -> Option<Flag> {
        (!self.is_streamed).then(|| Flag::new(SHORT_UNITS, SHORT))
    }
}

impl Limit {
    /// The same for units of so many blocks, where it was that of one.
    #[must_use]
    pub fn of_units(self, batch: u32) -> Self {
        Self { slow_above: self.slow_above.map(|bound| bound * u64::from(batch)), ..self }
    }
}

fn ns(time: Nanos) -> f64 {
    count(usize::try_from(time.count()).unwrap_or(usize::MAX))
}

/// Units of a visit that has the time for them.
pub(super) const UNITS: u32 = 10;
/// Parts of a visit: the units, the sounding, and what is lost besides.
const PARTS: f64 = 12.0;
/// Blocks that a sounding has at least: what is the acknowledgement's shows from two on.
const LEAST_BLOCKS: u32 = 2;
/// The part of a unit that its acknowledgement is planned to take at the most, where there is time.
const WANTED_PART: f64 = 0.04;
/// A larger part is told.
const MOST_PART: f64 = 0.05;
/// Far more than anything sends in a unit.
const MOST_BLOCKS: f64 = 1e9;

/// The name of the flag of a visit whose acknowledgements count.
pub const SHORT_UNITS: &str = "short-units";
const SHORT: &str = "the acknowledgement took more than 5 % of the units of some visits, or may have: a longer \
                     point time makes it less";

#[cfg(test)]
mod tests;
