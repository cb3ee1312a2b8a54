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
pub struct Worked {
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

/// What something is concluded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// Packets or a kernel counted it: it happened however busy the ends were, which bounds its cost.
    Counted,
    /// An end waited: where both ends work all the time there is next to nothing to explain.
    Waits,
}

impl Worked {
    /// By the accounts of both threads.
    pub fn of(evidence: &Evidence) -> Self {
        let of = |end| worked(end, evidence.elapsed);
        Self { sender: of(&evidence.sender), receiver: of(&evidence.receiver) }
    }

    /// The share of the time that a cure at `site` can save at the most, 0 where waits are no fault. An
    /// end that nobody measured bounds nothing.
    pub(super) fn spare(self, site: Site, basis: Basis) -> f64 {
        let ends = [self.sender, self.receiver].map(Option::unwrap_or_default);
        let [sender, receiver] = ends.map(Ratio::share);
        let found = match site {
            Site::Own => 1.0,
            Site::Receiver if Self::is_far_slower(ends[1], ends[0]) => 1.0 - sender,
            Site::Sender if Self::is_far_slower(ends[0], ends[1]) => 1.0 - receiver,
            Site::Path | Site::Receiver | Site::Sender => 1.0 - sender.max(receiver),
        };
        if basis == Basis::Waits && found < LEAST { 0.0 } else { found }
    }

    /// True where `other` could have done at least twice as much as `end` did.
    pub(super) fn is_far_slower(end: Ratio, other: Ratio) -> bool {
        end.share() >= other.share() * FAR_SLOWER
    }

    /// True for an end that is the limit, whatever the other one does.
    pub(super) fn never_rests(end: Ratio) -> bool {
        end.share() >= NEVER_RESTS
    }

    /// `the sender ran or waited for a CPU 100 %, the receiver 80 %`
    pub(super) fn told(self) -> String {
        let ends = [("sender", self.sender), ("receiver", self.receiver)];
        let measured = ends.into_iter().filter_map(|(end, share)| Some((end, share?.share())));
        let parts: Vec<String> = measured
            .enumerate()
            .map(|(place, (end, share))| {
                let did = if place == 0 { "ran or waited for a CPU " } else { "" };
                format!("the {end} {did}{:.0} %", share * 100.0)
            })
            .collect();
        parts.join(", ")
    }

    /// True where the ends, as far as they were measured, leave waits nothing to explain.
    pub(super) fn fills_the_time(self) -> bool {
        self.spare(Site::Path, Basis::Waits) <= 0.0
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
const FAR_SLOWER: f64 = 2.0;
/// Two ends that hand over to each other both rest a little.
pub(super) const LEAST: f64 = 0.2;
/// The rest is the call into the kernel and out of it.
const NEVER_RESTS: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(sender: f64, receiver: f64) -> Worked {
        Worked { sender: Some(Ratio::new(sender)), receiver: Some(Ratio::new(receiver)) }
    }

    fn close(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-9
    }

    #[test]
    fn what_nobody_measured_bounds_nothing() {
        for site in [Site::Own, Site::Path, Site::Receiver, Site::Sender] {
            assert!(close(Worked::default().spare(site, Basis::Waits), 1.0));
        }
    }

    /// Shares of the threads of healthy transfers on a direct path.
    #[test]
    fn the_slower_of_two_ends_is_no_fault() {
        for (sender, receiver) in [(0.99, 0.79), (0.79, 0.99), (0.98, 0.65), (0.82, 0.97)] {
            let found = ends(sender, receiver);
            for site in [Site::Path, Site::Receiver, Site::Sender] {
                assert!(close(found.spare(site, Basis::Waits), 0.0), "{sender} {receiver}");
                let left = 1.0 - sender.max(receiver);
                assert!(close(found.spare(site, Basis::Counted), left), "{sender} {receiver}");
            }
            assert!(found.fills_the_time());
        }
    }

    #[test]
    fn an_end_that_is_far_slower_is_one_and_only_that_end() {
        let found = ends(0.3, 0.98);
        let spare = |found: Worked, site| found.spare(site, Basis::Waits);
        assert!(close(spare(found, Site::Receiver), 0.7));
        assert!(close(spare(found, Site::Sender), 0.0) && close(spare(found, Site::Path), 0.0));
        let found = ends(0.98, 0.3);
        assert!(close(spare(found, Site::Sender), 0.7) && close(spare(found, Site::Receiver), 0.0));
    }

    /// Twice as much is twice as much, whether an end works all the time or a part of it.
    #[test]
    fn far_slower_is_a_ratio() {
        for (end, other, wanted) in
            [(0.98, 0.49, true), (0.98, 0.5, false), (0.6, 0.3, true), (0.6, 0.31, false)]
        {
            let [one, two] = [end, other].map(Ratio::new);
            assert_eq!(Worked::is_far_slower(one, two), wanted, "{end} {other}");
            assert!(!Worked::is_far_slower(two, one));
            let left = 1.0 - if wanted { other } else { end };
            assert!(close(ends(other, end).spare(Site::Receiver, Basis::Counted), left));
        }
    }

    /// Threads that rest are no limit: something that they wait for is, wherever it is.
    #[test]
    fn where_both_ends_rest_anything_else_can_cost_that_time() {
        for site in [Site::Path, Site::Receiver, Site::Sender] {
            assert!(close(ends(0.2, 0.25).spare(site, Basis::Waits), 0.75));
        }
    }
}
