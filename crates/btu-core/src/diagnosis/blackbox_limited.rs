//! A black box was the limit, not the host under test.

use super::Cause;
use super::Confidence;
use super::EndEvidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "blackbox-limited",
    about: "a black box was the limit: the figure is a lower bound for the host under test",
    remedy: "a faster black box, or more CPUs for its role",
    explains: &[
        "application",
        "congestion-window",
        "slow-reader",
        "small-receive-buffer",
        "stolen-time",
        "unknown",
    ],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let evidence = seen.evidence;
    let ends = [(&evidence.sender, &evidence.receiver), (&evidence.receiver, &evidence.sender)];
    ends.into_iter().find_map(|(end, other)| without_rest(seen, end, other)).or_else(|| told(seen))
}

/// A data thread that never rests sets the pace, whatever the packets look like: at a receiver its
/// window shuts, at a sender there is nothing to send. Unless the other end never rests either.
fn without_rest(seen: &Seen<'_>, end: &EndEvidence, other: &EndEvidence) -> Option<Finding> {
    let role = end.role.filter(|_| end.is_black_box())?;
    let share = wanted(seen, end)?;
    let [ran, waited] =
        [end.cpu, end.run_delay].map(|time| seen.observed(time).unwrap_or(0.0) * 100.0);
    let is_limit = share >= NEVER_RESTS && wanted(seen, other).is_none_or(|it| it < NEVER_RESTS);
    is_limit.then(|| Finding {
        share: share.min(1.0),
        confidence: Confidence::High,
        sentence: format!(
            "the data thread of {role} never rested: it ran {ran:.0} % of the time and waited for a CPU \
             {waited:.0} %; the test host could do no more"
        ),
        figures: vec![
            Figure::new("CPU used by the black box", ran, "%"),
            Figure::new("its run-queue delay", waited, "%"),
        ],
    })
}

/// The share of the time in which a data thread ran or could have run.
fn wanted(seen: &Seen<'_>, end: &EndEvidence) -> Option<f64> {
    Some(seen.observed(end.cpu)? + seen.observed(end.run_delay).unwrap_or(0.0))
}

/// What the rule of that name says.
fn told(seen: &Seen<'_>) -> Option<Finding> {
    let reasons = &seen.evidence.blackbox;
    let first = reasons.first()?;
    Some(Finding {
        share: 0.5,
        confidence: Confidence::Medium,
        sentence: format!("a black box was the limit: {first}"),
        figures: vec![Figure::new("reasons", float(reasons.len() as u64), "")],
    })
}

/// The rest is the call into the kernel and out of it.
const NEVER_RESTS: f64 = 0.9;
