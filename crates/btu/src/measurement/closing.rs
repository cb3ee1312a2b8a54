//! The end of a measurement of any verb: its files, who signs them, and the summary in the terminal.

use std::path::Path;

use anyhow::anyhow;
use btu_control::JournalDir;
use btu_core::journal::EventRecord;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::file;
use btu_core::words::shell_word;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::Stored;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::journal::journal_failure;
use crate::measurement::journal::note;
use crate::measurement::journal::reopened;
use crate::output;
use crate::report::warn;
use crate::sign;

/// What a measurement that came to its end holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// All of it, whole.
    Everything,
    /// Less than all of it, for a fault of the program itself.
    Faults,
    /// Less than all of it.
    Gaps,
}

/// How a measurement came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    /// The emulated link does not do what the plan asks for, with what is wrong.
    EmulationMismatch(String),
    Interrupted,
    /// Another host is gone for good, with the reason.
    Lost(String),
}

/// What a verb says at its end.
pub(crate) struct Closing<'a> {
    /// As it is typed.
    pub(crate) verb: &'static str,
    /// What is done when all is done: `every run`.
    pub(crate) all: &'static str,
    pub(crate) ending: Ending,
    /// What has to be said again to go on, such as ` --peer lab1`.
    pub(crate) options: String,
    pub(crate) interrupt: &'a Interrupt,
}

impl Closing<'_> {
    /// Closes the journal: everything that is said of it comes from what was read back by `open`, and
    /// `sign` says who stands for it.
    pub(crate) fn close<S: Stored, E: Into<Failure>>(
        &self,
        journal: &mut JournalDir,
        open: impl FnOnce(&ResultFiles, OpenMode) -> Result<S, E>,
        sign: impl FnOnce(&JournalDir, &S) -> Result<(), Failure>,
    ) -> Result<S, Failure> {
        let (event, detail) = match &self.ending {
            Ending::Complete => (EventRecord::FINISHED, format!("{} is done", self.all)),
            Ending::EmulationMismatch(wrong) => (EventRecord::EMULATION_MISMATCH, wrong.clone()),
            Ending::Interrupted => {
                (EventRecord::INTERRUPTED, format!("stopped before {} was done", self.all))
            }
            Ending::Lost(reason) => (EventRecord::AGENT_LOST, reason.clone()),
        };
        note(journal, event, &detail)?;
        let stored = render_files(journal, open)?;
        sign(journal, &stored)?;
        keep_extracts(journal, &stored);
        Ok(stored)
    }

    /// The exit code, or why the measurement failed.
    pub(crate) fn exit(&self, directory: &Path, holding: Holding) -> Result<Exit, Failure> {
        let again = format!("go on with: {}", again(self.verb, directory, &self.options));
        match &self.ending {
            Ending::Complete => Ok(exit(directory, holding)),
            Ending::EmulationMismatch(wrong) => Err(mismatch(wrong)),
            Ending::Interrupted => {
                output::message(&format!("interrupted; {again}"));
                Ok(self.interrupt.exit())
            }
            Ending::Lost(reason) => {
                let cause = anyhow!("an agent was lost: {reason}");
                Err(Failure::agent(cause).hint(format!("what was measured is kept; {again}")))
            }
        }
    }
}

/// A link that is not what the plan asked for.
pub(crate) fn mismatch(wrong: &str) -> Failure {
    let cause = anyhow!("the emulated link does not do what was asked: {wrong}");
    Failure::environment(cause).hint("is the machine busy? btu doctor tells more")
}

/// What goes on with a measurement in this directory, as a shell takes it.
pub(crate) fn again(verb: &str, directory: &Path, options: &str) -> String {
    format!("btu {verb} --resume {}{options}", shell_word(&directory.display().to_string()))
}

/// The exit code of a measurement that came to its end.
pub(crate) fn exit(directory: &Path, holding: Holding) -> Exit {
    let (what, exit) = match holding {
        Holding::Everything => return Exit::Done,
        Holding::Faults => ("internal error, please report it", Exit::Internal),
        Holding::Gaps => ("incomplete", Exit::Incomplete),
    };
    let report = directory.join(file::REPORT);
    output::message(&format!("{what}: what went wrong is in {}", report.display()));
    exit
}

/// The files of what a journal holds, read back by `open`: where that fails, they stay as they were. Nobody signs
/// them.
pub(crate) fn render_files<S: Stored, E: Into<Failure>>(
    journal: &JournalDir,
    open: impl FnOnce(&ResultFiles, OpenMode) -> Result<S, E>,
) -> Result<S, Failure> {
    let stored = opened(journal, open)?;
    for (format, file) in RENDERINGS {
        let content = stored.render(format).map_err(Failure::usage)?;
        journal.write(file, &content).map_err(journal_failure)?;
    }
    Ok(stored)
}

