//! After each idle time the sender begins again with a small window.

use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::seen::Seen;
use crate::tcp::Restart;
use crate::tcp::float;
use crate::tcp::total;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "slow-start-after-idle",
    about: "the sender forgets its congestion window while it is idle",
    remedy: "net.ipv4.tcp_slow_start_after_idle=0 at the sender, or a second connection kept warm",
    explains: &["application", "congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let slow: Vec<&Restart> =
        seen.stream.restarts.iter().filter(|one| is_slow(seen, one)).collect();
    let first = slow.first()?;
    let lost = total(slow.iter().map(|one| one.duration));
    let idle = total(slow.iter().map(|one| one.idle));
    let busy = seen.active.since(idle).max(Nanos::new(1));
    let share = (lost.seconds() / busy.seconds()).min(1.0);
    if share < LEAST_SHARE {
        return None;
    }
    let count = slow.len() as u64;
    Some(Finding {
        share,
        confidence: if count >= 2 { Confidence::High } else { Confidence::Medium },
        sentence: format!(
            "{count} times the sender began again with {} B in flight after {:.0} ms without data, where \
             {} B had been in flight before",
            first.first_flight,
            first.idle.millis(),
            first.flight_before
        ),
        figures: vec![
            Figure::new("restarts", float(count), ""),
            Figure::new("first flight", float(first.first_flight), "B"),
            Figure::new("flight before", float(first.flight_before), "B"),
            Figure::new("time of growing again", lost.millis(), "ms"),
        ],
    })
}

const LEAST_SHARE: f64 = 0.05;

/// A small first flight, then rounds that acknowledgements clock. A single segment is not the restart
/// window (RFC 5681, 4.1) but what the retransmission timer leaves (3.1).
fn is_slow(seen: &Seen<'_>, one: &Restart) -> bool {
    let mss = seen.mss().max(1);
    let small = (mss + 1..=12 * mss).contains(&one.first_flight);
    small && one.clocked >= 1 && one.flight_before >= one.first_flight * 2
}
