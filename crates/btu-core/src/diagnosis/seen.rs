//! What causes look at: a direction of a connection, and figures that several of them need.

use super::Evidence;
use super::Worked;
use crate::stats::whole_quantile;
use crate::tcp::Connection;
use crate::tcp::Counts;
use crate::tcp::Limit;
use crate::tcp::Mark;
use crate::tcp::Sent;
use crate::tcp::Stream;
use crate::tcp::Wait;
use crate::tcp::float;
use crate::tcp::total;
use crate::units::Nanos;

/// One direction with its connection and what is known beside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) stream: &'a Stream,
    /// The other direction.
    pub(super) back: &'a Stream,
    pub(super) evidence: &'a Evidence,
    /// From the first to the last data.
    pub(super) active: Nanos,
    /// Of the whole path.
    pub(super) round_trip: Nanos,
    pub(super) repairs: Repairs,
    /// Of both ends.
    pub(super) worked: Worked,
    /// Both SYNs offered to shift windows.
    pub(super) is_scaled: bool,
    /// No SYN that was seen goes without selective acknowledgements (RFC 2018).
    pub(super) has_sack: bool,
}

/// A tenth is what any desktop does beside.
const MUCH_OF_A_CPU: f64 = 20.0;

/// The shortest timeout of Linux (`TCP_RTO_MIN`).
const LEAST_TIMEOUT: Nanos = Nanos::from_millis(200);

/// What losses cost, by what repaired them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repairs {
    /// Found by a probe or a timer behind the last segment.
    pub(super) tail: Repair,
    /// Found by a timer although later segments had been sent.
    pub(super) timeout: Repair,
    /// Found by what the receiver said.
    pub(super) other: Repair,
    /// The longest wait that a timeout ended.
    pub(super) longest: Nanos,
    /// Needless ones that were not at the end of what had been sent.
    pub(super) spurious: u64,
}

/// What repairs of one kind cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repair {
    pub(super) count: u64,
    /// Before each retransmission.
    pub(super) waited: Nanos,
    /// Behind it, while the congestion window kept the sender back, until as much was in flight again.
    pub(super) regrown: Nanos,
}

impl<'a> Seen<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        stream: &'a Stream,
        evidence: &'a Evidence,
    ) -> Self {
        let round_trip = connection.round_trip().or(stream.smoothed_round_trip);
        let [one, other] = connection.streams();
        Self {
            stream,
            back: if stream.from == one.from { other } else { one },
            evidence,
            active: stream.active(),
            round_trip: round_trip.unwrap_or(Nanos::ZERO),
            repairs: Repairs::of(stream),
            worked: Worked::of(evidence),
            has_sack: connection.streams().iter().all(|one| one.offer.sack || !one.offer.seen),
            is_scaled: connection.streams().iter().all(|one| one.offer.window_scale.is_some()),
        }
    }

    /// What other programs of the host under test used, in percent of a CPU, where that is much.
    pub(super) fn other_programs(&self) -> Option<f64> {
        let (used, elapsed) = (self.evidence.foreign?, self.evidence.host_elapsed);
        let percent = 100.0 * used.seconds() / elapsed.seconds();
        (elapsed > Nanos::ZERO && percent >= MUCH_OF_A_CPU).then_some(percent)
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

    /// Share of the time in which nothing was on its way: by the sender's kernel, else by its packets.
    pub(super) fn idle(&self) -> f64 {
        let busy = self.observed(self.evidence.sender.busy);
        let seen = || self.waited(Limit::Application) + self.waited(Limit::Unknown);
        busy.map_or_else(seen, |busy| (1.0 - busy).max(0.0))
    }

    /// Share of the time in which the receiver's window kept the sender back, by either account.
    pub(super) fn window_limited(&self) -> f64 {
        let told = self.observed(self.evidence.sender.window_limited).unwrap_or(0.0);
        told.max(self.waited(Limit::ReceiverWindow))
    }

    /// Timeouts that the sender's kernel counted: of this connection, else of its host.
    pub(super) fn timeouts_told(&self) -> u64 {
        let sender = &self.evidence.sender;
        let of_host = || {
            let handshakes = sender.counter("TcpExt.TCPSynRetrans").unwrap_or(0);
            Some(sender.counter("TcpExt.TCPTimeouts")?.saturating_sub(handshakes))
        };
        self.evidence.in_capture(sender.timeouts.or_else(of_host).unwrap_or(0))
    }

    /// Pauses that look like the application's, but are those of timeouts that this place of capture
    /// cannot show: the longest ones, as many as the sender counted more than are seen.
    pub(super) fn told_timeouts(&self) -> Vec<&Wait> {
        let shown = self.counts().timeouts + self.repairs.tail.count;
        let hidden = self.timeouts_told().saturating_sub(shown);
        let unclear = |wait: &&Wait| {
            let limit = matches!(wait.limit, Limit::Application | Limit::Unknown);
            limit && wait.longest >= LEAST_TIMEOUT
        };
        let mut pauses: Vec<&Wait> = self.stream.waits.iter().filter(unclear).collect();
        pauses.sort_by_key(|wait| std::cmp::Reverse(wait.longest));
        pauses.truncate(usize::try_from(hidden).unwrap_or(usize::MAX));
        pauses
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

    /// The round trips of data, from the place of capture.
    pub(super) fn round_trips(&self) -> Vec<Nanos> {
        self.stream.round_trips.iter().map(|trip| trip.time).collect()
    }

    pub(super) const fn mss(&self) -> u64 {
        self.stream.mss_bytes as u64
    }
}

/// The quantile of some times at `share`; zero of none.
pub(super) fn quantile(times: &[Nanos], share: f64) -> Nanos {
    let times: Vec<u64> = times.iter().map(|time| time.count()).collect();
    whole_quantile(&times, share).map_or(Nanos::ZERO, Nanos::new)
}

/// `part` of `whole`, 0 of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) / float(whole) }
}

