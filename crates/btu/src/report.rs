//! The verb `report`: a stored result again, in any format.

use std::path::PathBuf;

use btu_core::analysis::Analysis;
use btu_core::sample::Flag;
use btu_report::OpenMode;
use btu_report::Opened;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::pingpong;
use crate::rendering::Rendering;
use crate::traffic;

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
    if btu_report::is_pingpong(&args.directory) {
        let stored = pingpong::Stored::open(&args.directory, mode)?;
        args.rendering.write(|format| stored.render(format))?;
        return Ok(Exit::Done);
    }
    if btu_report::is_traffic(&args.directory) {
        let stored = traffic::Stored::open(&args.directory, mode)?;
        args.rendering.write(|format| stored.render(format))?;
        return Ok(Exit::Done);
    }
    let opened = btu_report::open(&args.directory, mode).map_err(Failure::usage)?;
    warn(&opened.warnings);
    let analysis = analysis(&opened);
    args.rendering.write(|format| render(format, &opened, &analysis))?;
    Ok(Exit::Done)
}

pub(crate) fn warn(warnings: &[Flag]) {
    for warning in warnings {
        output::message(&format!("btu: warning: {}", warning.detail));
    }
}

/// What the journal means; what was salvaged is never ranked.
fn analysis(opened: &Opened) -> Analysis {
    let mut analysis = opened.analyse();
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
