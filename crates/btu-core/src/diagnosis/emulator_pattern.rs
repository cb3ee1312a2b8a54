//! The emulator dropped what it was asked to drop.

use super::Basis;
use super::Cause;
use super::Confidence;
use super::Figure;
use super::Finding;
use super::Site;
use super::seen::Seen;
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

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let told = seen.evidence.in_capture(seen.evidence.asked_drops.unwrap_or(0));
    let asked = told.max(seen.counts().dropped);
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
