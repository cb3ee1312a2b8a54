//! The least and the most of each quantity of a plan.
//!
//! No bound is a matter of taste: beyond it something else than the plan says would happen, in the
//! kernel, at the far side, or in the arithmetic of times.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use toml::Spanned;

use super::Plan;
use super::PlanError;
use super::raw::Text;
use super::text::Reader;
use crate::units::Bytes;
use crate::units::Nanos;
use crate::units::Ratio;

/// Below a millisecond a cell measures its own start.
pub(super) const WINDOW: RangeInclusive<Nanos> = Nanos::from_millis(1)..=HOUR;

/// A fixed amount of data per cell.
pub(super) const AMOUNT: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_000_000_000_000);

/// The far side gives up a connection on which nothing starts for twice as long.
pub(super) const LEAD_IN: RangeInclusive<Nanos> = Nanos::ZERO..=Nanos::from_secs(30);

/// The window of an activity alone.
pub(super) const ALONE: RangeInclusive<Nanos> = Nanos::new(1)..=HOUR;

/// What all repeats together may take.
pub(super) const ALLOWANCE: RangeInclusive<Nanos> = Nanos::ZERO..=LONGEST_RUN;

/// How long passes are begun.
pub(super) const BUDGET: RangeInclusive<Nanos> = Nanos::new(1)..=LONGEST_RUN;

/// A satellite's hop is 270 ms; a check of the emulation waits for hundreds of round trips.
pub(super) const DELAY: RangeInclusive<Nanos> = Nanos::ZERO..=Nanos::from_secs(2);

/// Of a smaller buffer Linux makes a larger one, and of a larger one less, without a word.
pub(super) const BUFFER: RangeInclusive<Bytes> = Bytes::new(4 << 10)..=Bytes::new(512 << 20);

/// The same of the window, which cannot be less than one full packet either.
pub(super) const CLAMP: RangeInclusive<Bytes> = Bytes::new(2 << 10)..=Bytes::new(512 << 20);

/// Two of these files lie on the disk during a run.
pub(super) const FILE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(16 << 30);

/// Threads of the activity `cpu`; without the key one per CPU.
const THREADS: RangeInclusive<u32> = 1..=4096;

/// Passes at least, and at most.
const PASSES: RangeInclusive<u32> = 1..=10_000;

/// What a plan is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To read what was measured by it, whatever bounds a run had then: its arithmetic has to hold.
    Read,
    /// To be run.
    Run,
}

/// A quantity of plans, with the most that can be reckoned with in one that was run.
pub(super) trait Quantity: FromStr<Err: Display> + Copy + Ord + Display {
    /// The least that is more than nothing.
    const ONE: Self;
    /// Multiples of it by what a cell or a case may ask are no overflow.
    const MOST: Self;
}

impl Quantity for Bytes {
    const ONE: Self = Self::new(1);
    const MOST: Self = Self::new(1_000_000_000_000_000);
}

impl Quantity for Nanos {
    const ONE: Self = Self::new(1);
    const MOST: Self = Self::from_secs(10 * 365 * 86_400);
}

impl Purpose {
    /// What of the values that a run may have is legal for this purpose, and what beside them.
    pub(super) fn widened<Q: Quantity>(self, legal: &RangeInclusive<Q>) -> RangeInclusive<Q> {
        match self {
            Self::Read => *legal.start().min(&Q::ONE)..=Q::MOST,
            Self::Run => legal.clone(),
        }
    }

    /// The same of a number of threads or passes.
    fn widened_number(self, legal: &RangeInclusive<u32>) -> RangeInclusive<u32> {
        match self {
            Self::Read => 1..=u32::MAX,
            Self::Run => legal.clone(),
        }
    }
}

impl Reader<'_> {
    /// A quantity within its bounds, where it is given; `what` names it: `time`.
    pub(super) fn within_or_none<Q>(
        &self,
        key: &str,
        text: &Text,
        what: &str,
        legal: &RangeInclusive<Q>,
    ) -> Result<Option<Q>, PlanError>
    where
        Q: Quantity,
    {
        let Some(given) = text else { return Ok(None) };
        let legal = self.purpose.widened(legal);
        let value = self.value(key, given)?;
        if legal.contains(&value) {
            return Ok(Some(value));
        }
        let (least, most) = (legal.start(), legal.end());
        Err(self.illegal(key, given, &format!("write a {what} from {least} to {most}")))
    }

    /// A time that must be given.
    pub(super) fn time(
        &self,
        key: &str,
        text: &Text,
        legal: &RangeInclusive<Nanos>,
    ) -> Result<Nanos, PlanError> {
        self.within_or_none(key, text, "time", legal)?.ok_or_else(|| self.unwritten(key))
    }

    /// A size that must be given.
    pub(super) fn size(
        &self,
        key: &str,
        text: &Text,
        legal: &RangeInclusive<Bytes>,
    ) -> Result<Bytes, PlanError> {
        self.within_or_none(key, text, "size", legal)?.ok_or_else(|| self.unwritten(key))
    }

    /// A part of a whole that must be given: wider than the whole, an interval says nothing.
    pub(super) fn share(
        &self,
        key: &str,
        text: Option<&Spanned<String>>,
    ) -> Result<Ratio, PlanError> {
        let share: Ratio = self.required(key, text)?;
        match text {
            Some(given) if self.purpose == Purpose::Run && share > Ratio::ONE => {
                Err(self.illegal(key, given, "write a share from 0% to 100%"))
            }
            _ => Ok(share),
        }
    }

    /// A number of threads, where it is given.
    pub(super) fn threads(&self, key: &str, text: &Text) -> Result<Option<u32>, PlanError> {
        let Some(given) = text else { return Ok(None) };
        let legal = self.purpose.widened_number(&THREADS);
        let number = given.get_ref().parse().ok().filter(|number| legal.contains(number));
        let (least, most) = (legal.start(), legal.end());
        let legal = format!("write a number from {least} to {most}");
        number.map(Some).ok_or_else(|| self.illegal(key, given, &legal))
    }

    /// A number of passes that must be given.
    pub(super) fn passes(&self, key: &str, given: Option<&Spanned<u32>>) -> Result<u32, PlanError> {
        let number = given.ok_or_else(|| self.missing(key, "write a number of passes"))?;
        let legal = self.purpose.widened_number(&PASSES);
        if legal.contains(number.get_ref()) {
            return Ok(*number.get_ref());
        }
        let (least, most) = (legal.start(), legal.end());
        Err(self.illegal_number(key, number, &format!("write a number from {least} to {most}")))
    }
}

impl Plan {
    /// Values that are legal one by one may still ask for years.
    pub(super) fn ends(self, name: &str) -> Result<Self, PlanError> {
        let least = self.estimate();
        if least <= LONGEST_RUN {
            return Ok(self);
        }
        let days = |time: Nanos| time.seconds() / 86_400.0;
        Err(PlanError::Contradiction(format!(
            "{name}: the plan takes {:.0} days at least, and {:.0} is the most; lower passes.min, time.window \
             or time.amount, raise link.rate, or choose fewer cells",
            days(least),
            days(LONGEST_RUN)
        )))
    }
}

const HOUR: Nanos = Nanos::from_secs(3600);

/// Thirty days: sums and multiples of such times still are times.
pub(super) const LONGEST_RUN: Nanos = Nanos::from_secs(30 * 86_400);
