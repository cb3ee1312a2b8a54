//! After each idle time the sender begins again with a small window.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::missing;
use crate::tcp::Restart;
use crate::tcp::float;
use crate::tcp::total;
use crate::units::Nanos;
use crate::words::times;

pub(super) const CAUSE: Cause = Cause {
    name: "slow-start-after-idle",
    site: Site::Path,
    basis: Basis::Waits,
    about: "the sender forgets its congestion window while it is idle",
    remedy: "net.ipv4.tcp_slow_start_after_idle=0 at the sender; small messages in between keep no window \
             open (RFC 2861)",
    explains: &["application", "congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let slow: Vec<&Restart> =
        seen.stream.restarts.iter().filter(|one| is_slow(seen, one)).collect();
    let first = slow.first()?;
    let lost = total(slow.iter().map(|one| growing(seen, one)));
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
            "the sender began again {} with {} B in flight after {:.0} ms without data, where {} B had \
             been in flight before",
            times(count),
            first.first_flight,
            first.idle.millis(),
            first.flight_before
        ),
        figures: vec![
            Figure::new("restarts", float(count), ""),
            Figure::new("first flight", float(first.first_flight), "B"),
            Figure::new("flight before", float(first.flight_before), "B"),
            Figure::new("time lost by growing again", lost.millis(), "ms"),
        ],
    })
}

const LEAST_SHARE: f64 = 0.05;

/// What the small flight cost until it was back: while a line is full, it costs nothing.
fn growing(seen: &Seen<'_>, one: &Restart) -> Nanos {
    let end = one.at.saturating_add(one.duration);
    let sent = &seen.stream.sent;
    let first = sent.partition_point(|sent| sent.at < one.at);
    let inside = sent[first..].iter().take_while(|sent| sent.at <= end);
    let mut last = None;
    total(inside.map(|sent| {
        let (at, flight) = last.replace((sent.at, sent.flight)).unwrap_or((sent.at, 0));
        missing(seen.stream, [at, sent.at], [flight, one.flight_before])
    }))
}

/// A small first flight, then rounds that acknowledgements clock. A single segment is not the restart
/// window (RFC 5681, 4.1) but what the retransmission timer leaves (3.1).
fn is_slow(seen: &Seen<'_>, one: &Restart) -> bool {
    let mss = seen.mss().max(1);
    let small = (mss + 1..=12 * mss).contains(&one.first_flight);
    small && one.clocked >= 1 && one.flight_before >= one.first_flight * 2
}
