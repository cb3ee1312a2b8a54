//! What the verbs with plans of their own have in common: a plan as a file, a journal read back.

use serde::de::DeserializeOwned;

use crate::disclosure::Disclosure;
use crate::journal;
use crate::journal::EventRecord;

/// Everything that the directory of such a measurement holds: plans `P`, lines `L` of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal<P, L> {
    /// What was asked for.
    pub plan: P,
    /// Facts of the hosts.
    pub hosts: Disclosure,
    /// The lines of `samples.jsonl`.
    pub lines: Vec<L>,
    /// The lines of `events.jsonl`.
    pub events: Vec<EventRecord>,
}

impl<P, L> Journal<P, L> {
    /// The moment of the last event of this name.
    pub fn moment(&self, event: &str) -> Option<&str> {
        let found = self.events.iter().rfind(|record| record.event == event);
        found.map(|record| record.at.as_str())
    }

    /// True where everything that was asked for was done: where the last event about the life of the measurement
    /// says so, because what was finished once may have lost its last line and gone on.
    pub fn is_complete(&self) -> bool {
        self.finished().is_some()
    }

    /// When everything that was asked for was done.
    pub fn finished(&self) -> Option<&str> {
        let last = EventRecord::last_of_life(&self.events);
        last.filter(|last| last.event == journal::Journal::FINISHED).map(|last| last.at.as_str())
    }
}

/// A plan that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {cause}")]
pub struct PlanError {
    /// The file.
    pub file: String,
    /// Where, and what is wrong with it.
    pub cause: String,
}

/// The plan in the text of a file.
///
/// # Errors
/// The first value that is not legal, with its line.
pub fn read_plan<P: DeserializeOwned>(file: &str, text: &str) -> Result<P, PlanError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        let cause = format!("line {line}: {}", error.message().replace('\n', " "));
        PlanError { file: file.to_owned(), cause }
    })
}

/// True for the text of a plan of this verb, whole or damaged.
pub fn is_plan_of(verb: &str, text: &str) -> bool {
    text.lines().any(|line| line.trim() == format!("verb = \"{verb}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_finished_and_goes_on_is_finished_only_when_it_ends_again() {
        let finished = |told: &[&str]| {
            let event = |(place, event): (usize, &&str)| EventRecord {
                at: format!("moment {place}"),
                event: (*event).to_owned(),
                detail: String::new(),
            };
            let events = told.iter().enumerate().map(event).collect();
            let hosts = Disclosure::default();
            let journal: Journal<(), ()> = Journal { plan: (), hosts, lines: Vec::new(), events };
            assert_eq!(journal.is_complete(), journal.finished().is_some());
            journal.finished().map(str::to_owned)
        };
        assert_eq!(finished(&["started", "finished", "warning"]).as_deref(), Some("moment 1"));
        assert_eq!(finished(&["started", "finished", "resumed", "interrupted"]), None);
        assert_eq!(finished(&["started", "finished", "resumed"]), None);
        let again = finished(&["started", "finished", "resumed", "finished"]);
        assert_eq!(again.as_deref(), Some("moment 3"));
        assert_eq!(finished(&["started"]), None);
        assert_eq!(finished(&[]), None);
    }
}
