//! The verb `report`: a stored result again, in any format.

use std::path::PathBuf;

use btu_core::sample::Flag;
use btu_report::OpenMode;
use btu_report::ResultFiles;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::rendering::Rendering;

/// Options of `btu report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The directory of a result, or its bundle
    #[arg(value_name = "DIR|FILE")]
    directory: PathBuf,
    #[command(flatten)]
    rendering: Rendering,
    /// Show what can be read of a damaged journal (the result is then not rankable)
    #[arg(long)]
    salvage: bool,
}

/// Runs the verb.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let mode = if args.salvage { OpenMode::Salvage } else { OpenMode::Strict };
    let files = ResultFiles::read(&args.directory).map_err(Failure::usage)?;
    let stored = files.open(mode).map_err(Failure::unreadable)?;
    warn(stored.warnings());
    args.rendering.write(|format| stored.render(format).map_err(Failure::usage))?;
    Ok(Exit::Done)
}

pub(crate) fn warn(warnings: &[Flag]) {
    for warning in warnings {
        output::message(&format!("btu: warning: {}", warning.detail));
    }
}
