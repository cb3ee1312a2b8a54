//! What happens after the last cell: signatures of the hosts, the end that all verbs share.

use std::path::Path;
use std::path::PathBuf;

use anyhow::anyhow;
use btu_control::Ending as Driven;
use btu_control::JournalDir;
use btu_control::Runner;
use btu_core::journal::Journal;
use btu_core::manifest::Signature;
use btu_core::words::shell_word;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredRun;

use super::Done;
use super::options::RunArgs;
use crate::conductor::shown;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing;
use crate::measurement::closing::Closing;
use crate::measurement::closing::Ending;
use crate::measurement::closing::Holding;
use crate::measurement::journal::note;
use crate::output;
use crate::sign;

/// What other hosts measured, signed by themselves. One that does not sign is an event of the run.
pub(super) fn signatures(
    args: &RunArgs,
    journal: &mut JournalDir,
    runner: &mut dyn Runner,
) -> Result<Vec<Signature>, Failure> {
    let mut made = Vec::new();
    if !args.is_remote() {
        return Ok(made);
    }
    let stored = btu_report::open(journal.path(), OpenMode::Strict).map_err(Failure::unreadable)?;
    for (role, signed) in runner.signatures(stored.journal.plan.seed, &stored.journal.records) {
        match signed {
            Ok(signature) => made.push(signature),
            Err(reason) => {
                let detail = format!("the {role} host does not sign: {reason}");
                output::message(&format!("btu: warning: {detail}"));
                note(journal, "unsigned", &detail)?;
            }
        }
    }
    Ok(made)
}

/// How a run came to its end: what the environment lacks comes before a lost agent (docs/results.md).
pub(super) fn ending(driven: Driven, lost: Option<String>) -> Ending {
    match (driven, lost) {
        (Driven::EmulationMismatch(wrong), _) => Ending::EmulationMismatch(wrong.join("; ")),
        (_, Some(lost)) => Ending::Lost(lost),
        (Driven::Complete, None) => Ending::Complete,
        (Driven::Interrupted, None) => Ending::Interrupted,
    }
}

/// Closes a run, and says how it ended.
pub(super) fn finish(
    args: &RunArgs,
    mut done: Done,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let closing = closing(args, done.ending.clone(), interrupt);
    let stored = close(&closing, &mut done)?;
    closing::show(done.journal.path(), &stored, args.json)?;
    closing.exit(done.journal.path(), holding(&stored))
}

/// The journal, its files and their signatures. Nothing is said here: whoever ordered the run reads its events.
pub(super) fn close(closing: &Closing<'_>, done: &mut Done) -> Result<StoredRun, Failure> {
    let others = &done.signatures;
    let sign =
        |journal: &JournalDir, stored: &StoredRun| sign::sign_run(journal, &stored.journal, others);
    closing.close(&mut done.journal, StoredRun::open, sign)
}

pub(super) fn closing<'a>(args: &RunArgs, ending: Ending, interrupt: &'a Interrupt) -> Closing<'a> {
    Closing { verb: VERB, all: "every pass", ending, options: options(args), interrupt }
}

/// A run that is at its end is not measured again: whoever could, would keep the better score. Whatever a
/// run of this plan cannot have left behind is signed by nobody, and what another host measured by that
/// host or by nobody.
pub(super) fn shown_again(args: &RunArgs, journal: &JournalDir) -> Result<Exit, Failure> {
    let is_own = args.test.is_none();
    let open = |files: &ResultFiles, mode| {
        let stored = StoredRun::open(files, mode)?;
        if is_own {
            is_as_measured(journal, &stored.journal)?;
        }
        Ok::<_, Failure>(stored)
    };
    let sign = |journal: &JournalDir, stored: &StoredRun| {
        if is_own { sign::sign_run(journal, &stored.journal, &[]) } else { Ok(()) }
    };
    let stored = closing::show_again(journal, args.json, open, sign)?;
    Ok(closing::exit(journal.path(), holding(&stored)))
}

fn is_as_measured(directory: &JournalDir, journal: &Journal) -> Result<(), Failure> {
    let violations = btu_report::check_runs(journal);
    let Some(first) = violations.first() else { return Ok(()) };
    let (dir, place, detail) = (directory.path().display(), &first.place, &first.detail);
    let cause = anyhow!("{dir}: not what was measured: {place}: {detail}");
    Err(Failure::usage(cause).hint("btu verify names every violation"))
}

/// What goes on with a run that is not at its end.
pub(super) fn again(args: &RunArgs, directory: &Path) -> String {
    closing::again(VERB, directory, &options(args))
}

/// What has to be said again to go on.
fn options(args: &RunArgs) -> String {
    let agents = [("test", &args.test), ("active", &args.active), ("passive", &args.passive)];
    let agents = agents.map(|(role, agent)| {
        let name = |agent: &String| format!(" --{role} {}", shell_word(shown(agent)));
        agent.as_ref().map_or_else(String::new, name)
    });
    let word = |path: &PathBuf| shell_word(&path.display().to_string());
    let io = |path| format!(" --io-dir {}", word(path));
    let io = args.io_dir.as_ref().map_or_else(String::new, io);
    let memory = if args.allow_tmpfs { " --allow-tmpfs" } else { "" };
    format!("{}{}{io}{memory}", agents.concat(), args.state.again())
}

/// Gaps where a cell met its cap or failed: its figure is a bound.
pub(super) fn holding(stored: &StoredRun) -> Holding {
    let is_bound = stored.analysis.runs.iter().any(|run| run.capped);
    if is_bound { Holding::Gaps } else { Holding::Everything }
}

/// As it is typed.
const VERB: &str = "run";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_in_the_table_of_exit_codes_is_how_a_run_ended() {
        let wrong = || Driven::EmulationMismatch(vec!["delay".to_owned(), "rate".to_owned()]);
        let mismatch = Ending::EmulationMismatch("delay; rate".to_owned());
        let silent = || Some("active: silent".to_owned());
        let lost = Ending::Lost("active: silent".to_owned());
        for (driven, reason, ended) in [
            (wrong(), silent(), &mismatch),
            (wrong(), None, &mismatch),
            (Driven::Complete, silent(), &lost),
            (Driven::Interrupted, silent(), &lost),
            (Driven::Complete, None, &Ending::Complete),
            (Driven::Interrupted, None, &Ending::Interrupted),
        ] {
            assert_eq!(ending(driven, reason), *ended);
        }
    }
}
