//! A rate limit whose queue is so small that it drops again and again.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::seen::quantile;
use crate::stats::whole_quantile;
use crate::tcp::Mark;
use crate::tcp::float;
use crate::units::Nanos;

pub(super) const CAUSE: Cause = Cause {
    name: "small-queue",
    site: Site::Path,
    basis: Basis::Counted,
    about: "a rate limit whose small queue drops each time the sender has grown to it",
    remedy: "pace the sender (fq, SO_MAX_PACING_RATE), or give the queue a round trip's worth of packets",
    explains: &["congestion-window", "fast-retransmit", "tail-loss", "timeout"],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let told = seen.evidence.in_capture(seen.evidence.queue_drops.unwrap_or(0));
    let dropped = told.max(seen.counts().queue_full);
    let peaks = peaks(seen);
    let flights: Vec<u64> = peaks.iter().map(|peak| peak.flight).collect();
    let (least, most) = (whole_quantile(&flights, 0.25)?, whole_quantile(&flights, 0.75)?);
    let queued = peaks.iter().filter(|peak| peak.is_queued).count();
    let enough = peaks.len() >= FEWEST && seen.losses() >= FEWEST as u64;
    let is_regular = enough && most <= least * 5 / 2 && queued * 4 >= peaks.len() * 3;
    if !(is_regular || dropped > 0) || is_managed(seen) || is_bloated(seen) {
        return None;
    }
    let share = seen.share(seen.repairs.cost());
    let count = peaks.len();
    let trips = seen.round_trips();
    Some(Finding {
        share: share.max(0.05),
        confidence: if dropped > 0 { Confidence::High } else { Confidence::Medium },
        sentence: format!(
            "packets were lost {count} times, each time about when {least} to {most} B were in flight: a \
             queue in front of a rate limit overflows, and it holds little"
        ),
        figures: vec![
            Figure::new("losses", float(count as u64), ""),
            Figure::new("flight at a loss, lower quartile", float(least), "B"),
            Figure::new("flight at a loss, upper quartile", float(most), "B"),
            Figure::new("shortest round trip", quantile(&trips, 0.0).millis(), "ms"),
            Figure::new("round trip, 95 of 100 below", quantile(&trips, 0.95).millis(), "ms"),
            Figure::new("drops of the emulator's queue", float(dropped), ""),
        ],
    })
}

/// What the management of a queue drops comes as regularly, and says nothing of its size; a burst that overflows it as
/// well now and then changes nothing.
fn is_managed(seen: &Seen<'_>) -> bool {
    let managed = seen.counts().managed;
    managed > 0 && managed * 2 >= seen.losses()
}

/// When a repair began.
struct Peak {
    flight: u64,
    /// Round trips were longer than the shortest: something waited in a queue.
    is_queued: bool,
}

/// What was in flight when each repair began, but for the first one: slow start overshoots.
fn peaks(seen: &Seen<'_>) -> Vec<Peak> {
    let trips = &seen.stream.round_trips;
    let least = trips.iter().map(|trip| trip.time).min().unwrap_or(Nanos::ZERO);
    let is_queued = |at: Nanos| {
        let before = trips.partition_point(|trip| trip.at <= at);
        let found = trips[..before].last().map_or(Nanos::ZERO, |trip| trip.time);
        found.count() / 10 * 9 >= least.count()
    };
    let mut found = Vec::new();
    let (mut until, mut highest, mut flight) = (i64::MIN, i64::MIN, 0);
    for sent in &seen.stream.sent {
        let begins = matches!(sent.mark, Mark::Fast | Mark::Timeout | Mark::TailProbe);
        if begins && sent.start >= until {
            found.push(Peak { flight, is_queued: is_queued(sent.at) });
            until = highest;
        }
        if sent.mark == Mark::New {
            flight = sent.flight;
        }
        highest = highest.max(sent.end);
    }
    if found.len() > 1 {
        found.remove(0);
    }
    found
}

/// A queue that holds much makes round trips long before it drops.
pub(super) fn is_bloated(seen: &Seen<'_>) -> bool {
    let trips = seen.round_trips();
    let (least, usual) = (quantile(&trips, 0.0), quantile(&trips, 0.5));
    trips.len() >= 20 && usual >= least * 4 && usual >= least + Nanos::from_millis(20)
}

const FEWEST: usize = 3;
