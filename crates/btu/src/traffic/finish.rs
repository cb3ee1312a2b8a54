//! What happens after the last run: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::traffic::sample::RunSample;
use btu_report::StoredTraffic;

use super::options::OutputArgs;
use super::start::Started;
use crate::agent::StateArgs;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::closing::Closing;
use crate::measurement::closing::Ending;
use crate::measurement::closing::Holding;
use crate::sign;

/// Closes a measurement, and says how it ended; the agents are known by what is in `state`.
pub(super) fn finish(
    (args, state): (&OutputArgs, &StateArgs),
    started: &mut Started,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let closing = Closing { options: state.again(), ..closing(ending, interrupt) };
    let stored = close(&closing, started)?;
    closing::show(started.journal.path(), &stored, args.json)?;
    closing.exit(started.journal.path(), holding(&stored))
}

/// What the runs of a measurement hold.
pub(super) fn holding(stored: &StoredTraffic) -> Holding {
    if stored.journal.runs().any(RunSample::has_internal_error) {
        return Holding::Faults;
    }
    let is_whole = stored.journal.runs().all(RunSample::is_complete);
    if is_whole { Holding::Everything } else { Holding::Gaps }
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &OutputArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored = closing::show_again(journal, args.json, StoredTraffic::open, |_, _| Ok(()))?;
    Ok(closing::exit(journal.path(), holding(&stored)))
}

/// The journal and its files. Nothing is said here: whoever ordered the measurement reads its events.
pub(super) fn close(
    closing: &Closing<'_>,
    started: &mut Started,
) -> Result<StoredTraffic, Failure> {
    let sign = |journal: &JournalDir, _: &_| sign::sign_files(journal);
    closing.close(&mut started.journal, StoredTraffic::open, sign)
}

pub(super) fn closing(ending: Ending, interrupt: &Interrupt) -> Closing<'_> {
    let (verb, all) = (VERB, "every run");
    Closing { verb, all, ending, options: String::new(), interrupt }
}

/// As it is typed.
pub(super) const VERB: &str = "traffic";
