//! What was seen of a mesh: the journal's lines, one per pair and time it was measured.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::tcp::float;
use crate::units::Bytes;
use crate::units::Nanos;

/// One line of a mesh's part of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A host that did not come: its pairs are not measured.
    MeshMissing {
        /// Its number in the plan, from 0.
        host: usize,
        /// Why: not reached, refused, another one.
        reason: String,
    },
    /// A pair, measured.
    MeshPair(Box<PairSample>),
}

/// Why a pair is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It is one of the mesh.
    Mesh,
    /// It failed in the mesh, and is measured once more.
    Again,
    /// A suspicion is retested, of this number in the order of the mesh's suspicions, from 0.
    Retest(usize),
}

/// A pair of hosts, measured one way and then the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairSample {
    /// Why.
    pub part: Part,
    /// Number of the round of this part, from 0.
    pub round: usize,
    /// The hosts by their numbers in the plan, from 0: the first measured, the second was its guest.
    pub pair: (usize, usize),
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// From the first to the second.
    pub there: Option<Way>,
    /// From the second to the first.
    pub back: Option<Way>,
    /// Why it was not measured to its end; `None` where it was.
    pub failure: Option<String>,
}

/// One direction of a pair: what the receiving application read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Bytes that it read ...
    pub bytes: Bytes,
    /// ... in this time.
    pub elapsed_ns: Nanos,
    /// Payload that the sender's system sent again; `None` where it does not say.
    pub retransmitted: Option<Bytes>,
}

impl PairSample {
    /// The rate in this direction, sender first, in bit/s; `None` where it was not measured.
    pub fn bit_s(&self, (from, to): (usize, usize)) -> Option<f64> {
        let way = match self.pair {
            (one, other) if (one, other) == (from, to) => self.there,
            (one, other) if (other, one) == (from, to) => self.back,
            _ => None,
        };
        way?.bit_s()
    }
}

impl Way {
    /// Its rate in bit/s; `None` where no time passed.
    pub fn bit_s(&self) -> Option<f64> {
        let seconds = self.elapsed_ns.seconds();
        (seconds > 0.0).then(|| float(self.bytes.count()) * 8.0 / seconds)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mesh => f.write_str("mesh"),
            Self::Again => f.write_str("again"),
            Self::Retest(number) => write!(f, "retest {number}"),
        }
    }
}
