//! How an agent is, for whoever may ask.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;
use btu_core::units::Bytes;
use serde::Deserialize;
use serde::Serialize;

/// How an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The agent's identity.
    pub agent: String,
    /// Its version.
    pub build: String,
    /// True after [`Request::StopAll`](super::Request::StopAll).
    pub stopped: bool,
    /// Names of the peers it works for.
    pub working_for: Vec<String>,
    /// Names of the peers that wait, in order.
    pub waiting: Vec<String>,
    /// Connections, whatever they do.
    pub connections: u32,
    /// How many may share the agent's time.
    pub shared: u32,
    /// Payload bytes of the last 24 hours.
    pub bytes_today: Bytes,
    /// What was refused last, the newest last.
    pub last_refusals: Vec<String>,
    /// What bounds the agent's process, whatever it is told.
    #[serde(default)]
    pub confinement: BTreeMap<String, Fact>,
}
