//! What happens after the last trial: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::words::shell_word;
use btu_report::StoredFile;

use super::options::FileArgs;
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
    args: &FileArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let named = |directory: &std::path::PathBuf| {
        format!(" --io-dir {}", shell_word(&directory.display().to_string()))
    };
    let options = args.io_dir.as_ref().map_or_else(String::new, named);
    let closing = Closing { verb: "file", all: "every round", ending, options, interrupt };
    let sign = |journal: &JournalDir, _: &_| sign::sign_files(journal);
    let stored = closing.close(journal, StoredFile::open, sign)?;
    closing::show(journal.path(), &stored, args.result.json)?;
    closing.exit(journal.path(), holding(&stored))
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &FileArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored = closing::show_again(journal, args.result.json, StoredFile::open, |_, _| Ok(()))?;
    Ok(closing::exit(journal.path(), holding(&stored)))
}

fn holding(stored: &StoredFile) -> Holding {
    if stored.analysis.failures.is_empty() { Holding::Everything } else { Holding::Gaps }
}
