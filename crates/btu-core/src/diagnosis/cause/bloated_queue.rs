//! A rate limit whose queue holds so much that round trips become long.

use super::small_queue::is_bloated;
use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::quantile;
use crate::tcp::Limit;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "bloated-queue",
    site: Site::Path,
    basis: Basis::Waits,
    about: "a rate limit whose large queue makes round trips long",
    remedy: "an active queue (fq_codel, CAKE) at the rate limit, or with a shaper just below it where that \
             queue is not yours; or BBR at the sender",
    explains: &["congestion-window", "fast-retransmit", "tail-loss", "timeout"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let trips = seen.round_trips();
    let (least, usual) = (quantile(&trips, 0.0), quantile(&trips, 0.5));
    let peak = seen.stream.flight_peak();
    if !is_bloated(seen) || peak < 20 * seen.mss() {
        return None;
    }
    let bound = least * 3;
    let long = trips.iter().filter(|trip| **trip >= bound).count();
    // Round trips are of the time in which there was something new to send.
    let elsewhere = seen.waited(Limit::Application) + seen.waited(Limit::Recovery);
    let sending = (1.0 - elsewhere).max(0.0);
    let share = float(long as u64) / float(trips.len() as u64) * sending;
    let (least, usual) = (least.millis(), usual.millis());
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "round trips grew from {least:.1} ms to {usual:.0} ms with {peak} B in flight: a queue in front \
             of a rate limit holds too much"
        ),
        figures: vec![
            Figure::new("shortest round trip", least, "ms"),
            Figure::new("median round trip", usual, "ms"),
            Figure::new("most in flight", float(peak), "B"),
        ],
    })
}
