//! The verb `list`.

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(anyhow::anyhow!("list: not built yet (json: {})", args.json)))
}
