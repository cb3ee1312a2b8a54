//! What the sessions of a server use of their CPUs, asked from elsewhere while they work.

use std::sync::Arc;
use std::thread::ThreadId;

use btu_core::sample::SessionUse;
use btu_core::units::Nanos;

use super::server::Shared;
use crate::time::now;

/// A hold on a server's account, which outlives the server.
#[derive(Clone, Debug)]
pub struct Gauge(pub(super) Arc<Shared>);

/// One reading of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    at: Nanos,
    sessions: Vec<(ThreadId, Nanos)>,
}

impl Gauge {
    /// Takes a clock reading for each session, some hundred nanoseconds.
    pub fn read(&self) -> Reading {
        Reading { at: now(), sessions: self.0.guests.used() }
    }
}

impl Reading {
    /// What the busiest session used since an earlier reading; `None` where there is none. One that came meanwhile has
    /// used all of its time since then; what one used that has left, nobody knows.
    pub fn busiest_since(&self, earlier: &Self) -> Option<SessionUse> {
        let used = |(thread, now): &(ThreadId, Nanos)| {
            let before = earlier.sessions.iter().find(|(known, _)| known == thread);
            now.since(before.map_or(Nanos::ZERO, |(_, before)| *before))
        };
        let cpu_ns = self.sessions.iter().map(used).max()?;
        Some(SessionUse { cpu_ns, elapsed_ns: self.at.since(earlier.at) })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn reading(at_ms: u64, sessions: &[(ThreadId, u64)]) -> Reading {
        let used = |(thread, ms): &(ThreadId, u64)| (*thread, Nanos::from_millis(*ms));
        Reading { at: Nanos::from_millis(at_ms), sessions: sessions.iter().map(used).collect() }
    }

    #[test]
    fn the_busiest_session_counts_by_what_it_used_since_then() {
        let [old, busy, new] = [(); 3].map(|()| thread::spawn(|| ()).thread().id());
        let before = reading(100, &[(old, 500), (busy, 10)]);
        let after = reading(200, &[(old, 510), (busy, 105), (new, 30)]);
        let used =
            SessionUse { cpu_ns: Nanos::from_millis(95), elapsed_ns: Nanos::from_millis(100) };
        assert_eq!(after.busiest_since(&before), Some(used));
        assert_eq!(reading(200, &[]).busiest_since(&before), None);
        let came = reading(200, &[(new, 30)]).busiest_since(&before).unwrap();
        assert_eq!(came.cpu_ns, Nanos::from_millis(30));
    }
}
