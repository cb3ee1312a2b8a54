//! A black box was the limit, not the host under test.

use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "blackbox-limited",
    about: "a black box was the limit: the figure is a lower bound for the host under test",
    remedy: "a faster black box, or more CPUs for its role",
    explains: &[],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let reasons = &seen.evidence.blackbox;
    let first = reasons.first()?;
    Some(Finding {
        share: 0.5,
        confidence: Confidence::Medium,
        sentence: format!("a black box was the limit: {first}"),
        figures: vec![Figure::new("reasons", float(reasons.len() as u64), "")],
    })
}
