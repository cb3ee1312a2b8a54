//! A test as a whole: which run of it something is, who signs what of it, and who runs it for whom.

use btu_core::cell::Role;
use btu_core::manifest::RunLabel;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

/// A run of a test: what the agent's account of it will be signed as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOf {
    /// The test, by the seed of its plan.
    pub seed: u64,
    /// The run.
    #[serde(flatten)]
    pub label: RunLabel,
}

/// What an agent is asked to sign: its own accounts of these runs, as it kept them itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// Number of the request.
    pub seq: u64,
    /// The part of this black box.
    pub role: Role,
    /// The test, by the seed of its plan.
    pub seed: u64,
    /// The runs that the result holds: pass, position, attempt.
    pub runs: Vec<(u32, u32, u32)>,
}

/// What a host under test shall measure, and against whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestOrder {
    /// Number of the request.
    pub seq: u64,
    /// The longest time without a word of the conductor.
    pub lease_ns: Nanos,
    /// The canonical plan.
    pub plan: String,
    /// The plan as the user gave it.
    pub given: Option<String>,
    /// The black boxes; each was told to take this host for a guest.
    pub boxes: Vec<BlackBox>,
    /// How long a lost black box is waited for.
    pub reconnect_s: u32,
    /// What the user says of the host: price, marks, a note.
    pub price: Option<String>,
    /// The same.
    pub marks: Vec<String>,
    /// The same.
    pub note: Option<String>,
}

/// A black box, as another host finds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlackBox {
    /// Its part.
    pub role: Role,
    /// Its identity.
    pub id: String,
    /// Where its agent listens, `host:port`.
    pub address: String,
    /// How the conductor calls it.
    pub name: String,
}
