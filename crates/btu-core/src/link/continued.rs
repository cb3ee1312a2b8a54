//! Counters of `continuous` patterns, which later runs take up where earlier ones left them.

use std::collections::VecDeque;

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
/// been in force meanwhile. Of too many the one that ended first is forgotten: a relay that serves others lives long.
#[derive(Clone, Debug, Default)]
pub struct Continued {
    chains: VecDeque<(Vec<String>, Vec<Option<Counting>>)>,
}

impl Continued {
    /// Remembers where `chain` stands at the end of its run.
    pub fn keep(&mut self, chain: &Chain) {
        let standing = chain.counting();
        if standing.iter().any(Option::is_some) {
            let texts = chain.spec().texts();
            self.chains.retain(|(known, _)| *known != texts);
            self.chains.push_back((texts, standing));
            if self.chains.len() > MOST_CHAINS {
                self.chains.pop_front();
            }
        }
    }

    /// Lets `chain`, at the start of its run, go on where one of the same texts stood.
    pub fn apply(&self, chain: &mut Chain) {
        let texts = chain.spec().texts();
        if let Some((_, standing)) = self.chains.iter().find(|(known, _)| *known == texts) {
            chain.go_on(standing);
        }
    }
}

/// A plan has a handful of links.
const MOST_CHAINS: usize = 64;
