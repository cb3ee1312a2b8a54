//! Packets that are under way: sent, and not heard of yet.

use std::collections::BTreeMap;

use super::Part;
use crate::traffic::sending::gcc::Acknowledged;
use crate::traffic::sending::media::report::Came;
use crate::units::Bytes;
use crate::units::Nanos;

/// Packets by their numbers.
#[derive(Debug, Default)]
pub(super) struct Flight {
    packets: BTreeMap<u64, Flying>,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    sent: Nanos,
    size: Bytes,
    part: Part,
}

impl Flight {
    pub(super) fn add(&mut self, number: u64, sent: Nanos, size: Bytes, part: Part) {
        self.packets.insert(number, Flying { sent, size, part });
        if self.packets.len() > MOST {
            self.packets.pop_first();
        }
    }

    /// These came. Gives those that nobody had heard of.
    pub(super) fn land(&mut self, came: &[Came]) -> Vec<Acknowledged> {
        let landed = came.iter().filter_map(|one| {
            let Flying { sent, size, .. } = self.packets.remove(&one.number)?;
            Some(Acknowledged { sent, came: one.at, size })
        });
        landed.collect()
    }

    /// What left before the packet of this number, which came, and did not come itself: it is given up.
    pub(super) fn missing_before(&mut self, number: u64) -> Vec<Part> {
        let later = self.packets.split_off(&number);
        let missing = std::mem::replace(&mut self.packets, later);
        missing.into_values().map(|flying| flying.part).collect()
    }
}

/// Packets without a word of them: what is older is forgotten.
const MOST: usize = 1 << 16;
