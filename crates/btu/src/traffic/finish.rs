//! What happens after the last run: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::traffic::sample::RunSample;
use btu_report::StoredTraffic;

use super::options::OutputArgs;
use crate::closing::Closing;
use crate::closing::Ending;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::run::Interrupt;

/// Closes a measurement.
pub(super) fn finish(
    args: &OutputArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (verb, all, json) = ("traffic", "every run", args.json);
    let closing = Closing { verb, all, ending, options: String::new(), json, interrupt };
    let stored = closing.close(journal, StoredTraffic::open)?;
    Ok(closing.exit(journal, stored.journal.runs().all(RunSample::is_complete)))
}
