//! The sender's buffer is too small for the path.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::Limit;
use crate::tcp::float;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "small-send-buffer",
    site: Site::Path,
    basis: Basis::Waits,
    about: "the sender's buffer is smaller than what the path carries in a round trip",
    remedy: "raise SO_SNDBUF (net.core.wmem_max bounds it) or leave it unset, so that the kernel tunes it \
             (net.ipv4.tcp_wmem)",
    explains: &["congestion-window"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let told =
        seen.observed(seen.evidence.sender.buffer_limited).filter(|told| *told >= LEAST_SHARE);
    let flight = plateau(seen).filter(|flight| fills_the_buffer(seen, *flight));
    let share = told.or_else(|| flight.map(|_| seen.waited(Limit::CongestionWindow)))?;
    let peak = seen.stream.flight_peak();
    let sentence = match told {
        Some(told) => format!(
            "the kernel says that the sender waited {:.0} % of the time for room in its own buffer",
            told * 100.0
        ),
        None => format!(
            "never more than {peak} B were in flight, at any time the same, without a loss and with room \
             in the receiver's window: the send buffer holds no more, or the application has a window of \
             its own (SSH, SMB, HTTP/2)"
        ),
    };
    let buffer = seen.evidence.sender.send_buffer_bytes;
    let mut figures = vec![
        Figure::new("most in flight", float(peak), "B"),
        Figure::new("round trip", seen.round_trip.millis(), "ms"),
        Figure::new("limited by it", share * 100.0, "%"),
    ];
    figures.extend(buffer.map(|buffer| Figure::new("send buffer", float(buffer), "B")));
    let confidence = if told.is_some() { Confidence::High } else { Confidence::Medium };
    Some(Finding { share, confidence, sentence, figures })
}

/// The same flight all the time, reached in the first part: a congestion window would grow.
fn plateau(seen: &Seen<'_>) -> Option<u64> {
    let waits = seen.waited(Limit::CongestionWindow);
    let [_, largest] = seen.stream.window_bytes?;
    let peak = seen.stream.flight_peak();
    let has_room = peak + 2 * seen.mss() < largest;
    if waits < LEAST_WAIT || seen.losses() > 0 || !has_room || !seen.lasts(20) {
        return None;
    }
    let begin = seen.stream.sent.first()?.at;
    let part = |number: u64| {
        let from = begin + Nanos::new(seen.active.count() / 5 * number);
        let to = begin + Nanos::new(seen.active.count() / 5 * (number + 1));
        let inside = seen.stream.sent.iter().filter(|sent| sent.at >= from && sent.at < to);
        inside.map(|sent| sent.flight).max().unwrap_or(0)
    };
    let parts = [part(1), part(2), part(3), part(4)];
    parts.iter().all(|flight| *flight * 10 >= peak * 9).then_some(peak)
}

/// A congestion window that is bounded looks the same in the packets; where the buffer is known, it holds
/// more than what is in flight then.
fn fills_the_buffer(seen: &Seen<'_>, flight: u64) -> bool {
    seen.evidence.sender.send_buffer_bytes.is_none_or(|buffer| flight * 4 >= buffer * 3)
}

const LEAST_SHARE: f64 = 0.2;
const LEAST_WAIT: f64 = 0.3;
