//! The receiver's own host dropped segments for want of memory.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::ratio;
use crate::tcp::float;
use crate::words::several;

pub(super) const CAUSE: Cause = Cause {
    name: "receiver-drops",
    site: Site::Receiver,
    basis: Basis::Counted,
    about: "the receiver's own host dropped segments that had arrived, for want of buffer memory",
    remedy: "raise SO_RCVBUF (net.core.rmem_max bounds it) or net.ipv4.tcp_rmem, and net.ipv4.tcp_mem where \
             the host ran out; let the receiver read sooner",
    explains: &["congestion-window", "fast-retransmit", "small-queue", "tail-loss", "timeout"],
    find,
};

/// Packets show that something was lost; only the receiver's kernel knows that it was there.
fn find(seen: &Seen<'_>) -> Option<Finding> {
    let dropped = seen.evidence.in_capture(seen.evidence.receiver.counted(&DROPPED));
    let losses = seen.losses();
    if dropped == 0 || losses == 0 || ratio(dropped, losses) < LEAST_PART {
        return None;
    }
    let share = seen.share(seen.repairs.cost()).max(SMALLEST);
    let mut figures: Vec<Figure> = DROPPED
        .iter()
        .filter_map(|name| Some((*name, seen.evidence.receiver.counter(name)?)))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| Figure::new(name, float(count), ""))
        .collect();
    figures.push(Figure::new("losses", float(losses), ""));
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the receiver's host dropped {} that had arrived, for want of memory, which explains what \
             was lost ({losses} in all)",
            several(dropped, "segment")
        ),
        figures,
    })
}

/// `Documentation/networking/snmp_counter.rst`: backlog of a socket in use, receive queue above its
/// limit, queue of segments out of order.
const DROPPED: [&str; 4] =
    ["TcpExt.RcvPruned", "TcpExt.TCPBacklogDrop", "TcpExt.TCPOFODrop", "TcpExt.TCPRcvQDrop"];
const LEAST_PART: f64 = 0.5;
const SMALLEST: f64 = 0.003;
