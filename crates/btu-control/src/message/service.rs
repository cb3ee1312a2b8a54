//! Services: work of an agent that is no run of a cell, each of a kind that has a name.
//!
//! The agent knows of a service what its policy has to know: the name, how many connections, for how
//! long the conductor may be silent. What the service is told and what it says is its own business,
//! and passes through here as it is. Whoever adds a service adds nothing to these messages.

use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::Which;
use crate::secret::Hex32;

/// The beginning of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceOrder {
    /// Which request, run and attempt; a service is a run of its reservation.
    #[serde(flatten)]
    pub which: Which,
    /// Its name.
    pub service: String,
    /// The most data connections at once.
    pub flows: u32,
    /// How long the conductor may be silent now: no traffic outlives it.
    pub lease_ns: Nanos,
    /// What a data connection must know.
    pub secret: Hex32,
    /// What it has to do, in the service's own form.
    pub order: Value,
}

/// Something that is said to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceWord {
    /// Which request, run and attempt.
    #[serde(flatten)]
    pub which: Which,
    /// How long the conductor may be silent from now on.
    pub lease_ns: Nanos,
    /// What is said, in the service's own form.
    pub word: Value,
}
