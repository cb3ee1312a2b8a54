//! Counters of `continuous` patterns, which later runs take up where earlier ones left them.

use std::collections::BTreeMap;

use super::chain::Chain;
use super::select::Counter;
use super::select::Table;

/// Where the counter of one element stands.
#[derive(Clone, Debug)]
pub struct Counting(pub(super) Standing);

/// Of one direction, or of each of its flows.
#[derive(Clone, Debug)]
pub(super) enum Standing {
    Flows(Table),
    One(Counter),
}

/// Where the counters of one direction stand, by the texts of its chain: other chains may have
/// been in force meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Continued {
    chains: BTreeMap<Vec<String>, Vec<Option<Counting>>>,
}

impl Continued {
    /// Remembers where `chain` stands at the end of its run.
    pub fn keep(&mut self, chain: &Chain) {
        let standing = chain.counting();
        if standing.iter().any(Option::is_some) {
            self.chains.insert(chain.spec().texts(), standing);
        }
    }

    /// Lets `chain`, at the start of its run, go on where one of the same texts stood.
    pub fn apply(&self, chain: &mut Chain) {
        if let Some(standing) = self.chains.get(&chain.spec().texts()) {
            chain.go_on(standing);
        }
    }
}
