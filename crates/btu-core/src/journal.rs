//! The lines of a journal: every run, every check, in the order in which they ended.

pub mod codec;

use serde::Deserialize;
use serde::Serialize;

use crate::cell::ActivityName;
use crate::sample::ActivitySample;
use crate::sample::CaptureSample;
use crate::sample::CellSample;
use crate::sample::Flag;
use crate::sample::VerificationSample;

/// One line of `samples.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// An activity without COMM.
    Alone(AloneSample),
    /// A second run of a cell, with its packets; never scored.
    Capture(Box<CaptureSample>),
    /// One run of one cell.
    Cell(Box<CellSample>),
    /// A check of the emulation.
    Verification(VerificationSample),
}

/// An activity alone: the base of the slowdowns of its pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AloneSample {
    /// The activity z.
    pub activity: ActivityName,
    /// Number of the pass, from 1.
    pub pass: u32,
    /// Place in the random order of the pass, from 1.
    pub position: u32,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// What it did.
    pub sample: ActivitySample,
    /// What a reader should know of the run.
    pub flags: Vec<Flag>,
}

/// One line of `events.jsonl`: what happened to the run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Snake case, stable: `started`, `resumed`, `interrupted`, `agent_lost`, `finished`, `warning`.
    pub event: String,
    /// A sentence for people.
    pub detail: String,
}

/// A journal that was read back, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The plan that was run.
    pub plan: crate::plan::Plan,
    /// Facts of the hosts.
    pub hosts: crate::disclosure::Disclosure,
    /// The lines of `samples.jsonl`.
    pub records: Vec<Record>,
    /// The lines of `events.jsonl`.
    pub events: Vec<EventRecord>,
}

impl EventRecord {
    /// Why what these events tell of did not come to its end, where one of them says so.
    pub fn cut(events: &[Self]) -> Option<&str> {
        let last = Self::last_of_life(events)?;
        let is_cut = ["agent_lost", "interrupted"].contains(&last.event.as_str());
        is_cut.then_some(last.detail.as_str())
    }

    /// The events since the measurement was gone on with last: what ended an earlier part is over.
    pub fn last_part(events: &[Self]) -> &[Self] {
        let begun = events.iter().rposition(|one| one.event == "resumed").unwrap_or_default();
        &events[begun..]
    }

    /// The last of these events that begins or ends what they tell of.
    pub(crate) fn last_of_life(events: &[Self]) -> Option<&Self> {
        let of_life = ["agent_lost", Journal::FINISHED, "interrupted", "resumed", "started"];
        events.iter().rfind(|one| of_life.contains(&one.event.as_str()))
    }
}

impl Journal {
    /// How a check of the emulation before the first cell calls its moment.
    pub const BEFORE: &str = "before";

    /// The event of a run whose every pass is done: the last of its events.
    pub const FINISHED: &str = "finished";

    /// The event of a cell whose second run was due when the time for second runs was over; its detail
    /// begins with the cell.
    pub const NOT_RUN_AGAIN: &str = "not_run_again";

    /// True where the last event about the run's life says that it is over.
    pub fn came_to_its_end(&self) -> bool {
        let last = EventRecord::last_of_life(&self.events);
        last.is_some_and(|last| last.event == Self::FINISHED)
    }

    /// The second runs with capture, one for each cell that has one: the last, where there are more.
    pub fn captures(&self) -> Vec<&CaptureSample> {
        let mut last: Vec<&CaptureSample> = Vec::new();
        for record in &self.records {
            let Record::Capture(sample) = record else { continue };
            last.retain(|earlier| earlier.run.cell != sample.run.cell);
            last.push(sample);
        }
        last
    }

    /// The checks of the emulation that say what the cells were measured with. A check before the
    /// first cell is repeated until it holds, so only the last of each link counts; of those after
    /// the last cell every one does.
    pub fn deciding_checks(&self) -> Vec<&VerificationSample> {
        let mut checks: Vec<&VerificationSample> = Vec::new();
        for record in &self.records {
            let Record::Verification(check) = record else { continue };
            let replaced = |earlier: &&VerificationSample| {
                (&earlier.link, earlier.when.as_str()) == (&check.link, Self::BEFORE)
            };
            checks.retain(|earlier| check.when != Self::BEFORE || !replaced(earlier));
            checks.push(check);
        }
        checks
    }
}
