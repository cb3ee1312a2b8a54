//! The program: reads the command line, hands over to a verb, turns its end into an exit code.
#![forbid(unsafe_code)]

mod agent;
mod bundle;
mod cli;
mod closing;
mod compare;
mod completions;
mod conductor;
mod doctor;
mod exit;
mod explain;
mod link;
mod list;
mod man;
mod model;
mod output;
mod pair;
mod pingpong;
mod privilege;
mod progress;
mod rank;
mod redact;
mod rendering;
mod report;
mod run;
mod score;
mod sign;
mod stored;
mod traffic;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::exit::Exit;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(output::internal_error));
    let ended = std::panic::catch_unwind(|| Cli::parse().run());
    match ended {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output::failure(&failure);
            failure.exit.into()
        }
        Err(_panic) => Exit::Internal.into(),
    }
}
