//! In which order the visits of a sweep come.

use std::collections::VecDeque;
use std::fmt;

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde::Deserialize;
use serde::Serialize;

use super::super::sample::ConfigurationId;
use crate::run::schedule::shuffle;
use crate::units::Bytes;

/// The order of the visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// A new random order in every round.
    #[default]
    Random,
    /// Rising sizes over each connection in turn, all its rounds of one before the next: what NetPIPE does
    /// over its only one.
    Rising,
}

/// A place in the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) round: u32,
    pub(super) position: u32,
    pub(super) attempt: u32,
    pub(super) size: Bytes,
    pub(super) configuration: ConfigurationId,
}

/// What is visited: a size over a configuration.
pub(super) type Pair = (Bytes, ConfigurationId);

impl Slot {
    pub(super) const fn again(self) -> Self {
        Self { attempt: self.attempt + 1, ..self }
    }
}

/// All pairs, in the random order of a round.
pub(super) fn shuffled(mut pairs: Vec<Pair>, seed: u64, round: u32) -> VecDeque<Slot> {
    shuffle(&mut pairs, &mut generator(seed, round));
    numbered(pairs.into_iter().map(|pair| (round, pair)))
}

/// The rounds of each connection: all of a size before the next size, what is compared in turn within each.
/// `pairs` are by rising size.
pub(super) fn rising(pairs: &[Pair], connections: &[Vec<u32>]) -> VecDeque<Slot> {
    let of_size = |pairs: &[Pair], rounds: &[u32]| {
        let each = rounds.iter().flat_map(|round| pairs.iter().map(|pair| (*round, *pair)));
        each.collect::<Vec<(u32, Pair)>>()
    };
    let of_connection = |rounds: &Vec<u32>| {
        let sizes = pairs.chunk_by(|a, b| a.0 == b.0);
        sizes.flat_map(|pairs| of_size(pairs, rounds)).collect::<Vec<(u32, Pair)>>()
    };
    numbered(connections.iter().flat_map(of_connection))
}

fn numbered(visits: impl Iterator<Item = (u32, Pair)>) -> VecDeque<Slot> {
    let slot = |(position, (round, (size, configuration)))| Slot {
        round,
        position,
        attempt: 1,
        size,
        configuration,
    };
    (1..).zip(visits).map(slot).collect()
}

/// The random stream of one round.
fn generator(seed: u64, round: u32) -> ChaCha12Rng {
    let mut hasher = blake3::Hasher::new_derive_key("btu pingpong round order 1");
    hasher.update(&seed.to_le_bytes());
    hasher.update(&round.to_le_bytes());
    ChaCha12Rng::from_seed(*hasher.finalize().as_bytes())
}

impl fmt::Display for Order {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Random => "random",
            Self::Rising => "rising",
        })
    }
}
