//! The receiver offers a few bytes at a time, and the sender takes them.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::ratio;
use crate::tcp::Limit;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "silly-window",
    // Segments of a few bytes keep both ends busy: their work is what it costs.
    site: Site::Own,
    basis: Basis::Counted,
    about: "the receiver offers a few bytes at a time, and the sender fills them with tiny segments",
    remedy: "let the receiver read larger pieces, and keep its buffer above two segments (RFC 9293, 3.8.6.2)",
    explains: &["slow-reader", "small-receive-buffer"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let counts = seen.counts();
    let part = ratio(counts.silly, counts.data_segments);
    if counts.silly < FEWEST || part < LEAST_PART {
        return None;
    }
    let share = seen.waited(Limit::ReceiverWindow).max(part);
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "{} of {} segments are below half a segment because the window had no room for more",
            counts.silly, counts.data_segments
        ),
        figures: vec![
            Figure::new("small segments", float(counts.silly), ""),
            Figure::new("segments with data", float(counts.data_segments), ""),
            Figure::new("largest segment", float(seen.mss()), "B"),
        ],
    })
}

const FEWEST: u64 = 5;
const LEAST_PART: f64 = 0.2;
