//! The receiving application reads slower than data comes: its window shuts.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::Limit;
use crate::tcp::Span;
use crate::tcp::float;
use crate::tcp::total;
use crate::words::times;

pub(super) const CAUSE: Cause = Cause {
    name: "slow-reader",
    site: Site::Receiver,
    basis: Basis::Waits,
    about: "the receiving application reads slower than data comes, so its window shuts",
    remedy: "look at the receiving application: it is busy, waits for a disk, or reads in small pieces",
    explains: &["congestion-window", "small-receive-buffer"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let shut = total(seen.stream.zero_windows.iter().copied().map(Span::length));
    let squeezed = seen.stream.squeezed();
    let limited = seen.stream.waited_for(Limit::ReceiverWindow);
    let share = seen.share(shut).max(seen.share(limited).min(1.0));
    let of_limited = seen.share(squeezed.max(shut)) / seen.share(limited).max(1e-9);
    let largest = seen.stream.window_bytes.map_or(0, |[_, largest]| largest);
    // A tiny buffer shuts now and then, however fast its reader is.
    let part = if largest > TINY { 0.4 } else { 0.8 };
    if !seen.stream.window_is_known || share < LEAST_SHARE || of_limited < part {
        return None;
    }
    let (count, shut) = (seen.stream.zero_windows.len() as u64, shut.millis());
    let squeezed = squeezed.millis();
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the receiver's window was shut {}, {shut:.0} ms together, and {squeezed:.0} ms too small to \
             go on: its application does not read as fast as data comes",
            times(count)
        ),
        figures: vec![
            Figure::new("window shut", shut, "ms"),
            Figure::new("times", float(count), ""),
            Figure::new("window too small", squeezed, "ms"),
            Figure::new("largest window", float(largest), "B"),
            Figure::by_packets(share),
        ],
    })
}

const LEAST_SHARE: f64 = 0.1;
const TINY: u64 = 32 << 10;
