//! Nagle's algorithm at the sender waits for an acknowledgement that the receiver delays.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::Limit;
use crate::tcp::Stream;
use crate::tcp::float;
use crate::units::Nanos;

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
    if !holds_back(seen.stream) {
        return None;
    }
    let stalls = seen.counts().nagle_stalls;
    let share = seen.waited(Limit::DelayedAck);
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

/// Again and again, and for more than a moment.
pub(super) fn holds_back(stream: &Stream) -> bool {
    let held = stream.waited_for(Limit::DelayedAck);
    let is_long = held > Nanos::ZERO && held.seconds() >= stream.active().seconds() * LEAST_SHARE;
    stream.counts.nagle_stalls >= FEWEST && is_long
}

const FEWEST: u64 = 2;
const LEAST_SHARE: f64 = 0.05;
