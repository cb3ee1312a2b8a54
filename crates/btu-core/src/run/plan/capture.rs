//! Which cells are run again with their packets recorded, and how much of that a run allows itself.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use super::Plan;
use crate::units::Nanos;

/// The cells that are run again, after the last pass, with capture. No figure depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Captured {
    /// Those that a rule calls abnormal.
    #[default]
    Abnormal,
    /// Every cell.
    All,
    /// None.
    None,
}

/// What the second runs may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Cells at most.
    pub cells: usize,
    /// No further cell is started after this time.
    pub budget: Nanos,
}

impl Captured {
    /// Every choice, the default first.
    pub const CHOICES: [Self; 3] = [Self::Abnormal, Self::All, Self::None];

    /// The word in plans and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abnormal => "abnormal",
            Self::All => "all",
            Self::None => "none",
        }
    }
}

impl Plan {
    /// What the second runs may take. The quick preset promises its end within 90 seconds and its
    /// passes end at 80, so eight cells of a few tenths of a second must do: those with most findings.
    /// Whoever asks for every cell gets every cell.
    pub fn capture_limits(&self) -> CaptureLimits {
        self.limits_of(self.captured)
    }

    /// What second runs may take of a preset's promise.
    pub(super) fn promised_captures(&self) -> Nanos {
        self.limits_of(Captured::Abnormal).budget
    }

    fn limits_of(&self, captured: Captured) -> CaptureLimits {
        let (cells, budget) = match (captured, self.preset.as_str()) {
            (Captured::None, _) => (0, Nanos::ZERO),
            (Captured::All, _) => (usize::MAX, Nanos::from_secs(600)),
            (Captured::Abnormal, "quick") => (8, Nanos::from_secs(4)),
            (Captured::Abnormal, _) => (24, Nanos::from_secs(90)),
        };
        CaptureLimits { cells, budget }
    }
}

/// The word is none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown choice \"{0}\"; write abnormal, all or none")]
pub struct UnknownChoice(String);

impl FromStr for Captured {
    type Err = UnknownChoice;
    fn from_str(text: &str) -> Result<Self, UnknownChoice> {
        let found = Self::CHOICES.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| UnknownChoice(text.to_owned()))
    }
}

impl fmt::Display for Captured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
