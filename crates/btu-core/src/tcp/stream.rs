//! What was found about one direction of a connection: marks, counts, waits, round trips.

use serde::Deserialize;
use serde::Serialize;

use super::mark::Mark;
use super::segment::Endpoint;
use super::sign::Event;
use crate::units::Nanos;

/// The bytes that one end of a connection sent, and what the other end answered.
///
/// Places are bytes from the initial sequence number, times are since the connection's start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// Who sent.
    pub from: Endpoint,
    /// Who received.
    pub to: Endpoint,
    /// What the sender offered in its SYN.
    pub offer: Offer,
    /// Largest payload that a segment on the wire can have, as far as the capture tells.
    pub mss_bytes: u32,
    /// The first sequence number; what [`Sent::start`] counts from.
    pub origin: u32,
    /// How much of everything.
    pub counts: Counts,
    /// Every segment that takes sequence numbers, in order of time.
    pub sent: Vec<Sent>,
    /// What the receiver answered, in order of time.
    pub answers: Vec<Answer>,
    /// Selective acknowledgements.
    pub sacks: Vec<Sack>,
    /// What a chart marks with letters, in order of time.
    pub events: Vec<Event>,
    /// Round trips between the place of capture and the receiver.
    pub round_trips: Vec<RoundTrip>,
    /// What the sender waited for, interval by interval, from its first to its last data.
    pub waits: Vec<Wait>,
    /// When the receiver's window was shut.
    pub zero_windows: Vec<Span>,
    /// Starts after idle times.
    pub restarts: Vec<Restart>,
    /// True where the shift of the receiver's windows is known: both SYNs were seen.
    pub window_is_known: bool,
    /// Smallest and largest window that the receiver advertised after its SYN, in bytes.
    pub window_bytes: Option<[u64; 2]>,
    /// From the place of capture to the sender and back.
    pub to_sender: Nanos,
    /// Smoothed round trip of the whole path at the end; `None` without any sample.
    pub smoothed_round_trip: Option<Nanos>,
}

/// What a SYN offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The SYN was seen.
    pub seen: bool,
    /// Largest segment that it wants to receive.
    pub mss_bytes: Option<u16>,
    /// Shift of its windows.
    pub window_scale: Option<u8>,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Time stamps.
    pub timestamps: bool,
}

/// How much of everything; what receivers send is counted where it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Segments, with and without payload.
    pub segments: u64,
    /// Segments with payload.
    pub data_segments: u64,
    /// Payload that passed, repeated or not.
    pub payload_bytes: u64,
    /// Payload that passed for the first time.
    pub new_bytes: u64,
    /// Retransmitted segments of all kinds.
    pub retransmissions: u64,
    /// Payload in them.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts: each time the timer ran out.
    pub timeouts: u64,
    /// Segments sent again behind a timeout, without waiting for another one.
    pub after_timeout: u64,
    /// Fast retransmissions: after duplicate or selective acknowledgements.
    pub fast: u64,
    /// Probes for a lost tail (RFC 8985).
    pub tail_probes: u64,
    /// Retransmissions of what the receiver had acknowledged already.
    pub spurious: u64,
    /// Retransmissions without a visible reason.
    pub resent: u64,
    /// The receiver says that it got something twice (RFC 2883).
    pub duplicate_sacks: u64,
    /// Retransmissions whose bytes were acknowledged sooner than the repetition can have arrived.
    pub needless: u64,
    /// Segments that were overtaken.
    pub out_of_order: u64,
    /// Jumps ahead of the sequence number: something was lost before this place, or by the capture.
    pub gaps: u64,
    /// Segments marked as dropped behind this place, by whoever captured.
    pub dropped: u64,
    /// Of these by a full queue.
    pub queue_full: u64,
    /// Of these by the management of a queue.
    pub managed: u64,
    /// Keep-alive probes.
    pub keep_alives: u64,
    /// Probes of a shut window.
    pub window_probes: u64,
    /// Segments that filled the window to its last byte.
    pub window_full: u64,
    /// Segments below half the largest size that the window forced to be so small.
    pub silly: u64,
    /// Answers that shut the window.
    pub zero_windows: u64,
    /// Duplicate acknowledgements (RFC 5681).
    pub duplicate_acks: u64,
    /// Answers to a needless repetition when nothing was outstanding any more: what repeats the number
    /// then is no duplicate acknowledgement (RFC 5681, 2).
    pub answers_to_needless: u64,
    /// Answers that changed nothing but the window.
    pub window_updates: u64,
    /// Acknowledgements that came 25 ms or more after the path alone explains.
    pub delayed_acks: u64,
    /// Times the sender held data back until such an acknowledgement came.
    pub nagle_stalls: u64,
    /// Acknowledgements of bytes that were never seen here.
    pub unseen_acks: u64,
    /// Segments whose numbers lie outside of any window.
    pub outside: u64,
    /// Segments that a router marked (RFC 3168).
    pub congestion_marks: u64,
}

/// A segment that takes sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub at: Nanos,
    /// Place of its first byte.
    pub start: i64,
    /// Place behind its last byte.
    pub end: i64,
    /// What it is.
    pub mark: Mark,
    /// PSH was set.
    pub is_pushed: bool,
    /// It filled the window to its last byte.
    pub fills_window: bool,
    /// Bytes in flight with it, as its sender saw them.
    pub flight: u64,
}

