//! What one end has to do in a visit, and how that came out.

use std::io;

use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::Writes;
use btu_core::pingpong::sample::Early;
use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::schedule::Division;
use btu_core::pingpong::schedule::Limit;
use btu_core::pingpong::schedule::Stream;

use super::channel::Channel;
use super::pool::Blocks;
use super::rounds;
use super::verify;
use super::verify::Plant;

/// One end's part of a visit. All memory is there before the first exchange.
#[derive(Debug)]
pub struct Duty<'m> {
    /// The blocks.
    pub(super) blocks: &'m mut Blocks,
    /// Where the times of the units go, in nanoseconds; has room for all of them.
    pub(super) unit_ns: &'m mut Vec<u64>,
    /// What one exchange is.
    pub(super) mode: Mode,
    /// In how many calls a block is sent.
    pub(super) writes: Writes,
    /// Exchanges to make and forget first.
    pub(super) warm_up: u32,
    /// Timed units.
    pub(super) units: u32,
    /// Exchanges per unit.
    pub(super) batch: u32,
    /// How long the units of a stream shall be; `None` for units of `batch`.
    pub(super) stream: Option<Stream>,
    /// How a stream was divided.
    pub(super) division: Option<Division>,
    /// When to stop before all units are made.
    pub(super) limit: Limit,
    /// Every byte is checked, nothing is timed; the exchanges count on from this number.
    pub(super) verify_from: Option<u64>,
    /// A fault of the answering end, to see that it is noticed.
    pub(super) plant: Option<Plant>,
}

/// A part that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Why there were fewer units than asked for.
    pub early: Option<Early>,
    /// Exchanges whose every byte was checked.
    pub verified: u64,
    /// Exchanges that the end which answers took part in.
    pub answered: u64,
}

/// Why a part could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// A call of the system.
    #[error("{call}")]
    Call {
        /// Which.
        call: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The contents of a block.
    #[error("{detail}")]
    Content {
        /// What is wrong with it.
        fault: Fault,
        /// Which block, and where.
        detail: String,
    },
    /// What another host told of its end.
    #[error("{detail}")]
    Elsewhere {
        /// What went wrong there.
        fault: Fault,
        /// Operation, operand and cause.
        detail: String,
    },
    /// The connection ended.
    #[error("the connection ended after {got} bytes of a block")]
    Gone {
        /// Bytes of the block that had come.
        got: usize,
    },
    /// A message of another length came.
    #[error("a message of {got} bytes came in place of a block of {wanted}")]
    Length {
        /// Its length.
        got: usize,
        /// The block's.
        wanted: usize,
    },
}

impl Duty<'_> {
    /// The part of the end that starts.
    pub(super) fn start<C: Channel>(&mut self, channel: &mut C) -> Result<Answer, Broken> {
        if let Some(from) = self.verify_from {
            return verify::start(channel, self, from);
        }
        self.blocks.numbers().begin();
        let answer = match self.mode {
            Mode::Bidirectional => rounds::timed(channel, self, rounds::swap),
            Mode::PingPong => rounds::timed(channel, self, rounds::there_and_back),
            Mode::Streaming => rounds::streamed(channel, self),
        }?;
        self.blocks.numbers().check()?;
        Ok(answer)
    }

    /// The part of the end that answers.
    pub(super) fn answer<C: Channel>(&mut self, channel: &mut C) -> Result<Answer, Broken> {
        if let Some(from) = self.verify_from {
            return verify::answer(channel, self, from);
        }
        if let Some(plant) = self.plant {
            return verify::break_off(channel, self, plant);
        }
        self.blocks.numbers().begin();
        let answer = match self.mode {
            Mode::Bidirectional => rounds::swap_back(channel, self),
            Mode::PingPong => rounds::echo(channel, self),
            Mode::Streaming => rounds::swallow(channel, self),
        }?;
        self.blocks.numbers().check()?;
        Ok(answer)
    }
}

impl Broken {
    pub(super) fn call(call: &'static str, source: io::Error) -> Self {
        if is_gone(&source) { Self::Gone { got: 0 } } else { Self::Call { call, source } }
    }

    pub(super) fn recv(got: usize, source: io::Error) -> Self {
        if is_gone(&source) { Self::Gone { got } } else { Self::Call { call: "receive", source } }
    }

    /// Its kind, for records.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Call { .. } => Fault::System,
            Self::Content { fault, .. } | Self::Elsewhere { fault, .. } => *fault,
            Self::Gone { got: 0 } => Fault::PeerGone,
            Self::Gone { .. } => Fault::Short,
            Self::Length { got, wanted } if got < wanted => Fault::Short,
            Self::Length { .. } => Fault::Corrupted,
        }
    }
}

/// True where the error says that the other end is not there any more.
fn is_gone(cause: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let kinds = [
        Kind::BrokenPipe,
        Kind::ConnectionAborted,
        Kind::ConnectionRefused,
        Kind::ConnectionReset,
        Kind::NotConnected,
        Kind::UnexpectedEof,
    ];
    kinds.contains(&cause.kind())
}
