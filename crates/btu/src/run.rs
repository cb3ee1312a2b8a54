//! The verb `run`.

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu run`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(anyhow::anyhow!("run: not built yet (json: {})", args.json)))
}
