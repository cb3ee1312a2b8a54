//! What a message layer is to one rank.

use std::fmt;

use crate::units::Nanos;

/// One rank's end of a message layer.
///
/// The contract:
/// * Messages from one rank with one tag arrive in the order in which they were sent, whole, once each. Those of other
///   ranks or tags may be received before them; what came and was not asked for yet is kept, up to a bound.
/// * `send` may return before the message was received. While the other rank takes nothing in, it takes in what comes
///   from anywhere: two ranks that send to each other at once do not stand still.
/// * No call waits for ever: past its patience it ends with [`LayerError::Silent`].
/// * A rank never sends to itself here; [`super::ranks::Ranks`] keeps such messages.
pub trait Endpoint: fmt::Debug {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// The time, on a clock that all ranks of one machine share.
    fn now(&self) -> Nanos;

    /// Sends a message.
    ///
    /// # Errors
    /// The other rank is gone, takes nothing, or too much is kept that nobody asked for.
    fn send(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError>;

    /// Receives the next message of a rank with a tag, into a buffer of exactly its length.
    ///
    /// # Errors
    /// The other rank is gone or silent, or the message has another length.
    fn receive(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<Arrival, LayerError>;
}

/// What a layer tells of a message that was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When the other rank began to send it, on the common clock; `None` where the layer does not carry that.
    pub sent_at: Option<Nanos>,
}

/// A message could not be passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayerError {
    /// More messages wait than may be kept.
    #[error(
        "rank {rank} keeps {kept_bytes} B of messages that it did not ask for; at most {limit_bytes} B are kept"
    )]
    Flooded {
        /// The rank that keeps them.
        rank: usize,
        /// How much it would be.
        kept_bytes: u64,
        /// How much it may be.
        limit_bytes: u64,
    },
    /// The other rank is gone.
    #[error("rank {peer} is gone: {cause}")]
    Gone {
        /// The other rank.
        peer: usize,
        /// How that was seen.
        cause: String,
    },
    /// A message is longer or shorter than the one that was expected.
    #[error(
        "a message of {got_bytes} B from rank {from}, tag {tag}, where {wanted_bytes} B were expected"
    )]
    Length {
        /// Who sent it.
        from: usize,
        /// Its tag.
        tag: u32,
        /// How long it is.
        got_bytes: u64,
        /// How long it should be.
        wanted_bytes: u64,
    },
    /// Nothing came, or nothing was taken, for too long.
    #[error("rank {peer} was silent for {} s", patience.seconds())]
    Silent {
        /// The other rank.
        peer: usize,
        /// How long was waited.
        patience: Nanos,
    },
    /// The run was ended from outside: its time was up, or it was interrupted.
    #[error("the run was ended")]
    Stopped,
    /// A rank waits for a message to itself that it did not send.
    #[error("rank {rank} waits for a message to itself, tag {tag}, that it did not send")]
    Unsent {
        /// The rank.
        rank: usize,
        /// The tag.
        tag: u32,
    },
}
