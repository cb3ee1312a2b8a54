//! What happens after the last cell: analysis, files, the report in the terminal.

use std::path::PathBuf;

use anyhow::anyhow;
use btu_control::Ending;
use btu_control::JournalDir;
use btu_control::Runner;
use btu_core::analysis::Analysis;
use btu_core::journal::Journal;
use btu_core::manifest::Signature;
use btu_core::words::shell_word;
use btu_report::OpenMode;
use btu_report::Opened;

use super::Done;
use super::interrupt::Interrupt;
use super::options::RunArgs;
use super::start;
use crate::conductor::shown;
use crate::exit::Exit;
use crate::exit::Failure;
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
    let stored = opened(journal)?;
    for (role, signed) in runner.signatures(stored.journal.plan.seed, &stored.journal.records) {
        match signed {
            Ok(signature) => made.push(signature),
            Err(reason) => {
                let detail = format!("the {role} host does not sign: {reason}");
                output::message(&format!("btu: warning: {detail}"));
                start::note(journal, "unsigned", &detail)?;
            }
        }
    }
    Ok(made)
}

/// A result that is whole, and what it means.
pub(super) struct Closed {
    pub(super) path: PathBuf,
    pub(super) journal: Journal,
    pub(super) analysis: Analysis,
}

/// Closes a run: an event, the rendered files, the signatures.
pub(super) fn close(done: Done) -> Result<Closed, Failure> {
    let Done { mut journal, ending, signatures, .. } = done;
    let (event, detail) = match ending {
        Ending::Complete => (Journal::FINISHED, "every pass is done".to_owned()),
        Ending::EmulationMismatch(wrong) => ("emulation_mismatch", wrong.join("; ")),
        Ending::Interrupted => ("interrupted", "stopped before the last pass was done".to_owned()),
    };
    start::note(&mut journal, event, &detail)?;
    let closed = render_files(&journal)?;
    sign::sign_run(&journal, &closed.journal, &signatures)?;
    Ok(closed)
}

/// A result that is at its end already: its files, rendered again. Its signatures stay, if it has them;
/// whatever a run of this plan cannot have left behind is signed by nobody.
pub(super) fn render_again(journal: &JournalDir) -> Result<Closed, Failure> {
    let stored = opened(journal)?;
    if let Some(first) = btu_report::check_runs(&stored.journal).first() {
        let (dir, place, detail) = (journal.path().display(), &first.place, &first.detail);
        let cause = anyhow!("{dir}: not what was measured: {place}: {detail}");
        return Err(Failure::usage(cause).hint("btu verify names every violation"));
    }
    let closed = rendered(journal, stored)?;
    if !sign::is_signed(journal) {
        sign::sign_run(journal, &closed.journal, &[])?;
    }
    Ok(closed)
}

/// The files of what a journal holds. Nobody signs them.
pub(super) fn render_files(journal: &JournalDir) -> Result<Closed, Failure> {
    rendered(journal, opened(journal)?)
}

fn opened(journal: &JournalDir) -> Result<Opened, Failure> {
    btu_report::open(journal.path(), OpenMode::Strict).map_err(Failure::unreadable)
}

fn rendered(journal: &JournalDir, stored: Opened) -> Result<Closed, Failure> {
    let analysis = stored.analyse();
    write_files(journal, &stored.journal, &analysis)?;
    Ok(Closed { path: journal.path().to_owned(), journal: stored.journal, analysis })
}

/// The exit code of a run, or why it failed.
pub(super) fn told(
    args: &RunArgs,
    closed: &Closed,
    ending: &Ending,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    match ending {
        Ending::Complete => Ok(exit(closed)),
        Ending::EmulationMismatch(wrong) => Err(mismatch(&wrong.join("; "))),
        Ending::Interrupted => {
            output::message(&format!("interrupted; go on with: {}", again(args, closed)));
            Ok(interrupt.exit())
        }
    }
}

/// What goes on with a run that is not at its end.
pub(super) fn again(args: &RunArgs, closed: &Closed) -> String {
    let agents = [("test", &args.test), ("active", &args.active), ("passive", &args.passive)];
    let agents = agents.map(|(role, agent)| {
        let name = |agent: &String| format!(" --{role} {}", shell_word(shown(agent)));
        agent.as_ref().map_or_else(String::new, name)
    });
    let word = |path: &PathBuf| shell_word(&path.display().to_string());
    let option = |name: &str, path: &Option<PathBuf>| {
        path.as_ref().map_or_else(String::new, |path| format!(" --{name} {}", word(path)))
    };
    let memory = if args.allow_tmpfs { " --allow-tmpfs" } else { "" };
    let places = [args.state.again(), option("io-dir", &args.io_dir)].concat();
    format!("btu run --resume {}{}{places}{memory}", word(&closed.path), agents.concat())
}

/// The exit code of a run that came to its end.
pub(super) fn exit(closed: &Closed) -> Exit {
    if has_capped(&closed.analysis) { Exit::Incomplete } else { Exit::Done }
}

/// A link that is not what the plan asked for.
pub(crate) fn mismatch(wrong: &str) -> Failure {
    let cause = anyhow!("the emulated link does not do what was asked: {wrong}");
    Failure::environment(cause).hint("is the machine busy? btu doctor tells more")
}

fn write_files(dir: &JournalDir, journal: &Journal, analysis: &Analysis) -> Result<(), Failure> {
    for (format, file) in [("json", "result.json"), ("html", "report.html")] {
        let bytes = render(format, journal, analysis)?;
        dir.write(file, &bytes).map_err(start::journal_failure)?;
    }
    Ok(())
}

/// Level 1 and 2 for people, or the whole result for programs.
pub(super) fn show(args: &RunArgs, closed: &Closed) -> Result<(), Failure> {
    let Closed { path, journal, analysis } = closed;
    if args.json {
        return output::bytes(&render("json", journal, analysis)?);
    }
    let document = btu_report::compose_words(journal, analysis);
    output::result(&btu_report::headline_text(&document))?;
    output::result(&format!("\nreport: {}\n", path.join("report.html").display()))
}

fn render(format: &str, journal: &Journal, analysis: &Analysis) -> Result<Vec<u8>, Failure> {
    btu_report::render_run(format, journal, analysis).map_err(Failure::usage)
}

/// True where a cell met its cap or failed: its figure is a bound.
fn has_capped(analysis: &Analysis) -> bool {
    analysis.runs.iter().any(|run| run.capped)
}
