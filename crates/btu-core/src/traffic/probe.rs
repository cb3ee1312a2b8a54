//! What an engine notes that has no schedule: a rate that adjusts itself, round trips while a path fills.

mod capacity;
mod path_mtu;
mod responsiveness;

use serde::Deserialize;
use serde::Serialize;

pub use capacity::CapacityFigures;
pub use capacity::CapacityReport;
pub use capacity::CapacitySample;
pub use capacity::headers;
pub use path_mtu::PathMtuFigures;
pub use path_mtu::PathMtuProbe;
pub use path_mtu::PathMtuSample;
pub use responsiveness::Confidence;
pub use responsiveness::ForeignProbe;
pub use responsiveness::PendingProbe;
pub use responsiveness::ResponsivenessFigures;
pub use responsiveness::ResponsivenessSample;
pub use responsiveness::WorkingInterval;

/// What a probe noted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProbeSample {
    /// The search of RFC 9097.
    Capacity(CapacitySample),
    /// The search of RFC 8899.
    PathMtu(PathMtuSample),
    /// Round trips under load.
    Responsiveness(ResponsivenessSample),
}

impl ProbeSample {
    /// What it found, where it is a capacity search that found something.
    pub fn capacity(&self) -> Option<CapacityFigures> {
        match self {
            Self::Capacity(sample) => sample.figures(),
            Self::PathMtu(_) | Self::Responsiveness(_) => None,
        }
    }

    /// What it found, where it is a search for a path MTU.
    pub fn path_mtu(&self) -> Option<PathMtuFigures> {
        match self {
            Self::PathMtu(sample) => Some(sample.figures()),
            Self::Capacity(_) | Self::Responsiveness(_) => None,
        }
    }

    /// What it found, where it measured round trips of both kinds under load.
    pub fn responsiveness(&self) -> Option<ResponsivenessFigures> {
        match self {
            Self::Responsiveness(sample) => sample.figures(),
            Self::Capacity(_) | Self::PathMtu(_) => None,
        }
    }
}
