//! The verb `link`: a command behind an emulated link, and what the link really did to it.

mod document;
mod elements;
mod emulator;
mod far;
mod network;
mod options;
mod reach;
pub(crate) mod resolver;
mod session;
mod statement;

use std::fs::File;
use std::io::IsTerminal;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use anyhow::anyhow;

pub(crate) use options::LinkArgs;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use document::Document;
use options::Net;
use session::Session;

/// Runs the verb.
pub(crate) fn link(args: &LinkArgs) -> Result<ExitCode, Failure> {
    let elements = elements::elements(args)?;
    emulator::cpus(&args.emulator)?;
    refuse_what_is_not_here(args)?;
    let command = command(args)?;
    let statistics = statistics_file(args)?;
    let session = Session::prepare(args, &elements, &command)?;
    if !args.output.quiet {
        output::message(&session.announcement(&elements));
    }
    let ended = session.run()?;
    let document = Document::of(&ended);
    tell(args, &document, statistics)?;
    if args.output.strict && document.verdict().is_invalid() {
        return Ok(Exit::Threshold.into());
    }
    Ok(ended.status.into())
}

/// The end of a link: on stderr for people, on stdout and in a file for programs.
fn tell(args: &LinkArgs, document: &Document, statistics: Option<File>) -> Result<(), Failure> {
    if !args.output.quiet {
        for line in document.lines() {
            output::message(&line);
        }
    }
    let value = document.json();
    if args.output.json {
        output::json(&value);
    }
    let Some(mut file) = statistics else { return Ok(()) };
    let written = writeln!(file, "{value:#}");
    written.context("write the file of --stats").map_err(Failure::environment)
}

fn refuse_what_is_not_here(args: &LinkArgs) -> Result<(), Failure> {
    let missing = match args.surroundings.net {
        Net::Far if args.output.capture.is_some() => "--capture",
        Net::Far => return Ok(()),
        Net::Nat => "--net nat",
        Net::Pasta => "--net pasta",
    };
    let failure = Failure::environment(anyhow!("{missing}: not available in this version"));
    Err(failure.hint(match args.surroundings.net {
        Net::Far => "tcpdump -w FILE as, or beside, the command sees its end of the link",
        Net::Nat | Net::Pasta => "--reach HOST:PORT joins single services of the outside",
    }))
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

/// Opened before anything runs, so that a wrong path costs nothing.
fn statistics_file(args: &LinkArgs) -> Result<Option<File>, Failure> {
    let Some(path) = &args.output.stats else { return Ok(None) };
    let created = File::create(path).with_context(|| format!("--stats: create {}", path.display()));
    created.map(Some).map_err(Failure::usage)
}
