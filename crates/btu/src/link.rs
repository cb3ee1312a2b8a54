//! The verb `link`.

use crate::exit::Failure;

/// Options of `btu link`.
#[derive(Debug, clap::Args)]
pub(crate) struct LinkArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn link(args: &LinkArgs) -> Result<std::process::ExitCode, Failure> {
    Err(Failure::usage(anyhow::anyhow!("link: not built yet (json: {})", args.json)))
}
