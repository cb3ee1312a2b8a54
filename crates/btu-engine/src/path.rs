//! The path between two hosts, as far as it can be set.

use std::fmt::Debug;

use btu_core::units::Bytes;

use crate::error::EngineError;

/// What can be set of a path between two hosts; an error says why it cannot.
pub trait PathSettings: Debug + Send {
    /// Turns segmentation offload on or off for connections that are made from then on.
    fn set_offload(&self, on: bool) -> Result<(), EngineError>;

    /// Sets the largest packet; `None` for what the path had before.
    fn set_mtu(&self, mtu: Option<Bytes>) -> Result<(), EngineError>;
}
