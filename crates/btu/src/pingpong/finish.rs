//! What happens after the last visit: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::words::shell_word;
use btu_report::StoredPingPong;

use super::export;
use super::options::PingPongArgs;
use crate::conductor::shown;
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
    args: &PingPongArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let peer = |name: &String| format!(" --peer {}", shell_word(shown(name)));
    let options = args.peer.as_ref().map_or_else(String::new, peer) + &args.state.again();
    let (verb, all) = ("pingpong", "every round");
    let closing = Closing { verb, all, ending, options, interrupt };
    let sign = |journal: &JournalDir, _: &_| sign::sign_files(journal);
    let stored = closing.close(journal, StoredPingPong::open, sign)?;
    closing::show(journal.path(), &stored, args.result.json)?;
    exported(args, &stored)?;
    closing.exit(journal.path(), holding(&stored))
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &PingPongArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored =
        closing::show_again(journal, args.result.json, StoredPingPong::open, |_, _| Ok(()))?;
    exported(args, &stored)?;
    Ok(closing::exit(journal.path(), holding(&stored)))
}

fn holding(stored: &StoredPingPong) -> Holding {
    if stored.analysis.has_faults() { Holding::Gaps } else { Holding::Everything }
}

fn exported(args: &PingPongArgs, stored: &StoredPingPong) -> Result<(), Failure> {
    args.export.as_ref().map_or(Ok(()), |file| export::export(&stored.analysis, file))
}
