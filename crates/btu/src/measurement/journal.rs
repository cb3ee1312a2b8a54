//! The journal of a measurement: begun, gone on with, told what happens.

use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_control::JournalError;
use btu_control::Stored;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::codec::TornLine;
use btu_core::journal::file;
use btu_core::words::several;

use super::first_part::same_agents;
use super::first_part::same_host;
use super::first_part::same_placement;
use super::first_part::same_settings;
use super::place;
use crate::exit::Failure;
use crate::output;
use crate::sign;

/// A new journal of another verb, whose plan is this text, in the directory that is named or a default one.
pub(crate) fn begin(
    named: Option<&Path>,
    default: impl Fn() -> PathBuf,
    plan: &str,
    hosts: &Disclosure,
) -> Result<JournalDir, Failure> {
    let mut journal = created(named, default, |out| JournalDir::create(out, plan, None, hosts))?;
    begun(&mut journal, "a new measurement", plan)?;
    Ok(journal)
}

/// A new journal in the directory that is named, or in the first default one that nobody else takes meanwhile.
pub(crate) fn created(
    named: Option<&Path>,
    default: impl Fn() -> PathBuf,
    create: impl Fn(&Path) -> Result<JournalDir, JournalError>,
) -> Result<JournalDir, Failure> {
    place::first_free(named, default, |out| create(out).map_err(not_created))
}

/// A journal of another verb with the lines that it holds, on the hosts of its first part as they were.
pub(crate) fn go_on<L: StoredLine>(
    directory: &Path,
    here: &Disclosure,
) -> Result<(JournalDir, Vec<L>), Failure> {
    let (mut journal, stored) = reopened::<L>(directory)?;
    has_begun(directory, &stored)?;
    same_host(&stored.hosts, here)?;
    same_settings(&stored.hosts, here)?;
    same_agents(&stored.hosts, here)?;
    same_placement(&stored.hosts, here)?;
    sign::reopen(&journal);
    let kept = format!("{} kept", several(stored.records.len(), "line"));
    let torn = stored.torn.as_ref().map(|torn| set_aside(torn, "what it held is measured again"));
    let resumed: Vec<String> = std::iter::once(kept).chain(torn.clone()).collect();
    note(&mut journal, EventRecord::RESUMED, &resumed.join("; "))?;
    if let Some(torn) = &torn {
        output::message(torn);
    }
    Ok((journal, stored.records))
}

/// What became of a line that a crash cut off, and what follows from that.
pub(crate) fn set_aside(torn: &TornLine, follows: &str) -> String {
    let (number, length) = (torn.number, torn.bytes.len());
    format!(
        "{}:{number}: torn last line ({length} bytes) moved to samples.torn; {follows}",
        file::SAMPLES
    )
}

/// The journal in this directory, with the plan that it began with: half of a matrix and half of another is no result.
pub(crate) fn reopened<L: StoredLine>(
    directory: &Path,
) -> Result<(JournalDir, Stored<L>), Failure> {
    let (journal, stored) = JournalDir::resume::<L>(directory).map_err(journal_failure)?;
    match EventRecord::other_plan(&stored.events, stored.plan.as_bytes()) {
        None => Ok((journal, stored)),
        Some(other) => {
            let cause = anyhow!("{}: {other}", directory.join(file::PLAN).display());
            Err(Failure::usage(cause).hint(OTHER_PLAN))
        }
    }
}

/// The first event comes before the first sample: without one nothing says when the samples were made.
pub(crate) fn has_begun<L>(directory: &Path, stored: &Stored<L>) -> Result<(), Failure> {
    let lines = stored.records.len();
    if lines == 0 || !stored.events.is_empty() {
        return Ok(());
    }
    let events = directory.join(file::EVENTS);
    let (events, lines) = (events.display(), several(lines, "line"));
    let cause = anyhow!("{events}: nothing is in it, but {} has {lines}", file::SAMPLES);
    Err(Failure::usage(cause).hint(PUT_BACK))
}

/// Notes that what this plan asks for begins.
pub(crate) fn begun(journal: &mut JournalDir, what: &str, plan: &str) -> Result<(), Failure> {
    note(journal, EventRecord::STARTED, &EventRecord::of_plan(what, plan))
}

/// Appends an event of the run as a whole.
pub(crate) fn note(journal: &mut JournalDir, event: &str, detail: &str) -> Result<(), Failure> {
    let record =
        EventRecord { at: place::timestamp(), event: event.to_owned(), detail: detail.to_owned() };
    journal.note(&record).map_err(journal_failure)
}

/// Nothing was measured yet, so another directory is all it takes.
fn not_created(error: JournalError) -> Failure {
    match error {
        JournalError::Io { .. } => {
            let hint = if place::is_nowhere() { place::NOWHERE } else { ANOTHER_OUT };
            Failure::environment(error).hint(hint)
        }
        other => journal_failure(other),
    }
}

/// A wrong directory is the user's, a full disk is the environment's.
pub(crate) fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::NotEmpty { .. } => Failure::usage(error).hint(place::TAKEN),
        JournalError::Corrupted { .. } => Failure::usage(error)
            .hint("btu report --salvage shows what can be read; a new run is needed to go on"),
        JournalError::Locked { .. } => Failure::usage(error).hint(BEING_WRITTEN),
        JournalError::NotAResult { .. } | JournalError::Unreadable { .. } => {
            Failure::usage(error).hint(PUT_BACK)
        }
        JournalError::Io { ref source, .. } if is_closed(source) => {
            Failure::environment(error).hint(CLOSED)
        }
        JournalError::Io { .. } => Failure::environment(error)
            .hint("what was measured so far is kept; go on with --resume and its directory"),
    }
}

/// True where nothing is written as long as rights and mounts are as they are.
fn is_closed(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

const CLOSED: &str = "btu report shows what is there; to go on, make the directory writable for this user, \
     or copy it to where it is";
/// What can be done where a file of a result is gone.
pub(crate) const PUT_BACK: &str = "put the file back; or start a new one, without --resume";
const OTHER_PLAN: &str = "put the plan back as it was; what another plan asks for is a new measurement: start it \
     without --resume, with --plan and the changed file, in another --out";
const ANOTHER_OUT: &str = "name another directory with --out";
const BEING_WRITTEN: &str = "wait until that one has ended, or end it, then go on with --resume; \
     a new measurement takes another directory with --out";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    /// Two that begin in the same second have one default name.
    #[test]
    fn a_default_directory_that_others_take_meanwhile_is_left_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let named = |number: u32| folder.path().join(number.to_string());
        let make = |out: &Path| JournalDir::create(out, "", None, &Disclosure::default());
        let held = make(&named(0)).unwrap();
        std::fs::create_dir(named(1)).unwrap();
        std::fs::write(named(1).join("notes.txt"), "mine").unwrap();
        let tried = std::cell::Cell::new(0);
        let default = || named(tried.replace(tried.get() + 1));
        assert_eq!(created(None, default, make).unwrap().path(), named(2));
        let refused = created(Some(held.path()), default, make).unwrap_err();
        assert!(refused.exit == Exit::Usage, "{:#}", refused.cause);
        assert_eq!(tried.get(), 3, "who names a directory means that one");
    }
}
