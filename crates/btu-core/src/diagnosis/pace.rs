//! How much of the time each end worked, and so what anything else can have cost.
//!
//! A transfer cannot become faster than its ends work: whatever is cured, an end that is not cured
//! goes on as before. And of two ends one is always the slower; that is no fault while the other could
//! not do much more.

use serde::Serialize;

use super::EndEvidence;
use super::Evidence;
use crate::units::Nanos;
use crate::units::Ratio;

/// The share of the time in which the data thread of each end ran or waited for a CPU; `None` where
/// nobody measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pace {
    /// The end that sent.
    pub sender: Option<Ratio>,
    /// The end that read.
    pub receiver: Option<Ratio>,
}

/// Where something would have to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// At an end that the cause itself names: it weighs both ends itself.
    Own,
    /// Between the ends, or in how both of them talk.
    Path,
    /// At the receiving end.
    Receiver,
    /// At the sending end.
    Sender,
}

impl Pace {
    /// By the accounts of both threads.
    pub fn of(evidence: &Evidence) -> Self {
        let of = |end| worked(end, evidence.elapsed);
        Self { sender: of(&evidence.sender), receiver: of(&evidence.receiver) }
    }

    /// The share of the time that a cure at `site` can save at the most, 0 where it is no fault.
    pub(super) fn spare(self, site: Site) -> f64 {
        let [sender, receiver] = self.shares();
        let nobody = 1.0 - sender.max(receiver);
        let found = match site {
            Site::Own => 1.0,
            Site::Receiver if receiver - sender >= FAR_SLOWER => 1.0 - sender,
            Site::Sender if sender - receiver >= FAR_SLOWER => 1.0 - receiver,
            Site::Path | Site::Receiver | Site::Sender => nobody,
        };
        if found < LEAST { 0.0 } else { found }
    }

    /// True where this end never rested while the other one could have done twice as much.
    pub(super) fn is_limit(end: Option<Ratio>, other: Option<Ratio>) -> bool {
        let [end, other] = [end, other].map(|worked| worked.map(Ratio::share));
        end.is_some_and(|end| end >= NEVER_RESTS && end - other.unwrap_or(0.0) >= FAR_SLOWER)
    }

    fn shares(self) -> [f64; 2] {
        [self.sender, self.receiver].map(|worked| worked.map_or(0.0, Ratio::share))
    }
}

/// The share of the time in which a data thread ran or could have run.
fn worked(end: &EndEvidence, elapsed: Nanos) -> Option<Ratio> {
    let time = end.cpu?.saturating_add(end.run_delay.unwrap_or_default());
    let share = time.seconds() / elapsed.seconds();
    (elapsed > Nanos::ZERO).then(|| Ratio::new(share.clamp(0.0, 1.0)))
}

/// The other end could do twice as much: two ends copy the same bytes, and the packet work of both
/// falls to either, so that a healthy path has a slower end.
const FAR_SLOWER: f64 = 0.5;
/// Two ends that hand over to each other both rest a little.
const LEAST: f64 = 0.2;
/// The rest is the call into the kernel and out of it.
const NEVER_RESTS: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(sender: f64, receiver: f64) -> Pace {
        Pace { sender: Some(Ratio::new(sender)), receiver: Some(Ratio::new(receiver)) }
    }

    fn close(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    #[test]
    fn what_nobody_measured_bounds_nothing() {
        for site in [Site::Own, Site::Path, Site::Receiver, Site::Sender] {
            assert!(close(Pace::default().spare(site), 1.0));
        }
    }

    /// Shares of the threads of healthy transfers on a direct path.
    #[test]
    fn the_slower_of_two_ends_is_no_fault() {
        for (sender, receiver) in [(0.99, 0.79), (0.79, 0.99), (0.98, 0.65), (0.82, 0.97)] {
            for site in [Site::Path, Site::Receiver, Site::Sender] {
                assert!(close(pace(sender, receiver).spare(site), 0.0), "{sender} {receiver}");
            }
        }
    }

    #[test]
    fn an_end_that_is_far_slower_is_one_and_only_that_end() {
        let found = pace(0.3, 0.98);
        assert!(close(found.spare(Site::Receiver), 0.7));
        assert!(close(found.spare(Site::Sender), 0.0) && close(found.spare(Site::Path), 0.0));
        let found = pace(0.98, 0.3);
        assert!(close(found.spare(Site::Sender), 0.7) && close(found.spare(Site::Receiver), 0.0));
        assert!(Pace::is_limit(found.sender, found.receiver));
        assert!(!Pace::is_limit(found.receiver, found.sender));
        assert!(!Pace::is_limit(pace(0.98, 0.6).sender, pace(0.98, 0.6).receiver));
    }

    /// Threads that rest are no limit: something that they wait for is, wherever it is.
    #[test]
    fn where_both_ends_rest_anything_else_can_cost_that_time() {
        for site in [Site::Path, Site::Receiver, Site::Sender] {
            assert!(close(pace(0.1, 0.25).spare(site), 0.75));
        }
    }
}
