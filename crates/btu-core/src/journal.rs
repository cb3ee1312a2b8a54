//! The lines of a journal: every run, every check, in the order in which they ended.

pub mod codec;
mod event;
pub mod file;
mod plausible;

use serde::Deserialize;
use serde::Serialize;

use crate::run::cell::ActivityName;
use crate::sample::ActivitySample;
use crate::sample::CaptureSample;
use crate::sample::CellSample;
use crate::sample::Flag;
use crate::sample::HostSample;
use crate::sample::VerificationSample;

pub use event::EventRecord;

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
    /// 1 for the first try; a repeated run has the next number.
    #[serde(default = "first_attempt", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// When it began, UTC, RFC 3339.
    pub started_at: String,
    /// What it did.
    pub sample: ActivitySample,
    /// The test host around the run; `None` in a journal of a program that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSample>,
    /// Why the run must be no base; empty for a valid run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<String>,
    /// What a reader should know of the run.
    pub flags: Vec<Flag>,
}

impl AloneSample {
    /// True where the run is no base to compare with: it is repeated, as a cell is.
    pub fn is_void(&self) -> bool {
        !self.invalid.is_empty() || !self.sample.failures.is_empty()
    }

    /// Of the attempts of one activity in one pass, in their order, the one that counts: the last that is
    /// not void, else the last valid one, else the last.
    pub fn that_counts<'s>(attempts: &[&'s Self]) -> Option<&'s Self> {
        let last = |is: fn(&Self) -> bool| attempts.iter().rev().copied().find(|one| is(one));
        let valid = || last(|one| one.invalid.is_empty());
        last(|one| !one.is_void()).or_else(valid).or_else(|| attempts.last().copied())
    }
}

const fn first_attempt() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

/// A journal that was read back, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The plan that was run.
    pub plan: crate::run::plan::Plan,
    /// Facts of the hosts.
    pub hosts: crate::disclosure::Disclosure,
    /// The lines of `samples.jsonl`.
    pub records: Vec<Record>,
    /// The lines of `events.jsonl`.
    pub events: Vec<EventRecord>,
}

impl Journal {
    /// How a check of the emulation before the first cell calls its moment.
    pub const BEFORE: &str = "before";

    /// True where the last event about the run's life says that it is over.
    pub fn came_to_its_end(&self) -> bool {
        EventRecord::finished_at(&self.events).is_some()
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
