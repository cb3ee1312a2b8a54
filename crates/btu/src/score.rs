//! The verb `score`: BTU and penalties of a table that somebody else measured.

use std::path::PathBuf;

use anyhow::Context;
use btu_core::run::score::score_table;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::input;
use crate::output;

/// Options of `btu score`.
#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    /// A table of cells in JSON, or a result.json
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn score(args: &ScoreArgs) -> Result<Exit, Failure> {
    let name = args.file.display();
    let text =
        input::text(&args.file).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    let score = score_table(&text).with_context(|| name.to_string()).map_err(Failure::usage)?;
    let form = if args.json { btu_report::score_json } else { btu_report::score_text };
    output::result(&form(&score))?;
    Ok(Exit::Done)
}
