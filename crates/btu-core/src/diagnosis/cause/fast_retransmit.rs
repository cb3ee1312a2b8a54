//! Single losses that duplicate or selective acknowledgements repaired.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::float;
use crate::words::several;

pub(super) const CAUSE: Cause = Cause {
    name: "fast-retransmit",
    site: Site::Path,
    basis: Basis::Counted,
    about: "losses that duplicate or selective acknowledgements repaired within a round trip",
    remedy: "find where packets are lost; a congestion control that goes by losses makes some where it \
             fills the path",
    explains: &["congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let counts = seen.counts();
    // Behind a timeout or a probe for the tail the same acknowledgements repair the rest.
    let needless = seen.needless();
    let tails = seen.repairs.tail.count.saturating_sub(needless.min(counts.tail_probes));
    let is_own = seen.repairs.timeout.count == 0 && tails == 0;
    let needed = counts.fast.saturating_sub(needless.saturating_sub(counts.tail_probes));
    if needed == 0 || !(is_own || needed >= FEWEST_BESIDE) {
        return None;
    }
    let share = seen.share(seen.repairs.other.cost()).max(SMALLEST);
    let beside = format!("{}{}", without_sack(seen), by_codel(seen));
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "{needed} of {} segments had to be sent again after {} duplicate acknowledgements{beside}",
            counts.data_segments, counts.duplicate_acks
        ),
        figures: vec![
            Figure::new("fast retransmissions", float(needed), ""),
            Figure::new("duplicate acknowledgements", float(counts.duplicate_acks), ""),
            Figure::new("segments with data", float(counts.data_segments), ""),
            Figure::by_packets(share),
        ],
    })
}

/// Who does not know what arrived behind a loss sends it again.
fn without_sack(seen: &Seen<'_>) -> String {
    let needless = seen.needless();
    if seen.has_sack || needless == 0 {
        return String::new();
    }
    let were = if needless == 1 { "was" } else { "were" };
    format!(
        ", and {needless} more {were} sent for nothing, without SACK, which one of the SYNs does not offer \
         (net.ipv4.tcp_sack)"
    )
}

/// That drops where packets wait for too long: the sender sent more than the path carries.
fn by_codel(seen: &Seen<'_>) -> String {
    let managed = seen.counts().managed;
    if managed == 0 {
        return String::new();
    }
    format!("; CoDel of the emulated link dropped {}", several(managed, "packet"))
}

const FEWEST_BESIDE: u64 = 3;
const SMALLEST: f64 = 0.001;
