//! Words of the command line that stand for settings.

use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::schedule::Order;
use btu_core::units::Bytes;
use btu_engine::pingpong::Plant;

/// A switch that can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

/// A socket option that may also be left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SocketSwitch {
    On,
    Off,
    /// As the system has it
    System,
}

/// What one timed exchange is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ModeWord {
    /// A block goes there and comes back
    PingPong,
    /// Blocks go one way; the receiver acknowledges the last one
    Streaming,
    /// Both ends send a block at once
    Bidirectional,
}

/// How an end waits for the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WaitWord {
    /// Sleeps in the call, as applications do
    Block,
    /// Calls again and again, and never sleeps
    Spin,
    /// A blocking call before which the kernel polls the device
    BusyPoll,
    /// Waits for a readiness event, then makes a call that does not block
    Epoll,
}

/// On which CPUs the two ends run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PlacementWord {
    /// Each end on a CPU of its own
    Split,
    /// Both ends on the same CPU
    Same,
    /// Wherever the scheduler puts them
    Free,
}

/// In which order sizes are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OrderWord {
    /// In a new random order each round: a slow second is no slow size
    Random,
    /// From small to large over each connection, all rounds of a size before the next, as `NetPIPE` does
    Rising,
}

/// Between which hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PathWord {
    /// From the test host to the active one of the local testbed
    Direct,
    /// The loopback of this machine itself
    Loopback,
}

/// A fault of the answering end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PlantWord {
    /// It closes the connection
    Close,
    /// One byte of the answer is another
    Corrupt,
    /// The previous answer comes again
    Duplicate,
    /// An earlier answer comes
    Late,
    /// The answer is one byte shorter
    Short,
    /// It says nothing more
    Silence,
}

/// Distances of the two buffers from a page boundary: `SEND` or `SEND,RECEIVE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offsets {
    pub(super) send: Bytes,
    pub(super) receive: Bytes,
}

impl std::str::FromStr for Offsets {
    type Err = btu_core::units::UnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (send, receive) = text.split_once(',').unwrap_or((text, text));
        Ok(Self { send: send.parse()?, receive: receive.parse()? })
    }
}

impl Switch {
    pub(super) fn is_on(self) -> bool {
        self == Self::On
    }
}

impl From<SocketSwitch> for Option<bool> {
    fn from(word: SocketSwitch) -> Self {
        match word {
            SocketSwitch::On => Some(true),
            SocketSwitch::Off => Some(false),
            SocketSwitch::System => None,
        }
    }
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::PingPong => Self::PingPong,
            ModeWord::Streaming => Self::Streaming,
            ModeWord::Bidirectional => Self::Bidirectional,
        }
    }
}

impl From<WaitWord> for Wait {
    fn from(word: WaitWord) -> Self {
        match word {
            WaitWord::Block => Self::Block,
            WaitWord::Spin => Self::Spin,
            WaitWord::BusyPoll => Self::BusyPoll,
            WaitWord::Epoll => Self::Epoll,
        }
    }
}

impl From<PlacementWord> for Placement {
    fn from(word: PlacementWord) -> Self {
        match word {
            PlacementWord::Split => Self::Split,
            PlacementWord::Same => Self::Same,
            PlacementWord::Free => Self::Free,
        }
    }
}

impl From<OrderWord> for Order {
    fn from(word: OrderWord) -> Self {
        match word {
            OrderWord::Random => Self::Random,
            OrderWord::Rising => Self::Rising,
        }
    }
}

impl From<PathWord> for Path {
    fn from(word: PathWord) -> Self {
        match word {
            PathWord::Direct => Self::Direct,
            PathWord::Loopback => Self::Loopback,
        }
    }
}

impl From<PlantWord> for Plant {
    fn from(word: PlantWord) -> Self {
        match word {
            PlantWord::Close => Self::Close,
            PlantWord::Corrupt => Self::Corrupt,
            PlantWord::Duplicate => Self::Duplicate,
            PlantWord::Late => Self::Late,
            PlantWord::Short => Self::Short,
            PlantWord::Silence => Self::Silence,
        }
    }
}

impl PlantWord {
    /// As the plan has it.
    pub(super) fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self)
            .map_or_else(String::new, |word| word.get_name().to_owned())
    }
}
