//! The verb `score`.

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu score`.
#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn score(args: &ScoreArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(anyhow::anyhow!("score: not built yet (json: {})", args.json)))
}
