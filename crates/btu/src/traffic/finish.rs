//! What happens after the last run: the journal read back, files, the summary in the terminal.

use btu_core::traffic::sample::RunSample;
use btu_report::StoredTraffic;

use super::options::OutputArgs;
use super::start::Started;
use crate::closing::Closing;
use crate::closing::Ending;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::run::Interrupt;

/// Closes a measurement.
pub(super) fn finish(
    args: &OutputArgs,
    started: &mut Started,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (verb, all, json) = ("traffic", "every run", args.json);
    let options = String::new();
    let closing = Closing { verb, all, ending, options, json, interrupt };
    let journal = &mut started.journal;
    let stored = closing.close(journal, StoredTraffic::open)?;
    Ok(closing.exit(journal, stored.journal.runs().all(RunSample::is_complete)))
}