/// Formats of the files that are rendered from a journal.
const RENDERINGS: [(&str, &str); 2] = [("json", file::RESULT), ("html", file::REPORT)];

/// Makes those again that somebody deleted, where they are what was signed.
fn restore(journal: &JournalDir, stored: &dyn Stored) -> Result<(), Failure> {
    for (format, file) in RENDERINGS {
        if journal.path().join(file).exists() {
            continue;
        }
        let content = stored.render(format).map_err(Failure::usage)?;
        if sign::has_signed(journal, file, &content) {
            journal.write(file, &content).map_err(journal_failure)?;
        } else {
            output::message(&format!(
                "btu: warning: {file} is missing, and not made again: {OTHER}"
            ));
        }
    }
    Ok(())
}

/// Why a file stays away: what covers it would not hold.
const OTHER: &str = "what was signed was another one; btu report shows this one";

fn opened<S: Stored, E: Into<Failure>>(
    journal: &JournalDir,
    open: impl FnOnce(&ResultFiles, OpenMode) -> Result<S, E>,
) -> Result<S, Failure> {
    let files = ResultFiles::read(journal.path())?;
    let stored = open(&files, OpenMode::Strict).map_err(Into::into)?;
    warn(stored.warnings());
    Ok(stored)
}

/// What spares the next report the packets. Without it that one takes longer, and says the same: so it takes what room
/// the files of the result and their signatures left.
fn keep_extracts(journal: &JournalDir, stored: &dyn Stored) {
    for (name, content) in stored.extracts() {
        if let Err(cause) = journal.write(&name, &content) {
            return output::message(&format!("btu: warning: {:#}; {FOLLOWED}", anyhow!(cause)));
        }
    }
}

/// What becomes of a capture without extract.
const FOLLOWED: &str = "each report follows these packets again";

/// The journal in this directory, where its measurement came to its end: nothing is left to be measured.
pub(crate) fn finished<L: StoredLine>(directory: &Path) -> Result<Option<JournalDir>, Failure> {
    let (journal, stored) = reopened::<L>(directory)?;
    Ok(stored.is_finished().then_some(journal))
}

/// The same where it was signed, too: nothing is left to do for the host that measured.
pub(crate) fn done<L: StoredLine>(directory: &Path) -> Result<Option<JournalDir>, Failure> {
    Ok(finished::<L>(directory)?.filter(sign::is_signed))
}

/// A finished measurement, opened again by `open`. What was measured stays, and so does what was signed: the packets
/// that a page shows may be gone, or another build of the program may show them otherwise. `sign` is for one that
/// nobody could sign before.
pub(crate) fn show_again<S: Stored, E: Into<Failure>>(
    journal: &JournalDir,
    json: bool,
    open: impl FnOnce(&ResultFiles, OpenMode) -> Result<S, E>,
    sign: impl FnOnce(&JournalDir, &S) -> Result<(), Failure>,
) -> Result<S, Failure> {
    let is_signed = sign::is_signed(journal);
    let stored = if is_signed { opened(journal, open) } else { render_files(journal, open) }?;
    let done = if is_signed { SIGNED } else { RENDERED };
    output::message(&format!("{}: the measurement is finished; {done}", journal.path().display()));
    if is_signed {
        restore(journal, &stored)?;
    } else {
        sign(journal, &stored)?;
    }
    keep_extracts(journal, &stored);
    show(journal.path(), &stored, json)?;
    Ok(stored)
}

/// What becomes of the files of a finished measurement.
const RENDERED: &str = "only its files are rendered again";
const SIGNED: &str = "its files stay as they were signed";

/// What is said of a result in this directory.
pub(crate) fn show(directory: &Path, stored: &dyn Stored, json: bool) -> Result<(), Failure> {
    if json {
        return output::bytes(&stored.render("json").map_err(Failure::usage)?);
    }
    let report = directory.join(file::REPORT);
    let place =
        if report.exists() { format!("report: {}\n", report.display()) } else { String::new() };
    output::result(&format!("{}\n{place}", stored.brief()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::StateArgs;

    #[test]
    fn a_fault_of_the_program_has_an_exit_code_of_its_own() {
        let exit = |holding: Holding| exit(Path::new("result"), holding);
        assert_eq!(exit(Holding::Everything), Exit::Done);
        assert_eq!(exit(Holding::Gaps), Exit::Incomplete);
        assert_eq!(exit(Holding::Faults), Exit::Internal);
    }

    #[test]
    fn what_goes_on_is_said_as_a_shell_takes_it_with_where_agents_are_known() {
        let again = |directory, options: &str| again("traffic", Path::new(directory), options);
        assert_eq!(again("result", ""), "btu traffic --resume result");
        let state = StateArgs { state: Some("state of lab's".into()) }.again();
        let wanted = r"btu traffic --resume 'my result' --state 'state of lab'\''s'";
        assert_eq!(again("my result", &state), wanted);
        assert_eq!(StateArgs::default().again(), "");
    }
}