impl Repair {
    /// Everything that it cost.
    pub(super) fn cost(self) -> Nanos {
        self.waited.saturating_add(self.regrown)
    }

    fn add(&mut self, gap: Nanos) {
        self.count += 1;
        self.waited = self.waited.saturating_add(gap);
    }
}

impl Repairs {
    /// Everything that losses cost.
    pub(super) fn cost(&self) -> Nanos {
        total([self.tail, self.timeout, self.other].into_iter().map(Repair::cost))
    }

    fn of(stream: &Stream) -> Self {
        let mut found = Self::default();
        let (mut last, mut highest, mut tail) = (None, i64::MIN, i64::MIN);
        for sent in &stream.sent {
            let gap = last.map_or(Nanos::ZERO, |last| sent.at.since(last));
            match kind(sent, highest, tail) {
                Some(Kind::Tail) => {
                    if sent.mark == Mark::TailProbe {
                        tail = highest;
                    }
                    found.tail.add(gap);
                }
                // What the probe brought to light belongs to it.
                Some(Kind::BehindTail) => found.tail.waited = found.tail.waited.saturating_add(gap),
                Some(Kind::Timeout) => {
                    found.timeout.add(gap);
                    found.longest = found.longest.max(gap);
                }
                Some(Kind::BehindTimeout) => {
                    found.timeout.waited = found.timeout.waited.saturating_add(gap);
                }
                Some(Kind::Other) => {
                    found.other.add(gap);
                    let is_tail = sent.end >= highest;
                    found.spurious += u64::from(sent.mark == Mark::Spurious && !is_tail);
                }
                None => {}
            }
            if !matches!(sent.mark, Mark::KeepAlive | Mark::WindowProbe) {
                last = Some(sent.at);
                highest = highest.max(sent.end);
            }
        }
        found.regrow(stream);
        found
    }

    /// Adds the time until as much is in flight again as the connection can have.
    fn regrow(&mut self, stream: &Stream) {
        let peak = stream.flight_peak();
        let mut open: Option<Kind> = None;
        let (mut highest, mut tail, mut flight, mut last) = (i64::MIN, i64::MIN, peak, Nanos::ZERO);
        for sent in &stream.sent {
            let begun = kind(sent, highest, tail).filter(|kind| !kind.is_behind());
            if sent.mark == Mark::TailProbe {
                tail = highest;
            }
            if let Some(kind) = begun
                && open.is_none()
            {
                open = Some(kind);
            }
            if let Some(kind) = open {
                self.regrown(kind, missing(stream, [last, sent.at], [flight, peak]));
                open = open.filter(|_| flight < peak / 10 * 9);
            }
            if sent.mark == Mark::New {
                flight = sent.flight;
            }
            (last, highest) = (sent.at, highest.max(sent.end));
        }
    }

    fn regrown(&mut self, kind: Kind, time: Nanos) {
        let repair = match kind {
            Kind::Tail | Kind::BehindTail => &mut self.tail,
            Kind::Timeout | Kind::BehindTimeout => &mut self.timeout,
            Kind::Other => &mut self.other,
        };
        repair.regrown = repair.regrown.saturating_add(time);
    }
}

/// What a repair belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tail,
    BehindTail,
    Timeout,
    BehindTimeout,
    Other,
}

impl Kind {
    /// Part of a repair that began before.
    const fn is_behind(self) -> bool {
        matches!(self, Self::BehindTail | Self::BehindTimeout)
    }
}

/// The repair that this segment belongs to, if to any. `highest` is the end of what had been sent,
/// `tail` what had been when the last probe left.
fn kind(sent: &Sent, highest: i64, tail: i64) -> Option<Kind> {
    let is_tail = sent.end >= highest;
    match sent.mark {
        Mark::TailProbe => Some(Kind::Tail),
        Mark::Timeout if is_tail => Some(Kind::Tail),
        Mark::Timeout => Some(Kind::Timeout),
        Mark::AfterTimeout => Some(Kind::BehindTimeout),
        Mark::Fast if sent.start < tail => Some(Kind::BehindTail),
        mark => mark.is_retransmission().then_some(Kind::Other),
    }
}

/// What a small flight cost between two times, while acknowledgements clocked the sender: half the
/// flight is half the rate, and what was lost is the other half.
pub(super) fn missing(stream: &Stream, [from, to]: [Nanos; 2], [flight, full]: [u64; 2]) -> Nanos {
    let thousandths = full.saturating_sub(flight) * 1000 / full.max(1);
    let clocked = stream.waited_between(Limit::CongestionWindow, from, to);
    Nanos::new(clocked.count() / 1000 * thousandths)
}
