//! What the verbs with plans of their own have in common: a plan as a file, a journal read back.

use serde::de::DeserializeOwned;

use crate::disclosure::Disclosure;
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
    /// True where everything that was asked for was done: where the last event about the life of the measurement
    /// says so, because what was finished once may have lost its last line and gone on.
    pub fn is_complete(&self) -> bool {
        EventRecord::finished_at(&self.events).is_some()
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

/// The same, with what `illegal` finds in it: the key of a value that nobody can measure with, and what is legal.
///
/// # Errors
/// The first value that is not legal, with its line or its key.
pub fn legal_plan<P: DeserializeOwned>(
    file: &str,
    text: &str,
    illegal: impl FnOnce(&P) -> Option<(&'static str, String)>,
) -> Result<P, PlanError> {
    let plan = read_plan(file, text)?;
    match illegal(&plan) {
        Some((key, cause)) => {
            Err(PlanError { file: file.to_owned(), cause: format!("{key}: {cause}") })
        }
        None => Ok(plan),
    }
}

/// True for the text of a plan of this verb, whole or damaged.
pub fn is_plan_of(verb: &str, text: &str) -> bool {
    text.lines().any(|line| line.trim() == format!("verb = \"{verb}\""))
}
