//! The verb `doctor`.

use crate::exit::Exit;
use crate::exit::Failure;

/// Options of `btu doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the verb.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    Err(Failure::usage(anyhow::anyhow!("doctor: not built yet (json: {})", args.json)))
}
