//! What causes look at: a direction of a connection, and figures that several of them need.

use super::Evidence;
use crate::tcp::Connection;
use crate::tcp::Counts;
use crate::tcp::Limit;
use crate::tcp::Mark;
use crate::tcp::Stream;
use crate::tcp::float;
use crate::units::Nanos;

/// One direction with its connection and what is known beside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) stream: &'a Stream,
    pub(super) evidence: &'a Evidence,
    /// From the first to the last data.
    pub(super) active: Nanos,
    /// Of the whole path.
    pub(super) round_trip: Nanos,
    pub(super) repairs: Repairs,
}

/// Time before retransmissions, by what ended it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repairs {
    pub(super) tail: Nanos,
    pub(super) tails: u64,
    pub(super) timeout: Nanos,
    /// Timeouts whose segment was not the last one.
    pub(super) timeouts: u64,
    /// The longest wait that a timeout ended.
    pub(super) longest: Nanos,
    pub(super) other: Nanos,
    /// Needless ones that were not at the end of what had been sent.
    pub(super) spurious: u64,
}

impl<'a> Seen<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        stream: &'a Stream,
        evidence: &'a Evidence,
    ) -> Self {
        let round_trip = connection.round_trip().or(stream.smoothed_round_trip);
        Self {
            stream,
            evidence,
            active: stream.active(),
            round_trip: round_trip.unwrap_or(Nanos::ZERO),
            repairs: Repairs::of(stream),
        }
    }

    pub(super) const fn counts(&self) -> &Counts {
        &self.stream.counts
    }

    /// `time` of the active time.
    pub(super) fn share(&self, time: Nanos) -> f64 {
        if self.active == Nanos::ZERO { 0.0 } else { time.seconds() / self.active.seconds() }
    }

    /// Share of the time in which the sender waited for `limit`.
    pub(super) fn waited(&self, limit: Limit) -> f64 {
        self.share(self.stream.waited_for(limit))
    }

    /// `time` of what the hosts observed; `None` where nobody observed.
    pub(super) fn observed(&self, time: Option<Nanos>) -> Option<f64> {
        let elapsed = self.evidence.elapsed.seconds();
        (elapsed > 0.0).then_some(time?.seconds() / elapsed)
    }

    /// Active for at least so many round trips: shorter ones are mostly slow start.
    pub(super) fn lasts(&self, round_trips: u64) -> bool {
        self.active >= self.round_trip * round_trips
    }

    /// Retransmissions that repaired a loss: without those that turned out to be needless.
    pub(super) fn losses(&self) -> u64 {
        let counts = self.counts();
        let repairs = counts.fast + counts.timeouts + counts.tail_probes + counts.after_timeout;
        repairs.saturating_sub(self.needless())
    }

    /// Retransmissions of what the receiver had already, by any sign of it.
    pub(super) fn needless(&self) -> u64 {
        let counts = self.counts();
        counts.duplicate_sacks.max(counts.needless)
    }

    /// The round trips of data in order of length, from the place of capture.
    pub(super) fn round_trips(&self) -> Vec<Nanos> {
        let mut times: Vec<Nanos> = self.stream.round_trips.iter().map(|trip| trip.time).collect();
        times.sort_unstable();
        times
    }

    pub(super) const fn mss(&self) -> u64 {
        self.stream.mss_bytes as u64
    }
}

/// The value at `share` of a sorted list.
pub(super) fn quantile(sorted: &[Nanos], percent: usize) -> Nanos {
    let place = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(place).copied().unwrap_or(Nanos::ZERO)
}

/// `part` of `whole`, 0 of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

impl Repairs {
    fn of(stream: &Stream) -> Self {
        let mut found = Self::default();
        let (mut last, mut highest, mut tail) = (None, i64::MIN, i64::MIN);
        for sent in &stream.sent {
            let gap = last.map_or(Nanos::ZERO, |last| sent.at.since(last));
            let is_tail = sent.end >= highest;
            match sent.mark {
                Mark::TailProbe => {
                    tail = highest;
                    found.tail = found.tail.saturating_add(gap);
                    found.tails += 1;
                }
                Mark::Timeout if is_tail => {
                    found.tail = found.tail.saturating_add(gap);
                    found.tails += 1;
                }
                Mark::Timeout => {
                    found.timeout = found.timeout.saturating_add(gap);
                    found.timeouts += 1;
                    found.longest = found.longest.max(gap);
                }
                // What the probe brought to light belongs to it.
                Mark::Fast if sent.start < tail => found.tail = found.tail.saturating_add(gap),
                mark if mark.is_retransmission() => {
                    found.other = found.other.saturating_add(gap);
                    found.spurious += u64::from(mark == Mark::Spurious && !is_tail);
                }
                _ => {}
            }
            if !matches!(sent.mark, Mark::KeepAlive | Mark::WindowProbe) {
                last = Some(sent.at);
                highest = highest.max(sent.end);
            }
        }
        found
    }
}
