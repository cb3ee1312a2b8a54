//! A ping-pong that was read back whole: its plan, its hosts, its lines.

use super::plan::Plan;
use super::sample::Line;
use crate::disclosure::Disclosure;
use crate::journal::EventRecord;

/// Everything that a result directory of a ping-pong holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// What was asked for.
    pub plan: Plan,
    /// Facts of the hosts.
    pub hosts: Disclosure,
    /// The lines of `samples.jsonl`.
    pub lines: Vec<Line>,
    /// The lines of `events.jsonl`.
    pub events: Vec<EventRecord>,
}

impl Journal {
    /// The moment of the last event of this name.
    pub fn moment(&self, event: &str) -> Option<&str> {
        let found = self.events.iter().rfind(|record| record.event == event);
        found.map(|record| record.at.as_str())
    }

    /// True where everything that was asked for was done.
    pub fn is_complete(&self) -> bool {
        self.moment("finished").is_some()
    }
}
