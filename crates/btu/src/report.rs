//! The verb `report`: a stored result again, in any format.

use std::path::PathBuf;

use btu_core::analysis::Analysis;
use btu_core::analysis::analyse;
use btu_core::sample::Flag;
use btu_report::OpenMode;
use btu_report::Opened;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::pingpong::Stored;

/// Options of `btu report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The directory of a result
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Format of the report: text, md, html, csv or json
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: String,
    /// Write exactly one JSON document to stdout (as --format json)
    #[arg(long)]
    json: bool,
    /// Write to this file instead of stdout; its ending names the format; repeatable
    #[arg(long, value_name = "FILE")]
    export: Vec<PathBuf>,
    /// Show what can be read of a damaged journal (the result is then not rankable)
    #[arg(long)]
    salvage: bool,
}

/// Runs the verb.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let mode = if args.salvage { OpenMode::Salvage } else { OpenMode::Strict };
    if btu_report::is_pingpong(&args.directory) {
        let stored = Stored::open(&args.directory, mode)?;
        return written(args, |format| stored.render(format));
    }
    let opened = btu_report::open(&args.directory, mode).map_err(Failure::usage)?;
    warn(&opened.warnings);
    let analysis = analysis(&opened);
    written(args, |format| render(format, &opened, &analysis))
}

pub(crate) fn warn(warnings: &[Flag]) {
    for warning in warnings {
        output::message(&format!("btu: warning: {}", warning.detail));
    }
}

/// Writes every form that was asked for.
fn written(
    args: &ReportArgs,
    render: impl Fn(&str) -> Result<Vec<u8>, Failure>,
) -> Result<Exit, Failure> {
    for file in &args.export {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let bytes = render(ending)?;
        std::fs::write(file, bytes).map_err(|error| {
            Failure::environment(
                anyhow::Error::new(error).context(format!("write {}", file.display())),
            )
        })?;
    }
    if args.export.is_empty() {
        let format = if args.json { "json" } else { &args.format };
        output::bytes(&render(format)?)?;
    }
    Ok(Exit::Done)
}

/// What the journal means; what was salvaged is never ranked.
fn analysis(opened: &Opened) -> Analysis {
    let mut analysis = analyse(&opened.journal);
    if opened.salvaged {
        let reason = "the journal is damaged; lines are missing".to_owned();
        analysis.warnings.push(Flag::new("salvaged", reason.clone()));
        analysis.not_rankable_reasons.push(reason);
    }
    analysis
}

fn render(format: &str, opened: &Opened, analysis: &Analysis) -> Result<Vec<u8>, Failure> {
    let document = btu_report::compose(&opened.journal, analysis);
    btu_report::render(format, &document, &opened.journal, analysis).map_err(Failure::usage)
}
