//! The congestion window stays small for the path.

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
    name: "congestion-window",
    site: Site::Path,
    basis: Basis::Waits,
    about: "the sender waits for acknowledgements although the receiver's window has room",
    remedy: "a longer transfer, a larger initial window or another congestion control; find the losses, if any",
    explains: &[],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let share = seen.waited(Limit::CongestionWindow);
    if share < LEAST_SHARE || !seen.lasts(30) || seen.counts().data_segments < 100 {
        return None;
    }
    let peak = seen.stream.flight_peak();
    let round_trip = seen.round_trip.millis();
    Some(Finding {
        share,
        confidence: Confidence::Medium,
        sentence: format!(
            "the sender waited for acknowledgements {:.0} % of the time with at most {peak} B in flight \
             over a round trip of {round_trip:.1} ms, and the receiver's window had room",
            share * 100.0
        ),
        figures: vec![
            Figure::new("most in flight", float(peak), "B"),
            Figure::new("round trip", round_trip, "ms"),
            Figure::by_packets(share),
        ],
    })
}

const LEAST_SHARE: f64 = 0.5;
