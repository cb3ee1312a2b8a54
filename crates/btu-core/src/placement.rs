//! On which CPUs the two ends of a connection run: named, since it decides what small messages show.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

/// On which CPUs the two ends run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Each end on a CPU of its own.
    #[default]
    Split,
    /// Both ends on the same CPU.
    Same,
    /// Wherever the scheduler puts them.
    Free,
}

/// A word is no placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write split, same, free")]
pub struct UnknownPlacement;

impl Placement {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Split, Self::Same, Self::Free];

    /// `split`, `same` or `free`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Same => "same",
            Self::Free => "free",
        }
    }

    /// True of the placement that editions are made of.
    pub fn is_split(&self) -> bool {
        *self == Self::Split
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Placement {
    type Err = UnknownPlacement;

    fn from_str(text: &str) -> Result<Self, UnknownPlacement> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or(UnknownPlacement)
    }
}
