//! What happens after the last round: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_core::mesh::analysis::Judged;
use btu_report::StoredMesh;

use super::options::MeshArgs;
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
    args: &MeshArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let options = args.state.again();
    let closing = Closing { verb: "mesh", all: "every round", ending, options, interrupt };
    let sign = |journal: &JournalDir, _: &_| sign::sign_files(journal);
    let stored = closing.close(journal, StoredMesh::open, sign)?;
    closing::show(journal.path(), &stored, args.result.json)?;
    let exit = closing.exit(journal.path(), Holding::Everything)?;
    Ok(if exit == Exit::Done { judged(&stored) } else { exit })
}

/// Shows a measurement again that came to its end.
pub(super) fn shown_again(args: &MeshArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let stored = closing::show_again(journal, args.result.json, StoredMesh::open, |_, _| Ok(()))?;
    Ok(judged(&stored))
}

/// A slow host is the news; after that, one that nobody could judge.
fn judged(stored: &StoredMesh) -> Exit {
    let analysis = &stored.analysis;
    if analysis.judged.iter().any(Judged::is_confirmed) {
        Exit::Threshold
    } else if !analysis.missing.is_empty() || !analysis.failed.is_empty() {
        Exit::Agent
    } else {
        Exit::Done
    }
}
