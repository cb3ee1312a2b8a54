//! How long an agent is waited for: one that is there for its answer, one that is lost until it is back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use btu_core::units::Nanos;
use btu_engine::time::now;

/// Tries to get a lost agent back, after 0.5, 1, 2 ... 30 s, as long as the user's patience lasts.
#[derive(Debug)]
pub(crate) struct Retries {
    /// Set by whoever wants all waiting to end.
    cancel: Arc<AtomicBool>,
    end: Nanos,
    pause: Nanos,
}

impl Retries {
    /// An agent was lost now.
    pub(crate) fn new(patience: Nanos, cancel: &Arc<AtomicBool>) -> Self {
        let end = now().saturating_add(patience);
        Self { cancel: Arc::clone(cancel), end, pause: FIRST_PAUSE }
    }

    /// True where the last try was the last one.
    pub(crate) fn are_over(&self) -> bool {
        self.is_cancelled() || now() >= self.end
    }

    /// Waits for the next try. `meanwhile` is called often: others may wait for a word of this host.
    pub(crate) fn wait(&mut self, meanwhile: &dyn Fn()) {
        let until = now().saturating_add(self.pause).min(self.end);
        while now() < until && !self.is_cancelled() {
            std::thread::park_timeout(Duration::from(until.since(now()).min(SLICE)));
            meanwhile();
        }
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Relaxed)
    }
}

/// For an answer that needs no measuring.
pub(crate) const ANSWER: Nanos = Nanos::from_secs(15);
const FIRST_PAUSE: Nanos = Nanos::from_millis(500);
const LONGEST_PAUSE: Nanos = Nanos::from_secs(30);
/// How often somebody who waits looks whether waiting is wanted.
const SLICE: Nanos = Nanos::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_patience_and_where_nobody_wants_it() {
        let cancel = Arc::default();
        let mut spent = Retries::new(Nanos::ZERO, &cancel);
        assert!(spent.are_over());
        spent.wait(&|| panic!("nothing is waited for"));
        let mut patient = Retries::new(Nanos::from_secs(3600), &cancel);
        assert!(!patient.are_over());
        patient.wait(&|| cancel.store(true, Relaxed));
        assert!(patient.are_over());
    }

    #[test]
    fn pauses_grow_to_half_a_minute() {
        let mut retries = Retries::new(Nanos::from_secs(3600), &Arc::new(AtomicBool::new(true)));
        let mut pauses = [0; 8];
        for pause in &mut pauses {
            *pause = retries.pause.count() / 1_000_000;
            retries.wait(&|| ());
        }
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    }
}
