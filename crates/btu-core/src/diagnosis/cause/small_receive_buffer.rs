//! The receiver's window is too small for the path.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::ratio;
use crate::tcp::Limit;
use crate::tcp::float;
use crate::tcp::total;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "small-receive-buffer",
    site: Site::Own,
    basis: Basis::Waits,
    about: "the receiver's window is smaller than what the path carries in a round trip",
    remedy: "raise SO_RCVBUF (net.core.rmem_max bounds it) or leave it unset, so that the kernel tunes it \
             (net.ipv4.tcp_rmem); keep window scaling on, at both ends and in what is between them",
    explains: &["congestion-window", "small-send-buffer"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let counts = seen.counts();
    let [_, largest] = seen.stream.window_bytes?;
    let limited = seen.waited(Limit::ReceiverWindow);
    let full = ratio(counts.window_full, counts.data_segments);
    let told = seen.observed(seen.evidence.sender.window_limited).unwrap_or(0.0);
    // A window that is being tuned is small in the beginning only.
    let stays = limited >= LEAST_SHARE && stays_limited(seen);
    let is_short = (stays || told >= LEAST_SHARE) && is_used_up_by_the_path(seen, largest);
    let bound = seen.worked.spare(Site::Receiver, Basis::Waits);
    let by_time = if is_short { limited.max(told).min(bound) } else { 0.0 };
    // Acknowledgements that come evenly let it go on in steps too short to be waits.
    let is_paced = full >= LEAST_FULL && lasting(seen, largest) <= ONE_ROUND_TRIP;
    let by_pace = if is_paced { sending(seen).min(bound) } else { 0.0 };
    // A turn for every few segments keeps both ends busy: their work is what it costs.
    let by_count = if full >= LEAST_FULL && largest <= TINY { full * 0.5 } else { 0.0 };
    let share = by_time.max(by_pace).max(by_count);
    if !seen.stream.window_is_known || !seen.lasts(10) || share <= 0.0 {
        return None;
    }
    let round_trip = seen.round_trip.millis();
    Some(Finding {
        share,
        confidence: if full > 0.0 { Confidence::High } else { Confidence::Medium },
        sentence: format!(
            "the receiver never offered more than {largest} B for a round trip of {round_trip:.2} ms, and \
             {} segments filled its window to the last byte{}",
            counts.window_full,
            if seen.is_scaled || largest < MOST_UNSIGNED { "" } else { NOT_SCALED }
        ),
        figures: vec![
            Figure::new("largest window", float(largest), "B"),
            Figure::new("segments that filled it", float(counts.window_full), ""),
            Figure::new("part of all segments that filled it", full * 100.0, "%"),
            Figure::new("round trip", round_trip, "ms"),
            Figure::new("limited by the window", limited.max(told).max(by_pace) * 100.0, "%"),
        ],
    })
}

/// What the path holds in a round trip uses the window up. One that would last for longer is full
/// because somebody does not empty it, and a larger one would be full as well.
fn is_used_up_by_the_path(seen: &Seen<'_>, window: u64) -> bool {
    seen.round_trip == Nanos::ZERO || lasting(seen, window) <= LONG
}

/// For how many round trips the window lasts at the rate of the transfer: a sender that never has more in
/// flight than one window carries one in each round trip (Little's law).
fn lasting(seen: &Seen<'_>, window: u64) -> f64 {
    let time = seen.active.seconds() * sending(seen);
    let lasts = float(window) * time / float(seen.counts().new_bytes).max(1.0);
    lasts / seen.round_trip.seconds()
}

/// Share of the time in which the sender had something new to send.
fn sending(seen: &Seen<'_>) -> f64 {
    let elsewhere = seen.waited(Limit::Application) + seen.waited(Limit::Recovery);
    (1.0 - elsewhere).max(0.0)
}

/// Also in the second half.
fn stays_limited(seen: &Seen<'_>) -> bool {
    let waits = &seen.stream.waits;
    let Some(last) = waits.last() else { return false };
    let half = Nanos::new(seen.active.count() / 2);
    let late = waits.iter().filter(|wait| last.to.since(wait.to) < half);
    let limited = late.filter(|wait| wait.limit == Limit::ReceiverWindow);
    seen.share(total(limited.map(|wait| wait.length()))) >= LEAST_SHARE / 2.0
}

/// RFC 7323, 2.2: without the option in both SYNs.
const NOT_SCALED: &str = "; one of the SYNs offers no window scaling, so that no window can be larger than \
                          65535 B";
/// What some end is careful not to go beyond there (`net.ipv4.tcp_workaround_signed_windows`).
const MOST_UNSIGNED: u64 = 32_767;

const LEAST_SHARE: f64 = 0.2;
const LEAST_FULL: f64 = 0.2;
const TINY: u64 = 32 << 10;
/// Round trips; as with a bloated queue.
const LONG: f64 = 4.0;
/// A window that lasts longer leaves a queue on the path, and the path is the limit.
const ONE_ROUND_TRIP: f64 = 1.05;
