//! Somebody else used the test host in the slow passes.

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

pub(super) const CAUSE: Cause = Cause {
    name: "disturbed-passes",
    site: Site::Own,
    basis: Basis::Counted,
    about: "other programs or the hypervisor took CPU time from the test host in the slow passes",
    remedy: "measure again while nothing else runs; the fast passes are what the host does undisturbed",
    explains: &["two-modes"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let (parted, [slow, fast], correlation) = Parted::by(seen, Repeat::taken)?;
    if -correlation < TELLING || slow - fast < LEAST_SHARE {
        return None;
    }
    let [slow, fast] = [slow, fast].map(|share| share * 100.0);
    let taken = [
        Figure::new("taken by others, slow", slow, "% of a CPU"),
        Figure::new("taken by others, fast", fast, "% of a CPU"),
    ];
    Some(Finding {
        share: parted.lost(),
        confidence: Confidence::Medium,
        sentence: format!(
            "{}: other programs and the hypervisor took {slow:.0} % of a CPU in the slow ones, and \
             {fast:.0} % in the fast ones",
            parted.words()
        ),
        figures: parted.figures(correlation).into_iter().chain(taken).collect(),
    })
}

/// Of a CPU.
const LEAST_SHARE: f64 = 0.1;
