//! Segments overtook each other and were taken for lost.

use super::Basis;
use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::Site;
use super::seen::Seen;
use super::seen::ratio;
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
    // Without SACK a sender repeats behind each loss what had arrived.
    if !seen.has_sack && counts.out_of_order == 0 {
        return None;
    }
    let told = seen.needless().saturating_sub(counts.tail_probes + counts.timeouts);
    let needless = told.min(counts.fast).max(seen.repairs.spurious);
    let repairs = counts.fast + seen.repairs.spurious + counts.resent;
    if needless == 0 || repairs == 0 || ratio(needless, repairs) < 0.5 {
        return None;
    }
    let share = seen.share(seen.repairs.other.cost()).max(SMALLEST);
    let is_seen = counts.out_of_order > 0;
    Some(Finding {
        share,
        confidence: if is_seen || needless > 1 { Confidence::High } else { Confidence::Medium },
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

const SMALLEST: f64 = 0.002;
