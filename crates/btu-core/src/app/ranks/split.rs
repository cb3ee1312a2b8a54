//! Where the time of a rank goes: computing, waiting for another rank, or passing messages.

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// Time inside message calls; the rest of a timed part is computing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// In a receive, before the other rank had begun to send.
    pub wait_ns: Nanos,
    /// The rest of receives, and all of sends.
    pub transfer_ns: Nanos,
    /// Receives of messages that did not say when they were sent: what they waited is part of `transfer_ns`.
    pub undated: u64,
}

impl Split {
    /// A send that took so long.
    pub(super) fn sent(&mut self, took: Nanos) {
        self.transfer_ns = self.transfer_ns.saturating_add(took);
    }

    /// A receive that was called at `from` and returned at `until`, of a message that was sent at `sent_at`.
    pub(super) fn received(&mut self, from: Nanos, sent_at: Option<Nanos>, until: Nanos) {
        let took = until.since(from);
        let waited = sent_at.map(|sent| sent.since(from).min(took));
        self.undated += u64::from(waited.is_none());
        let waited = waited.unwrap_or_default();
        self.wait_ns = self.wait_ns.saturating_add(waited);
        self.transfer_ns = self.transfer_ns.saturating_add(took.since(waited));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_before_the_other_rank_sends_is_waiting() {
        let mut split = Split::default();
        let [at_5, at_30, at_40] = [5, 30, 40].map(Nanos::new);
        split.received(at_5, Some(at_30), at_40);
        assert_eq!((split.wait_ns, split.transfer_ns), (Nanos::new(25), Nanos::new(10)));
        split.received(at_30, Some(at_5), at_40);
        assert_eq!((split.wait_ns, split.transfer_ns), (Nanos::new(25), Nanos::new(20)));
        split.received(at_30, None, at_40);
        assert_eq!((split.transfer_ns, split.undated), (Nanos::new(30), 1));
    }
}
