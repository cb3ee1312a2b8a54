//! What is told and drawn of a connection of a capture: of the direction that carried the data.

use crate::run::analysis::CongestionWindow;
use crate::tcp::Connection;
use crate::tcp::Detail;
use crate::tcp::Outline;
use crate::tcp::SequenceData;
use crate::tcp::Stream;
use crate::units::Nanos;

/// The direction that carried the data, as far as a report shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Its figures.
    pub outline: Outline,
    /// Round trip of the whole path.
    pub round_trip: Option<Nanos>,
    /// Its time sequence.
    pub chart: Chart,
}

/// The time sequence of a direction.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Everything that was followed.
    Followed(Box<Stream>),
    /// What an extract keeps of it.
    Kept {
        /// How much that is.
        detail: Detail,
        /// Its bytes ([`SequenceData::encoded`]).
        encoded: Vec<u8>,
    },
}

impl Carried {
    /// Of a connection that was followed.
    pub(super) fn of(connection: Connection) -> Self {
        let outline = Outline::of(connection.streams()[0]);
        let round_trip = connection.round_trip();
        let chart = Chart::Followed(Box::new(connection.into_carrier()));
        Self { outline, round_trip, chart }
    }
}

impl Chart {
    /// How much of it there is.
    pub const fn detail(&self) -> Detail {
        match self {
            Self::Followed(_) => Detail::Whole,
            Self::Kept { detail, .. } => *detail,
        }
    }

    /// True where it can be drawn in this detail.
    pub const fn holds(&self, wanted: Detail) -> bool {
        self.detail().holds(wanted)
    }

    /// What is drawn of it. It may not be asked for more than it [holds](Chart::holds).
    pub fn data(&self, congestion: &CongestionWindow, wanted: Detail) -> SequenceData {
        match self {
            Self::Followed(stream) => {
                SequenceData::of(stream, &congestion.readings).in_detail(wanted)
            }
            Self::Kept { detail, encoded } => {
                let kept = SequenceData::decoded(encoded).unwrap_or_default();
                if *detail == wanted { kept } else { kept.in_detail(wanted) }
            }
        }
    }
}
