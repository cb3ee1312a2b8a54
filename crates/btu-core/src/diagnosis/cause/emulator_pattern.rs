//! The emulator dropped what it was asked to drop.

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
    name: "emulator-pattern",
    site: Site::Path,
    basis: Basis::Counted,
    about: "the emulated link dropped what its pattern asks for",
    remedy: "nothing: the case asks for it; compare with cases without drops",
    explains: &["congestion-window", "fast-retransmit", "small-queue", "tail-loss", "timeout"],
    find,
};

/// What was marked packet by packet, and never more than the link counted where that is known: a link whose marks
/// say nothing of queues marks what those dropped as well.
fn asked(seen: &Seen<'_>) -> u64 {
    let counts = seen.counts();
    let marked = counts.dropped - counts.queue_full - counts.managed;
    let Some(told) = seen.evidence.asked_drops else { return marked };
    seen.evidence.in_capture(told).max(marked.min(told))
}

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let asked = asked(seen);
    let again = seen.counts().retransmissions;
    if asked == 0 || again == 0 || again > asked * 2 + 3 {
        return None;
    }
    let share = seen.share(seen.repairs.cost()).max(0.01);
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the emulated link dropped {} because it was asked to, which explains the {}",
            several(asked, "packet"),
            several(again, "retransmission")
        ),
        figures: vec![
            Figure::new("drops asked for", float(asked), ""),
            Figure::new("retransmissions", float(again), ""),
        ],
    })
}
