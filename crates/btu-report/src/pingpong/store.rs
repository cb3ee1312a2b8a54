//! The directory of a ping-pong, read back into a journal.

use std::path::Path;

use btu_core::pingpong::journal::Journal;
use btu_core::pingpong::plan::Plan;
use btu_core::sample::Flag;

use crate::store::OpenMode;
use crate::store::StoreError;
use crate::store::hosts;
use crate::store::lines;
use crate::store::text;
use crate::store::warnings_of;

/// A journal, and what a reader must know of its files.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedPingPong {
    /// The journal.
    pub journal: Journal,
    /// What did not stop the reading: a torn last line, lines left out.
    pub warnings: Vec<Flag>,
    /// True where lines were left out.
    pub salvaged: bool,
}

/// True for the directory of a ping-pong.
pub fn is_pingpong(directory: &Path) -> bool {
    std::fs::read_to_string(directory.join(PLAN)).is_ok_and(|text| Plan::is_in(&text))
}

/// Reads the ping-pong in `directory`.
///
/// # Errors
/// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
pub fn open_pingpong(directory: &Path, mode: OpenMode) -> Result<OpenedPingPong, StoreError> {
    if !directory.join(PLAN).is_file() {
        return Err(StoreError::NoResult { directory: directory.to_owned() });
    }
    let samples = lines(directory, "samples.jsonl", mode)?;
    let events = lines(directory, "events.jsonl", mode)?;
    let mut warnings = warnings_of("samples.jsonl", &samples);
    warnings.extend(warnings_of("events.jsonl", &events));
    let salvaged = !samples.unreadable.is_empty() || !events.unreadable.is_empty();
    let plan = Plan::stored(PLAN, &text(&directory.join(PLAN))?)
        .map_err(|source| StoreError::PingPong { directory: directory.to_owned(), source })?;
    let hosts = hosts(directory)?;
    let journal = Journal { plan, hosts, lines: samples.records, events: events.records };
    Ok(OpenedPingPong { journal, warnings, salvaged })
}

const PLAN: &str = "plan.toml";
