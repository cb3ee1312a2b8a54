//! What the cells of a curve have in common, and the axis that they stand on.

use serde::Deserialize;
use serde::Serialize;

/// What the cells of a curve have in common.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Bursts of frames back to back, by their number (RFC 9004).
    BackToBack,
    /// Full streams of blocks of rising size, bytes.
    BlockSize,
    /// What one full stream gets: mu.
    Capacity,
    /// Datagrams as fast as they go: around what they get a search looks.
    Ceiling,
    /// Sessions of an application class, by their number.
    Class,
    /// Datagrams at a multiple of mu.
    Datagrams,
    /// Frames at falling loads, bit/s on the wire: how many are lost (RFC 2544, 26.3).
    FrameLoss,
    /// Small blocks on an idle path: its round trip.
    Idle,
    /// Frames at the throughput: how long they take (RFC 2544, 26.2).
    Latency,
    /// Offered load as a share of mu.
    Load,
    /// Packets that nobody may fragment, by their size (RFC 8899).
    PathMtu,
    /// Queued bursts of rising period, milliseconds.
    Period,
    /// The scenario of a file.
    #[default]
    Scenario,
    /// A rate that adjusts itself (RFC 9097).
    Search,
    /// Full streams by their number.
    Sessions,
    /// A full stream over the second line of the paper.
    SlowLine,
    /// Frames at loads between one that came whole and one that did not, bit/s on the wire.
    Throughput,
    /// One train for rising times, seconds.
    Time,
    /// A full stream with a window, in shares of the bandwidth-delay product (RFC 6349).
    Transfer,
    /// Unqueued bursts of rising period, milliseconds.
    Unqueued,
    /// Round trips while connections fill the path.
    Working,
}

impl Group {
    /// The axis of the group, with its unit.
    pub const fn axis(self) -> &'static str {
        match self {
            Self::BlockSize => "block size, bytes",
            Self::BackToBack => "frames of a burst",
            Self::Capacity
            | Self::Ceiling
            | Self::Idle
            | Self::PathMtu
            | Self::Scenario
            | Self::Search
            | Self::SlowLine
            | Self::Working => "run",
            Self::Class | Self::Sessions => "sessions",
            Self::Datagrams | Self::Load => "offered load over mu",
            Self::FrameLoss | Self::Latency | Self::Throughput => "load on the wire, bit/s",
            Self::Period | Self::Unqueued => "burst period, ms",
            Self::Time => "transmission time, s",
            Self::Transfer => "window over the bandwidth-delay product",
        }
    }
}
