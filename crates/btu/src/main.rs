//! The program: reads the command line, hands over to a verb, turns its end into an exit code.
#![forbid(unsafe_code)]

mod bundle;
mod cli;
mod doctor;
mod exit;
mod link;
mod list;
mod output;
mod pingpong;
mod privilege;
mod progress;
mod rank;
mod rendering;
mod report;
mod run;
mod score;
mod sign;
mod stored;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::cli::Verb;
use crate::exit::Exit;
use crate::exit::Failure;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(output::internal_error));
    let ended = std::panic::catch_unwind(|| dispatch(Cli::parse()));
    match ended {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output::failure(&failure);
            failure.exit.into()
        }
        Err(_panic) => Exit::Internal.into(),
    }
}

/// Runs one verb.
fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.verb {
        Verb::Bundle(args) => bundle::bundle(&args).map(Into::into),
        Verb::Doctor(args) => doctor::doctor(&args).map(Into::into),
        Verb::Link(args) => link::link(&args),
        Verb::List(args) => list::list(&args).map(Into::into),
        Verb::Pingpong(args) => pingpong::pingpong(&args).map(Into::into),
        Verb::Rank(args) => rank::rank(&args).map(Into::into),
        Verb::Report(args) => report::report(&args).map(Into::into),
        Verb::Run(args) => run::run(&args).map(Into::into),
        Verb::Score(args) => score::score(&args).map(Into::into),
        Verb::Verify(args) => verify::verify(&args).map(Into::into),
    }
}
