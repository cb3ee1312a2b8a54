//! Losses that only the retransmission timer repaired.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::float;
use crate::tcp::total;
use crate::words::several;
use crate::words::times;

pub(super) const CAUSE: Cause = Cause {
    name: "timeout",
    site: Site::Path,
    basis: Basis::Counted,
    about: "losses so large that only the retransmission timer repairs them",
    remedy: "find where bursts are lost: queues, policers, receive rings along the path; pace the sender; \
             keep SACK on (net.ipv4.tcp_sack=1)",
    explains: &["congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    if seen.repairs.timeout.count == 0 {
        return told(seen);
    }
    let repairs = seen.repairs;
    let share = seen.share(repairs.timeout.cost());
    let (count, longest) = (repairs.timeout.count, repairs.longest.millis());
    let mut figures = vec![
        Figure::new("timeouts", float(count), ""),
        Figure::new("longest wait", longest, "ms"),
        Figure::new("retransmissions", float(seen.counts().retransmissions), ""),
        Figure::by_packets(share),
    ];
    let again = seen.evidence.sender.counter("TcpExt.TCPLostRetransmit");
    figures.extend(again.map(|count| Figure::new("retransmissions lost again", float(count), "")));
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the retransmission timer ran out {}, the longest wait was {longest:.0} ms, and {} went out \
             again behind it",
            times(count),
            several(seen.counts().after_timeout, "segment")
        ),
        figures,
    })
}

/// A flight that was lost whole leaves a pause at the receiver; the sender's kernel knows better.
fn told(seen: &Seen<'_>) -> Option<Finding> {
    let pauses = seen.told_timeouts();
    let time = total(pauses.iter().map(|wait| wait.length()));
    let longest = pauses.iter().map(|wait| wait.longest).max()?.millis();
    let (count, share) = (pauses.len() as u64, seen.share(time));
    Some(Finding {
        share,
        confidence: Confidence::High,
        sentence: format!(
            "the sender's kernel counted timeouts of its retransmission timer; pauses as long as one: \
             {count}, the longest of {longest:.0} ms"
        ),
        figures: vec![
            Figure::new("timeouts that the sender counted", float(seen.timeouts_told()), ""),
            Figure::new("pauses as long as one", float(count), ""),
            Figure::new("longest pause", longest, "ms"),
            Figure::by_packets(share),
        ],
    })
}
