//! A result as figures by their names, each with a value of every round: what two results of one verb are compared by, and
//! the results of many nights.
//!
//! To add a verb, write a file that says what its results are [`ByRound`]. A name is `KIND.A/B/C.FIGURE`: conditions write a
//! star for any part between two points or slashes, so figures of one kind have as many parts as each other, and [`part`]
//! makes a part of any text.

mod app;
mod file;
mod mesh;
mod pingpong;
mod run;
mod traffic;

/// The figures of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRound {
    /// Each figure, in the order in which they are told.
    pub series: Vec<Series>,
    /// Keys of the plan that make the figures others, as `btu` tells them: results that differ in one of them are of
    /// different things.
    pub rules: &'static [&'static str],
    /// The names that there are, for who wrote another one.
    pub legal: &'static str,
}

/// One figure of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name, the same in every result that has it.
    pub figure: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// Which change is a good one.
    pub better: Better,
    /// The value of each round that has one, in the order of rounds.
    pub rounds: Vec<f64>,
}

/// Which change of a figure is a good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More of it: a rate.
    Higher,
    /// Less of it: a time, a cost.
    Lower,
}

impl Series {
    /// A figure of these rounds; `None` without any.
    fn of(figure: String, unit: &'static str, better: Better, rounds: Vec<f64>) -> Option<Self> {
        (!rounds.is_empty()).then_some(Self { figure, unit, better, rounds })
    }
}

impl Better {
    /// `higher` or `lower`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }

    /// True for a change by this ratio that is a bad one.
    pub fn is_worse(self, ratio: f64) -> bool {
        match self {
            Self::Higher => ratio < 1.0,
            Self::Lower => ratio > 1.0,
        }
    }
}

/// A text as a part of a name: without what divides names, and conditions.
fn part(text: &str) -> String {
    let is_divider = |c: char| "./<>,*%".contains(c) || c.is_whitespace();
    text.replace(is_divider, "_")
}
