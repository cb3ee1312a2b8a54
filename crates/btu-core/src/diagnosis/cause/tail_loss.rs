//! The last segments of a burst were lost: nothing behind them told of it.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::float;
use crate::words::times;

pub(super) const CAUSE: Cause = Cause {
    name: "tail-loss",
    site: Site::Path,
    basis: Basis::Counted,
    about: "the last segments of a burst were lost, and no later ones told of it",
    remedy: "keep tail loss probes and SACK on (net.ipv4.tcp_early_retrans=3, net.ipv4.tcp_sack=1); find \
             where packets are lost",
    explains: &["congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let (counts, repairs) = (seen.counts(), seen.repairs);
    // A probe that was not needed brings a duplicate SACK.
    let needed = repairs.tail.count.saturating_sub(seen.needless().min(counts.tail_probes));
    if needed == 0 {
        return None;
    }
    let share = seen.share(repairs.tail.cost()).max(SMALLEST);
    let wait = repairs.tail.waited.millis() / float(repairs.tail.count);
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the end of a burst was lost {}; it was noticed {wait:.1} ms later, by probes and timers ({})",
            times(needed),
            repairs.tail.count
        ),
        figures: vec![
            Figure::new("lost tails", float(needed), ""),
            Figure::new("tail loss probes", float(counts.tail_probes), ""),
            Figure::new("mean wait", wait, "ms"),
            Figure::by_packets(share),
        ],
    })
}

const SMALLEST: f64 = 0.002;
