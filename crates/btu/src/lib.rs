//! The program: reads the command line, hands over to a verb, turns its end into an exit code.
//!
//! A library with one function, so that a build on two CPUs compiles it beside the engine: a program is
//! compiled after everything that is linked into it.
#![forbid(unsafe_code)]

mod agent;
mod app;
mod bundle;
mod cli;
mod compare;
mod completions;
mod conductor;
mod doctor;
mod elsewhere;
mod exit;
mod explain;
mod file;
mod input;
mod link;
mod list;
mod man;
mod measurement;
mod mesh;
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
mod rx_end;
mod score;
mod sign;
mod state;
mod stored;
mod traffic;
mod verify;

use std::process::ExitCode;
use std::sync::Arc;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

use crate::cli::Cli;
use crate::exit::Exit;

/// Runs what the command line of this process asks for; no panic passes it.
pub fn program() -> ExitCode {
    std::panic::set_hook(Box::new(output::internal_error));
    // A file at the limit of its size (`ulimit -f`) is then an error of the write that met it, told
    // with the file's name. Nobody needs the flag.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let ended = std::panic::catch_unwind(|| match Cli::read() {
        Ok(cli) => cli.run(),
        Err(refused) => output::answer(&refused),
    });
    match ended {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            output::failure(&failure);
            failure.exit.into()
        }
        Err(_panic) => Exit::Internal.into(),
    }
}
