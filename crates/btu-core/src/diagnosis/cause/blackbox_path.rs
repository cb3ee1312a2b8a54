//! What lies in front of a black box was the limit: its emulator, or losses that nobody asked for.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::Limit;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "blackbox-path",
    site: Site::Path,
    basis: Basis::Waits,
    about: "the emulator in front of a black box was late or at its limit, or the box sent again what nobody \
            asked to drop: the figure is a lower bound for the host under test",
    remedy: "a CPU that the emulator has to itself, or a slower link; where segments were sent again, look at \
             the network of the black box",
    explains: &["congestion-window", "unknown"],
    find,
};

/// What the rule `blackbox-limited` says, data threads aside. How much it cost nobody measured: at most half,
/// and nothing of the time in which the application had nothing to send.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    let reasons = &seen.evidence.blackbox;
    let first = reasons.first()?;
    let bound = seen.worked.spare(Site::Path, Basis::Waits).min(MOST);
    let share = bound.min(1.0 - seen.waited(Limit::Application));
    (share >= LEAST).then(|| Finding {
        share,
        confidence: Confidence::Medium,
        sentence: format!("a black box was the limit: {first}"),
        figures: vec![Figure::new("reasons", float(reasons.len() as u64), "")],
    })
}

const MOST: f64 = 0.5;
const LEAST: f64 = 0.1;
