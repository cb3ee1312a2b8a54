//! Nagle's algorithm at the sender waits for an acknowledgement that the receiver delays.

use super::Basis;
use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::Site;
use super::seen::Seen;
use crate::tcp::Limit;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "delayed-ack-nagle",
    site: Site::Path,
    basis: Basis::Waits,
    about: "the sender holds a small segment back until a delayed acknowledgement comes",
    remedy: "write each message with one call, or set TCP_NODELAY at the sender",
    explains: &["application", "congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let stalls = seen.counts().nagle_stalls;
    let share = seen.waited(Limit::DelayedAck);
    if stalls < 2 || share < LEAST_SHARE {
        return None;
    }
    let each = seen.stream.waited_for(Limit::DelayedAck).millis() / float(stalls);
    Some(Finding {
        share,
        confidence: if stalls >= 3 { Confidence::High } else { Confidence::Medium },
        sentence: format!(
            "{stalls} times a small segment was held back until a delayed acknowledgement came, \
             {each:.0} ms each: Nagle's algorithm meets delayed acknowledgements"
        ),
        figures: vec![
            Figure::new("stalls", float(stalls), ""),
            Figure::new("time per stall", each, "ms"),
            Figure::by_packets(share),
        ],
    })
}

const LEAST_SHARE: f64 = 0.05;
