//! A test as a whole: which run of it something is, who signs what of it, and who runs it for whom.

use btu_core::manifest::RunLabel;
use btu_core::role::Role;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
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
    /// The service of the black boxes that this host is to use; `None` for the cells of a run.
    #[serde(default)]
    pub service: Option<String>,
    /// What the policy of the host under test leaves. Its own agent says so, and nobody else: what a
    /// conductor wrote here is written over.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// Whether each step is told with what the result grew by, as a small bundle.
    #[serde(default)]
    pub copies: bool,
    /// Whether it goes on with what [`super::Request::Given`] brought.
    #[serde(default)]
    pub goes_on: bool,
}

/// What a host under test may do, by the policy of its own agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// What it sends at the most; `None` for what the path takes.
    pub max_rate: Option<BitRate>,
    /// The longest time without a word between two steps.
    pub max_run: Nanos,
    /// The most connections at once.
    pub max_flows: u32,
    /// Payload of 24 hours.
    pub max_bytes_per_day: Bytes,
    /// What is spent of it when the test begins.
    pub spent: Bytes,
    /// When it may send, as a policy writes it; `None` for always.
    pub hours: Option<String>,
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
