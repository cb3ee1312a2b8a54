//! What a chart marks with letters: where a connection begins and ends, what routers and links did.

use super::segment::Flags;
use super::segment::Segment;
use crate::units::Nanos;

/// Something that a segment said or met, apart from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// Place in the stream.
    pub place: i64,
    /// What.
    pub sign: Sign,
}

/// What it was; letters are those of tcptrace where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The connection begins.
    Syn,
    /// The sender has no more to send.
    Fin,
    /// The sender broke the connection off.
    ResetOut,
    /// The receiver broke the connection off.
    ResetIn,
    /// A router marked the segment: it would have dropped it (RFC 3168).
    Marked,
    /// The sender says that it has reduced its congestion window for such a mark.
    Reduced,
    /// Whoever captured says that it dropped the segment behind this place.
    Dropped,
    /// The third duplicate of an acknowledgement.
    ThirdDuplicate,
    /// Urgent data.
    Urgent,
}

impl Sign {
    /// Every sign.
    pub const ALL: [Self; 9] = [
        Self::Syn,
        Self::Fin,
        Self::ResetOut,
        Self::ResetIn,
        Self::Marked,
        Self::Reduced,
        Self::Dropped,
        Self::ThirdDuplicate,
        Self::Urgent,
    ];

    /// What stands in a chart.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Dropped => "D",
            Self::Fin => "FIN",
            Self::Marked => "CE",
            Self::Reduced => "CWR",
            Self::ResetIn => "RST_IN",
            Self::ResetOut => "RST_OUT",
            Self::Syn => "SYN",
            Self::ThirdDuplicate => "3",
            Self::Urgent => "U",
        }
    }

    /// In words, for legends.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Dropped => "dropped behind this place",
            Self::Fin => "end of the stream",
            Self::Marked => "marked by a router",
            Self::Reduced => "window reduced",
            Self::ResetIn => "reset by the receiver",
            Self::ResetOut => "reset by the sender",
            Self::Syn => "begin",
            Self::ThirdDuplicate => "third duplicate",
            Self::Urgent => "urgent",
        }
    }

    /// What a segment of the sender says by itself.
    pub(super) fn of_sender(segment: &Segment) -> impl Iterator<Item = Self> {
        let has = |flag| segment.flags.has(flag);
        let is_syn = has(Flags::SYN);
        // In a SYN the flags of congestion offer and answer; they tell of none.
        let all = [
            (is_syn, Self::Syn),
            (has(Flags::FIN), Self::Fin),
            (has(Flags::RST), Self::ResetOut),
            (segment.is_congestion_marked, Self::Marked),
            (has(Flags::CWR) && !is_syn, Self::Reduced),
            (has(Flags::URG), Self::Urgent),
        ];
        all.into_iter().filter_map(|(is, sign)| is.then_some(sign))
    }
}
