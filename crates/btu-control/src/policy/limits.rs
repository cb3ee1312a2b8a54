//! What a policy leaves to its own host where that is under test: carried to the test by its agent, and
//! asked before each step.

use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Grant;
use crate::message::Limits;

/// Why a host is not put under test: what the policy of an agent says as long as nobody changed it.
pub const NO_TEST: &str = "policy: test = false";

/// True for a reason that a policy gives: they all begin alike.
pub(crate) fn speaks_in(reason: &str) -> bool {
    reason.starts_with("policy: ")
}

impl Grant {
    /// Whether payload is bounded: who moves some tells while it works.
    pub(crate) fn is_metered(&self) -> bool {
        self.max_bytes_per_day < Self::default().max_bytes_per_day
    }

    /// What this host may do where it is under test and uses a service of others.
    pub(crate) fn limits(&self, spent: Bytes) -> Limits {
        Limits {
            max_rate: self.max_rate,
            max_run: self.max_run,
            max_flows: self.max_flows,
            max_bytes_per_day: self.max_bytes_per_day,
            spent,
            hours: self.hours.map(|hours| hours.to_string()),
        }
    }
}

impl Limits {
    /// Whether payload is bounded: whoever moves some tells while it works.
    pub fn is_metered(&self) -> bool {
        let bounded = |bytes| Grant { max_bytes_per_day: bytes, ..Grant::default() };
        bounded(self.max_bytes_per_day).is_metered()
    }

    /// Why a step is not begun that takes so long over so many connections; `None` where it is. `moved`
    /// is the payload of the steps before it, `unix_s` what the wall clock says.
    pub fn refuses(
        &self,
        lasting: Nanos,
        connections: u32,
        moved: Bytes,
        unix_s: u64,
    ) -> Option<String> {
        let Self { max_run, max_flows, max_bytes_per_day, spent, ref hours, .. } = *self;
        let hours = match hours.as_deref().map(str::parse).transpose() {
            Ok(hours) => hours,
            Err(cause) => return Some(format!("policy: hours: {cause}")),
        };
        let grant = Grant { hours, max_run, max_flows, max_bytes_per_day, ..Grant::default() };
        let spent = spent.saturating_add(moved);
        let refused = grant.is_spent(spent).or_else(|| grant.exceeds(lasting, connections));
        refused.or_else(|| grant.refuses_time(unix_s, lasting))
    }
}
