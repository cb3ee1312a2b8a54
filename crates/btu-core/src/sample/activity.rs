//! What a host activity did, alone or beside COMM.

use serde::Deserialize;
use serde::Serialize;

use crate::units::Nanos;

/// Work of one activity inside one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivitySample {
    /// Work units inside the window; a unit that straddles an edge counts by its part inside.
    pub units: f64,
    /// Length of the window.
    pub elapsed_ns: Nanos,
    /// Threads that worked.
    pub threads: u32,
    /// CPU time of those threads inside the window.
    pub cpu_ns: Option<Nanos>,
    /// What one unit is, for readers: `1 MiB block read and written`.
    pub unit: String,
    /// Why the activity did not work as asked; empty when it did.
    pub failures: Vec<String>,
}

impl ActivitySample {
    /// Units per second; `None` for no time.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.elapsed_ns > Nanos::ZERO).then(|| self.units / self.elapsed_ns.seconds())
    }
}
