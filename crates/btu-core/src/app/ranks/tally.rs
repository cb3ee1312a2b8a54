//! What an application passes between its ranks: the same on every machine and over every layer.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use crate::units::Bytes;

/// Messages and bytes of one rank, as their sender counts them: payload alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Messages from one rank to another, those to itself among them.
    pub messages: Count,
    /// Of these, from the rank to itself.
    pub own: Count,
    /// Messages by their bytes; in the journal pairs of bytes and messages.
    #[serde(with = "pairs")]
    pub sizes: BTreeMap<u64, u64>,
    /// Calls of each collective with the payload of the call, not of the messages that it is made of.
    pub collectives: BTreeMap<Collective, Count>,
}

/// Keys of JSON are texts, and a line that names its kind by a key gives no number for one.
mod pairs {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::Deserializer;
    use serde::Serializer;

    pub(super) fn serialize<S: Serializer>(
        sizes: &BTreeMap<u64, u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(sizes)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<BTreeMap<u64, u64>, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

/// How many, and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

/// Messages in which every rank takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// Every rank gets the sum of the arrays of all.
    AllReduce,
    /// Every rank sends a part of its array to each.
    AllToAll,
    /// The same with parts of any length.
    AllToAllV,
    /// Nobody goes on before all are there.
    Barrier,
    /// One rank's array for all.
    Broadcast,
    /// One rank gets the sum of the arrays of all.
    Reduce,
}

impl fmt::Display for Collective {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::AllReduce => "all-reduce",
            Self::AllToAll => "all-to-all",
            Self::AllToAllV => "all-to-all-v",
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
        })
    }
}

impl Count {
    /// One more, of so many bytes.
    fn add(&mut self, bytes: Bytes) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Adds another.
    pub(in crate::app) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl Tally {
    /// A message between two ranks.
    pub(super) fn sent(&mut self, bytes: Bytes, to_itself: bool) {
        self.messages.add(bytes);
        *self.sizes.entry(bytes.count()).or_default() += 1;
        if to_itself {
            self.own.add(bytes);
        }
    }

    /// A call of a collective.
    pub(super) fn called(&mut self, collective: Collective, bytes: Bytes) {
        self.collectives.entry(collective).or_default().add(bytes);
    }

    /// Adds what another rank passed.
    pub fn join(&mut self, other: &Self) {
        self.messages.join(other.messages);
        self.own.join(other.own);
        for (size, count) in &other.sizes {
            *self.sizes.entry(*size).or_default() += count;
        }
        for (collective, count) in &other.collectives {
            self.collectives.entry(*collective).or_default().join(*count);
        }
    }

    /// The calls of a collective.
    pub fn collective(&self, collective: Collective) -> Count {
        self.collectives.get(&collective).copied().unwrap_or_default()
    }
}
