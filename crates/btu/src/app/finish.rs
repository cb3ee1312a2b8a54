//! What happens after the last launch: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_report::StoredApp;

use super::options::RunArgs;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::closing::Closing;
use crate::measurement::closing::Ending;
use crate::measurement::closing::Holding;
use crate::sign;

/// Closes a measurement.
pub(super) fn finish(
    args: &RunArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (verb, all, options) = ("app run", "every launch", String::new());
    let closing = Closing { verb, all, ending, options, interrupt };
    let sign = |journal: &JournalDir, _: &_| sign::sign_files(journal);
    let stored = closing.close(journal, StoredApp::open, sign)?;
    closing::show(journal.path(), &stored, args.result.json)?;
    closing.exit(journal.path(), holding(&stored))
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &RunArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored = closing::show_again(journal, args.result.json, StoredApp::open, |_, _| Ok(()))?;
    Ok(closing::exit(journal.path(), holding(&stored)))
}

fn holding(stored: &StoredApp) -> Holding {
    if stored.analysis.has_faults() { Holding::Gaps } else { Holding::Everything }
}
