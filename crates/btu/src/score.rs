//! The verb `score`: BTU and penalties of a table that somebody else measured.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::ensure;
use btu_core::score::score_table;

use crate::exit::Exit;
use crate::exit::Failure;
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
    let text = text(&args.file).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    let score = score_table(&text).with_context(|| name.to_string()).map_err(Failure::usage)?;
    let form = if args.json { btu_report::score_json } else { btu_report::score_text };
    output::result(&form(&score))?;
    Ok(Exit::Done)
}

/// A table, or why it is none: what never ends is not read to its end.
fn text(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = File::open(file)?.take(LARGEST + 1).read_to_string(&mut text)?;
    ensure!(u64::try_from(read)? <= LARGEST, "it is larger than {} MiB", LARGEST >> 20);
    Ok(text)
}

/// A table of a million rows.
const LARGEST: u64 = 256 << 20;
