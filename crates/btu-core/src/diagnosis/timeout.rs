//! Losses that only the retransmission timer repaired.

use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "timeout",
    about: "losses so large that only the retransmission timer repairs them",
    remedy: "find where bursts are lost: queues, policers, receive rings along the path; pace the sender",
    explains: &["congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let repairs = seen.repairs;
    if repairs.timeouts == 0 {
        return None;
    }
    let share = seen.share(repairs.timeout + repairs.other);
    let (count, longest) = (repairs.timeouts, repairs.longest.millis());
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the retransmission timer ran out {count} times, the longest wait was {longest:.0} ms, and {} \
             segments were sent again behind it",
            seen.counts().after_timeout
        ),
        figures: vec![
            Figure::new("timeouts", float(count), ""),
            Figure::new("longest wait", longest, "ms"),
            Figure::new("retransmissions", float(seen.counts().retransmissions), ""),
            Figure::new("share of the time", share * 100.0, "%"),
        ],
    })
}
