//! What a segment is: new bytes, overtaken, sent again and why, or a question.

use serde::Serialize;

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Bytes that were not seen before.
    New,
    /// Overtaken by later bytes on its way.
    OutOfOrder,
    /// Sent again after duplicate or selective acknowledgements.
    Fast,
    /// Sent again because the timer ran out.
    Timeout,
    /// Sent again behind a timeout.
    AfterTimeout,
    /// Sent again to find out about the tail.
    TailProbe,
    /// Sent again although it was acknowledged.
    Spurious,
    /// Sent again for no visible reason.
    Resent,
    /// A byte that asks whether the peer is there.
    KeepAlive,
    /// A byte that asks for the window.
    WindowProbe,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 10] = [
        Self::New,
        Self::OutOfOrder,
        Self::Fast,
        Self::Timeout,
        Self::AfterTimeout,
        Self::TailProbe,
        Self::Spurious,
        Self::Resent,
        Self::KeepAlive,
        Self::WindowProbe,
    ];

    /// True for a segment that asks and carries nothing.
    pub const fn is_probe(self) -> bool {
        matches!(self, Self::KeepAlive | Self::WindowProbe)
    }

    /// True where bytes were sent again.
    pub const fn is_retransmission(self) -> bool {
        matches!(
            self,
            Self::Fast
                | Self::Timeout
                | Self::AfterTimeout
                | Self::TailProbe
                | Self::Spurious
                | Self::Resent
        )
    }

    /// In words, for legends.
    pub const fn words(self) -> &'static str {
        match self {
            Self::New => "segment",
            Self::OutOfOrder => "out of order",
            Self::Fast => "fast retransmission",
            Self::Timeout => "retransmission timeout",
            Self::AfterTimeout => "retransmission after a timeout",
            Self::TailProbe => "tail loss probe",
            Self::Spurious => "spurious retransmission",
            Self::Resent => "retransmission",
            Self::KeepAlive => "keep-alive",
            Self::WindowProbe => "zero window probe",
        }
    }
}