/// What the receiver said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When.
    pub at: Nanos,
    /// It has everything before this place.
    pub acknowledged: i64,
    /// It takes bytes before this place.
    pub edge: i64,
    /// Which duplicate of an acknowledgement it is; 0 for none.
    pub duplicate: u32,
}

/// A selective acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// When.
    pub at: Nanos,
    /// First byte.
    pub start: i64,
    /// Behind the last byte.
    pub end: i64,
    /// It tells of something received twice.
    pub is_duplicate: bool,
}

/// One round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the acknowledgement came.
    pub at: Nanos,
    /// How long after the segment.
    pub time: Nanos,
}

/// A time from when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its begin.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
}

/// What a sender waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// From one segment.
    pub from: Nanos,
    /// To another.
    pub to: Nanos,
    /// What for.
    pub limit: Limit,
    /// The longest stretch without a segment in it.
    pub longest: Nanos,
    /// The window that the sender had then was below half of the largest one.
    pub is_squeezed: bool,
}

/// A sum that stays within its type, also in a damaged capture.
pub(crate) fn total(times: impl Iterator<Item = Nanos>) -> Nanos {
    times.fold(Nanos::ZERO, Nanos::saturating_add)
}

/// What kept a sender from sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It had nothing to send.
    Application,
    /// Acknowledgements clocked it: the congestion window or the send buffer.
    CongestionWindow,
    /// It held data back until a delayed acknowledgement came (Nagle).
    DelayedAck,
    /// The receiver's window was used up.
    ReceiverWindow,
    /// It repaired losses.
    Recovery,
    /// Nothing: it was sending.
    Sending,
    /// Nothing that a capture shows.
    Unknown,
}

/// A start after an idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// The first segment.
    pub at: Nanos,
    /// How long nothing was in flight.
    pub idle: Nanos,
    /// Most bytes in flight before.
    pub flight_before: u64,
    /// Bytes sent before the first acknowledgement came.
    pub first_flight: u64,
    /// Until as much was in flight as before, or nothing more was to be sent.
    pub duration: Nanos,
    /// Rounds in that time in which acknowledgements clocked the sender.
    pub clocked: u32,
}

impl Limit {
    /// Every limit.
    pub const ALL: [Self; 7] = [
        Self::Application,
        Self::CongestionWindow,
        Self::DelayedAck,
        Self::ReceiverWindow,
        Self::Recovery,
        Self::Sending,
        Self::Unknown,
    ];

    /// In words, for tables.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::CongestionWindow => "congestion window or send buffer",
            Self::DelayedAck => "delayed acknowledgement",
            Self::ReceiverWindow => "receiver window",
            Self::Recovery => "repair of losses",
            Self::Sending => "nothing, it sends",
            Self::Unknown => "unknown",
        }
    }
}

impl Span {
    /// How long.
    pub const fn length(self) -> Nanos {
        self.to.since(self.from)
    }
}

impl Wait {
    /// How long.
    pub const fn length(self) -> Nanos {
        self.to.since(self.from)
    }
}

impl Stream {
    /// True where payload passed.
    pub const fn has_data(&self) -> bool {
        self.counts.payload_bytes > 0
    }

    /// Time from the first to the last segment with payload.
    pub fn active(&self) -> Nanos {
        total(self.waits.iter().map(|wait| wait.length()))
    }

    /// Time that the sender waited for something.
    pub fn waited_for(&self, limit: Limit) -> Nanos {
        total(self.waits.iter().filter(|wait| wait.limit == limit).map(|wait| wait.length()))
    }

    /// Time between two others that the sender waited for something.
    pub fn waited_between(&self, limit: Limit, from: Nanos, to: Nanos) -> Nanos {
        let first = self.waits.partition_point(|wait| wait.to <= from);
        let inside = self.waits[first..].iter().take_while(|wait| wait.from < to);
        let wanted = inside.filter(|wait| wait.limit == limit);
        total(wanted.map(|wait| wait.to.min(to).since(wait.from.max(from))))
    }

    /// Time that a window below half of the largest one kept the sender back.
    pub fn squeezed(&self) -> Nanos {
        let squeezed = |wait: &&Wait| wait.limit == Limit::ReceiverWindow && wait.is_squeezed;
        total(self.waits.iter().filter(squeezed).map(|wait| wait.length()))
    }

    /// Gaps longer than `max(200 ms, 4 round trips)`, with what the sender waited for.
    pub fn pauses(&self) -> impl Iterator<Item = &Wait> {
        let bound = self.pause_bound();
        self.waits.iter().filter(move |wait| wait.longest > bound)
    }

    /// From when on a gap is a pause.
    pub fn pause_bound(&self) -> Nanos {
        let round_trip = self.smoothed_round_trip.unwrap_or(Nanos::ZERO);
        Nanos::from_millis(200).max(round_trip * 4)
    }

    /// Most bytes in flight.
    pub fn flight_peak(&self) -> u64 {
        self.sent.iter().map(|sent| sent.flight).max().unwrap_or(0)
    }
}
