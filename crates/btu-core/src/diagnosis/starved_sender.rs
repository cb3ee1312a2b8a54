//! The sending thread waited for a CPU.

use super::Cause;
use super::Confidence;
use super::EndEvidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;

pub(super) const CAUSE: Cause = Cause {
    name: "starved-sender",
    about: "the sending thread was runnable but did not get a CPU",
    remedy: "give the sender a CPU: fewer threads, another placement, a higher priority",
    explains: &["application"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    starved(seen, seen.evidence.sender, "sending")
}

/// The scheduler counts how long a thread waited for a CPU.
pub(super) fn starved(seen: &Seen<'_>, end: EndEvidence, which: &str) -> Option<Finding> {
    let waited = seen.observed(end.run_delay).filter(|share| *share >= LEAST_SHARE)?;
    let used = seen.observed(end.cpu).unwrap_or(0.0);
    Some(Finding {
        share: waited,
        confidence: if waited >= 0.3 { Confidence::High } else { Confidence::Medium },
        sentence: format!(
            "the {which} thread waited for a CPU {:.0} % of the time and ran {:.0} %",
            waited * 100.0,
            used * 100.0
        ),
        figures: vec![
            Figure::new("run-queue delay", waited * 100.0, "%"),
            Figure::new("CPU used", used * 100.0, "%"),
        ],
    })
}

const LEAST_SHARE: f64 = 0.15;
