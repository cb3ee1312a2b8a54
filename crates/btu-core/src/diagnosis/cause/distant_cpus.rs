//! The CPUs of the host were further apart in the slow passes.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::repeats::Parted;
use crate::diagnosis::repeats::Repeat;
use crate::diagnosis::repeats::TELLING;
use crate::diagnosis::seen::Seen;
use crate::sample::HostSample;

pub(super) const CAUSE: Cause = Cause {
    name: "distant-cpus",
    site: Site::Own,
    basis: Basis::Counted,
    about: "a cache line took longer from one CPU of the host to another in the slow passes",
    remedy: "both speeds are what the machine gives: measure over more passes, or ask for CPUs that stay where \
             they are (dedicated cores, pinned virtual CPUs)",
    explains: &["two-modes"],
    find,
};

/// A hypervisor that moves virtual CPUs to other cores steals no time, and every byte that crosses from one to the other
/// takes longer all the same.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    let (parted, [slow, fast], correlation) = Parted::by(seen, Repeat::distance_ns)?;
    if -correlation < TELLING || slow < fast * HostSample::APART {
        return None;
    }
    let apart = [
        Figure::new("a cache line there and back, slow", slow, "ns"),
        Figure::new("a cache line there and back, fast", fast, "ns"),
    ];
    Some(Finding {
        share: parted.lost(),
        confidence: Confidence::Medium,
        sentence: format!(
            "{}: a cache line took {slow:.0} ns from one CPU of the host to another and back in the slow ones, \
             and {fast:.0} ns in the fast ones, as where a hypervisor has moved virtual CPUs apart",
            parted.words()
        ),
        figures: parted.figures(correlation).into_iter().chain(apart).collect(),
    })
}
