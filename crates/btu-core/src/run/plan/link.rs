//! The link of a plan: which elements the packets of its cells pass, either way.

mod raw;
mod read;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::Plan;
use crate::link::ChainSpec;
use crate::link::Pattern;
use crate::link::Reader;
use crate::run::cell::Case;
use crate::run::cell::Direction;
use crate::run::cell::Impairment;
use crate::units::Nanos;

pub(super) use raw::RawLink;

/// The emulated link: what each kind of case has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkPlan {
    /// DL: what the +DL cases have.
    pub delay: Elements,
    /// DR: what the +DR case has.
    pub drop: Elements,
    /// The line of all cells; empty for none.
    pub rate: Elements,
}

/// The elements of both directions: canonical texts, in the order in which packets pass them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elements {
    /// Away from the test host.
    pub up: Vec<String>,
    /// Towards it.
    pub down: Vec<String>,
}

impl Plan {
    /// The link elements of a case, in order of traversal; none on a plain path.
    ///
    /// Delay and rate act both ways unless the plan says otherwise, a pattern of drops on packets that arrive at the
    /// black box: its acknowledgements are spared, since three of them in a row stand for more than a window of data,
    /// and the cell would measure the retransmission timer instead of the host.
    pub fn chain(&self, case: Case, direction: Direction) -> Vec<String> {
        let LinkPlan { delay, drop, rate } = &self.link;
        let own = match case.impairment() {
            Impairment::Delay => delay.of(direction),
            Impairment::Drop => drop.of(direction),
            Impairment::None => &[],
        };
        ChainSpec::in_order([own, rate.of(direction)].concat())
    }

    /// True where the cells of a case pass through the emulator.
    pub fn is_emulated(&self, case: Case) -> bool {
        [Direction::Send, Direction::Receive]
            .iter()
            .any(|direction| !self.chain(case, *direction).is_empty())
    }

    /// How long a packet may wait in the links of a case by intent, both ways, but for a few that may wait longer.
    pub fn wait(&self, case: Case) -> Nanos {
        let way = |direction| self.spec(case, direction).wait();
        way(Direction::Send).saturating_add(way(Direction::Receive))
    }

    /// A chain of the plan, whose texts are legal.
    pub(super) fn spec(&self, case: Case, direction: Direction) -> ChainSpec {
        ChainSpec::as_given(&self.chain(case, direction), &Reader::PLAN).unwrap_or_default()
    }
}

impl LinkPlan {
    /// True where every cell passes a line.
    pub fn has_line(&self) -> bool {
        !self.rate.is_empty()
    }

    /// DL as people read it: `5ms`, or the elements of either direction.
    pub fn delay_told(&self) -> String {
        told(self.usual_delay(), &self.delay)
    }

    /// DR as people read it: `1@200,3@400/400`, or the elements of either direction.
    pub fn drop_told(&self) -> String {
        told(self.usual_drop(), &self.drop)
    }

    /// The line as people read it; `None` without one.
    pub fn rate_told(&self) -> Option<String> {
        self.has_line().then(|| told(self.usual_rate(), &self.rate))
    }

    /// `5ms`, where DL is one delay that both directions have.
    pub fn usual_delay(&self) -> Option<&str> {
        self.delay.alike()?.strip_prefix("delay ")
    }

    /// `1@200,3@400/400`, where DR is one counter pattern, of what arrives at the black boxes.
    pub fn usual_drop(&self) -> Option<&str> {
        self.drop.pattern(Direction::Send).filter(|_| self.drop.down.is_empty())?;
        self.drop.up.first()?.strip_prefix("drop ")
    }

    /// `rate 10Mbit/s queue 100ms`, where both directions have the same line.
    pub fn usual_rate(&self) -> Option<&str> {
        self.rate.alike()
    }
}

impl Elements {
    /// One element that both directions have.
    pub fn both(text: impl Into<String>) -> Self {
        let up = vec![text.into()];
        Self { down: up.clone(), up }
    }

    /// One element of what arrives at the black boxes.
    pub fn up(text: impl Into<String>) -> Self {
        Self { up: vec![text.into()], down: Vec::new() }
    }

    /// Those of the direction in which such a flow sends.
    pub fn of(&self, direction: Direction) -> &[String] {
        match direction {
            Direction::Receive => &self.down,
            Direction::Send => &self.up,
        }
    }

    /// True where all that they do is to hold every packet for the same time.
    pub fn is_constant(&self) -> bool {
        *self == self.constant_ways()
    }

    /// Those of the directions in which all that they do is to hold every packet for the same time.
    #[must_use]
    pub fn constant_ways(&self) -> Self {
        let kept = |way: &Vec<String>| way.iter().all(|text| text.starts_with("delay "));
        let of = |way: &Vec<String>| if kept(way) { way.clone() } else { Vec::new() };
        Self { up: of(&self.up), down: of(&self.down) }
    }

    /// The counter pattern that is all of a direction.
    pub fn pattern(&self, direction: Direction) -> Option<Pattern> {
        let [only] = self.of(direction) else { return None };
        only.strip_prefix("drop ")?.parse().ok()
    }

    /// True without any element.
    pub fn is_empty(&self) -> bool {
        self.up.is_empty() && self.down.is_empty()
    }

    /// These with others beside them, in the order of traversal.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        let joined =
            |these: &[String], those: &[String]| ChainSpec::in_order([these, those].concat());
        Self { up: joined(&self.up, &others.up), down: joined(&self.down, &others.down) }
    }

    /// What constant delays add to a round trip, whatever else there is.
    pub fn round_trip(&self) -> Nanos {
        self.constant(Direction::Send).saturating_add(self.constant(Direction::Receive))
    }

    /// What constant delays add in one direction.
    pub fn constant(&self, direction: Direction) -> Nanos {
        let spec = ChainSpec::as_given(self.of(direction), &Reader::PLAN).ok();
        spec.and_then(|spec| spec.constant_delay()).unwrap_or(Nanos::ZERO)
    }

    /// The one element that both directions have, and nothing else.
    fn alike(&self) -> Option<&str> {
        match self.up.as_slice() {
            [only] if self.up == self.down => Some(only),
            _ => None,
        }
    }
}

impl fmt::Display for Elements {
    /// `up drop ge 1% 30%, delay 5ms; down nothing`
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |texts: &[String]| match texts {
            [] => "nothing".to_owned(),
            texts => texts.join(", "),
        };
        write!(out, "up {}; down {}", way(&self.up), way(&self.down))
    }
}

fn told(usual: Option<&str>, elements: &Elements) -> String {
    usual.map_or_else(|| elements.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
