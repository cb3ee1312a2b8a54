//! The directory of a traffic measurement, read back into a journal.

use std::path::Path;

use btu_core::sample::Flag;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::sample::Journal;

use crate::files::ResultFiles;
use crate::store::OpenMode;
use crate::store::StoreError;
use crate::store::hosts;
use crate::store::lines;
use crate::store::warnings_of;

/// A journal, and what a reader must know of its files.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedTraffic {
    /// The journal.
    pub journal: Journal,
    /// What did not stop the reading: a torn last line, lines left out.
    pub warnings: Vec<Flag>,
    /// True where lines were left out.
    pub salvaged: bool,
}

/// True for the directory or the bundle of a traffic measurement.
pub fn is_traffic(directory: &Path) -> bool {
    ResultFiles::read(directory).is_ok_and(|files| files.is_traffic())
}

impl ResultFiles {
    /// True for a traffic measurement.
    pub fn is_traffic(&self) -> bool {
        self.text(PLAN).is_ok_and(Plan::is_in)
    }
}

/// Reads the traffic measurement in `directory`, or in a bundle.
///
/// # Errors
/// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
pub fn open_traffic(directory: &Path, mode: OpenMode) -> Result<OpenedTraffic, StoreError> {
    open_traffic_files(&ResultFiles::read(directory)?, mode)
}

/// The same of files that were read already.
///
/// # Errors
/// As [`open_traffic`].
pub fn open_traffic_files(
    files: &ResultFiles,
    mode: OpenMode,
) -> Result<OpenedTraffic, StoreError> {
    let samples = lines(files, "samples.jsonl", mode)?;
    let events = lines(files, "events.jsonl", mode)?;
    let mut warnings = warnings_of("samples.jsonl", &samples);
    warnings.extend(warnings_of("events.jsonl", &events));
    let salvaged = !samples.unreadable.is_empty() || !events.unreadable.is_empty();
    let plan = Plan::stored(PLAN, files.text(PLAN)?)
        .map_err(|source| StoreError::Traffic { directory: files.origin().to_owned(), source })?;
    let hosts = hosts(files)?;
    let journal = Journal { plan, hosts, lines: samples.records, events: events.records };
    Ok(OpenedTraffic { journal, warnings, salvaged })
}

const PLAN: &str = "plan.toml";
