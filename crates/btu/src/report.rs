//! The verb `report`.

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(anyhow::anyhow!("report: not built yet (json: {})", args.json)))
}
