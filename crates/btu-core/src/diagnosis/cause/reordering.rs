//! Segments overtook each other and were taken for lost.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::ratio;
use crate::tcp::float;

pub(super) const CAUSE: Cause = Cause {
    name: "reordering",
    site: Site::Path,
    basis: Basis::Counted,
    about: "segments overtook each other, and the sender took them for lost",
    remedy: "keep one flow on one path and one queue (no per-packet balancing); let the sender use RACK \
             (net.ipv4.tcp_recovery=1)",
    explains: &["congestion-window", "fast-retransmit"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let counts = seen.counts();
    let is_seen = counts.out_of_order > 0;
    let is_guess = !seen.has_sack && !is_seen;
    if is_guess && has_losses(seen) {
        return None;
    }
    let told = seen.needless().saturating_sub(counts.tail_probes + counts.timeouts);
    let needless = told.min(counts.fast).max(seen.repairs.spurious);
    let repairs = counts.fast + seen.repairs.spurious + counts.resent;
    if needless == 0 || repairs == 0 || ratio(needless, repairs) < 0.5 {
        return None;
    }
    let share = seen.share(seen.repairs.other.cost()).max(SMALLEST);
    Some(Finding {
        share,
        confidence: match is_seen || needless > 1 {
            _ if is_guess => Confidence::Low,
            true => Confidence::High,
            false => Confidence::Medium,
        },
        sentence: format!(
            "{needless} of {repairs} retransmissions for nothing: the receiver had the bytes \
             already; segments overtook each other ({} seen here)",
            counts.out_of_order
        ),
        figures: vec![
            Figure::new("needless retransmissions", float(needless), ""),
            Figure::new("retransmissions", float(repairs), ""),
            Figure::new("segments out of order", float(counts.out_of_order), ""),
            Figure::new("duplicate SACKs", float(counts.duplicate_sacks), ""),
        ],
    })
}

/// Without SACK a sender repeats behind each loss what had arrived.
fn has_losses(seen: &Seen<'_>) -> bool {
    let told = seen.evidence.asked_drops.max(seen.evidence.queue_drops).unwrap_or(0);
    seen.losses() > 0 || seen.counts().dropped > 0 || told > 0
}

const SMALLEST: f64 = 0.002;
