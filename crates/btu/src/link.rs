//! The verb `link`: a command behind an emulated link, and what the link really did to it.

mod document;
mod elements;
mod emulator;
mod far;
mod files;
mod network;
mod options;
mod reach;
pub(crate) mod resolver;
mod session;
mod statement;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::anyhow;

pub(crate) use elements::chains;
pub(crate) use options::ElementArgs;
pub(crate) use options::LinkArgs;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use document::Document;
use files::Files;
use options::Net;
use session::Session;

/// Runs the verb.
pub(crate) fn link(args: &LinkArgs) -> Result<ExitCode, Failure> {
    let elements = elements::elements(args)?;
    emulator::refuse_what_is_of_the_relay(args)?;
    emulator::cpus(&args.emulator)?;
    refuse_what_is_not_here(args)?;
    let command = command(args)?;
    let files = Files::create(&args.output)?;
    let session = Session::prepare(args, &elements, &command)?;
    if !args.output.quiet {
        output::message(&session.announcement(&elements));
    }
    let ended = session.run()?;
    let document = Document::of(&ended);
    let is_refused = args.output.strict && document.verdict().is_invalid();
    let told = tell(args, &document, is_refused);
    let told = told.and(files.write(&document.json(), ended.capture.as_ref()));
    let status = if is_refused { Exit::Threshold as u8 } else { ended.status };
    last(status, told)
}

/// A command that failed, or a link that `--strict` refuses, is what its caller asked about: beside it a
/// record that could not be written is told, and no more.
fn last(status: u8, told: Result<(), Failure>) -> Result<ExitCode, Failure> {
    match told {
        Err(failure) if status == 0 => Err(failure),
        Err(failure) => {
            output::failure(&failure);
            Ok(status.into())
        }
        Ok(()) => Ok(status.into()),
    }
}

/// The end of a link: on stderr for people, on stdout for programs. A link that is refused is an error, which
/// nobody asked to be silent.
fn tell(args: &LinkArgs, document: &Document, is_refused: bool) -> Result<(), Failure> {
    if !args.output.quiet || is_refused {
        for line in document.lines() {
            output::message(&line);
        }
    }
    if args.output.json { output::json(&document.json()) } else { Ok(()) }
}

/// What joins a link to the outside does nothing inside another link.
fn only_outermost(option: &str) -> Failure {
    let cause = anyhow!("{option}: only the outermost link is joined to the outside");
    Failure::usage(cause).hint("give it to the enclosing btu link")
}

fn refuse_what_is_not_here(args: &LinkArgs) -> Result<(), Failure> {
    match args.surroundings.net {
        Net::Far | Net::Nat => Ok(()),
        Net::Pasta => {
            let cause = anyhow!("--net pasta: not available in this version");
            let hint = "--reach HOST:PORT joins single services of the outside; as root, --net nat";
            Err(Failure::environment(cause).hint(hint))
        }
    }
}

/// The command, or the user's shell where somebody sits at a terminal.
fn command(args: &LinkArgs) -> Result<Vec<std::ffi::OsString>, Failure> {
    if !args.command.is_empty() {
        return Ok(args.command.clone());
    }
    match std::env::var_os("SHELL") {
        Some(shell) if std::io::stdin().is_terminal() => Ok(vec![shell]),
        _ => Err(Failure::usage(anyhow!("link: no command given; write it after --"))),
    }
}
