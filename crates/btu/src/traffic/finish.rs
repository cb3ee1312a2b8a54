//! What happens after the last run: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::traffic::sample::RunSample;
use btu_report::StoredTraffic;

use super::options::OutputArgs;
use super::start::Started;
use crate::agent::StateArgs;
use crate::closing;
use crate::closing::Closing;
use crate::closing::Ending;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::run::Interrupt;

/// Closes a measurement, and says how it ended; the agents are known by what is in `state`.
pub(super) fn finish(
    (args, state): (&OutputArgs, &StateArgs),
    started: &mut Started,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let closing = Closing { options: state.again(), ..closing(args, ending, interrupt) };
    let stored = closing.close(&mut started.journal, StoredTraffic::open)?;
    let is_whole = stored.journal.runs().all(RunSample::is_complete);
    Ok(closing.exit(&started.journal, is_whole))
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &OutputArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored = closing::show_again(journal, args.json, StoredTraffic::open)?;
    Ok(closing::exit(journal.path(), stored.journal.runs().all(RunSample::is_complete)))
}

/// Closes a measurement of which another host hears by its events.
pub(super) fn close(
    args: &OutputArgs,
    started: &mut Started,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let closing = closing(args, ending, interrupt);
    closing.close(&mut started.journal, StoredTraffic::open).map(drop)
}

fn closing<'a>(args: &OutputArgs, ending: Ending, interrupt: &'a Interrupt) -> Closing<'a> {
    let (verb, all, json) = (VERB, "every run", args.json);
    Closing { verb, all, ending, options: String::new(), json, interrupt }
}

/// As it is typed.
pub(super) const VERB: &str = "traffic";
