//! What happens after the last visit: the journal read back, files, the summary in the terminal.

use btu_control::JournalDir;
use btu_report::OpenMode;

use super::export;
use super::measure::Ending;
use super::options::PingPongArgs;
use super::stored::Stored;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::run::Interrupt;
use crate::run::start::journal_failure;
use crate::run::start::note;
use crate::sign;

/// Closes a measurement: everything that is said of it comes from its journal.
pub(super) fn finish(
    args: &PingPongArgs,
    journal: &mut JournalDir,
    ending: Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    match ending {
        Ending::Complete => note(journal, "finished", "every round is done")?,
        Ending::Interrupted => note(journal, "interrupted", "stopped before its end")?,
    }
    let stored = Stored::open(journal.path(), OpenMode::Strict)?;
    for (format, file) in [("json", "result.json"), ("html", "report.html")] {
        journal.write(file, &stored.render(format)?).map_err(journal_failure)?;
    }
    sign::sign_files(journal)?;
    if let Some(file) = &args.export {
        export::export(&stored, file)?;
    }
    if args.json {
        output::bytes(&stored.render("json")?)?;
    } else {
        let report = journal.path().join("report.html");
        output::result(&format!("{}\nreport: {}\n", stored.text(), report.display()))?;
    }
    Ok(match ending {
        Ending::Interrupted => {
            let directory = journal.path().display();
            output::message(&format!("interrupted; go on with: btu pingpong --resume {directory}"));
            interrupt.exit()
        }
        Ending::Complete if stored.analysis.has_faults() => Exit::Incomplete,
        Ending::Complete => Exit::Done,
    })
}
