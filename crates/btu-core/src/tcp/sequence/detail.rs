//! How much of a direction a chart shows.

use serde::Deserialize;
use serde::Serialize;

use super::SequenceData;

/// How much of a direction a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Of each of so many stretches of time what reaches furthest.
    Thinned {
        /// How many: [`Detail::FINEST`], or that halved a few times.
        stretches: u32,
    },
    /// Every point.
    Whole,
}

impl Detail {
    /// Of a thinned chart: two stretches for each pixel of a wide screen.
    pub const FINEST: u32 = 4_000;

    /// True where a chart of this detail can be thinned to the other one.
    pub const fn holds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole, _) => true,
            (Self::Thinned { .. }, Self::Whole) => false,
            (Self::Thinned { stretches: mine }, Self::Thinned { stretches: its }) => mine >= its,
        }
    }
}

impl SequenceData {
    /// The same chart in this detail. What was thinned before gives the same as what was not, as long
    /// as that detail holds this one.
    #[must_use]
    pub fn in_detail(self, detail: Detail) -> Self {
        match detail {
            Detail::Thinned { stretches } => self.thinned(stretches),
            Detail::Whole => self,
        }
    }
}
