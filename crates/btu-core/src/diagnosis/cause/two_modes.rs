//! A connection that runs in one of two modes, at two speeds, and keeps the one that it is in.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::repeats::Parted;
use crate::diagnosis::repeats::Repeat;
use crate::diagnosis::repeats::TELLING;
use crate::diagnosis::seen::Seen;

pub(super) const CAUSE: Cause = Cause {
    name: "two-modes",
    site: Site::Own,
    basis: Basis::Counted,
    about: "passes fall into two speeds by whether the receiver's window joins small writes",
    remedy: "both speeds are what an application gets: write larger messages, or join them (MSG_MORE, \
             TCP_CORK); a bounded receive buffer (SO_RCVBUF, some 256 KiB) keeps to the fast one; give both \
             speeds, over more passes and longer windows, instead of their mean",
    explains: &[],
    find,
};

/// While the window is open, each write leaves at once, a packet of its own, and the sender's end is
/// the slower one: the window stays open. While it is shut, writes collect and leave as large packets
/// when the reader makes room; that costs the sender so little that the reader is the slower end: the
/// window stays shut.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    let (parted, [slow, fast], correlation) = Parted::by(seen, Repeat::held)?;
    if correlation < TELLING || fast - slow < LEAST_SHARE {
        return None;
    }
    let joined = parted.means(Repeat::joined);
    let counted = joined.map_or_else(String::new, |[slow, fast]| {
        format!(" ({fast:.0} segments for each answer, and {slow:.0} in the slow ones)")
    });
    let [slow, fast] = [slow, fast].map(|share| share * 100.0);
    let joined = joined.into_iter().flat_map(|[slow, fast]| {
        [
            Figure::new("segments for each answer, slow", slow, ""),
            Figure::new("segments for each answer, fast", fast, ""),
        ]
    });
    let held = [
        Figure::new("kept back by the window, slow", slow, "%"),
        Figure::new("kept back by the window, fast", fast, "%"),
    ];
    Some(Finding {
        share: parted.lost(),
        confidence: Confidence::Medium,
        sentence: format!(
            "{}: in the fast ones the receiver's window was shut, and kept the sender back, {fast:.0} % of \
             the time, so that writes left joined to large packets{counted}; in the slow ones it was for \
             {slow:.0} %, and each write left at once, by itself. Either mode keeps itself up",
            parted.words()
        ),
        figures: parted.figures(correlation).into_iter().chain(held).chain(joined).collect(),
    })
}

/// Of the time: less is no other mode.
const LEAST_SHARE: f64 = 0.2;
