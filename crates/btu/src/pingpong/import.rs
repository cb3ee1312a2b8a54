//! Curves from elsewhere, read before anything is measured and kept whole in the journal.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::pingpong::import;
use btu_core::pingpong::sample::Line;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredPingPong;

use crate::exit::Failure;
use crate::input;

/// The lines of all files and directories.
pub(super) fn lines(paths: &[PathBuf]) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    for path in paths {
        if path.is_dir() {
            lines.extend(of_result(path)?);
        } else {
            lines.push(of_file(path)?);
        }
    }
    Ok(lines)
}

fn of_file(path: &Path) -> Result<Line, Failure> {
    let file = path.display().to_string();
    let bytes =
        input::bytes(path).with_context(|| format!("import {file}")).map_err(Failure::usage)?;
    // A comment may be in any alphabet, and what is no text at all is in no known format.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    import::import(&file, &text).map_err(Failure::usage)?;
    Ok(Line::PingPongFile { file, text })
}

/// Every curve of another result.
fn of_result(path: &Path) -> Result<Vec<Line>, Failure> {
    let directory = path.display().to_string();
    let files = ResultFiles::read(path).map_err(Failure::usage)?;
    let verb = files.kind().verb;
    if verb != "pingpong" {
        let cause = anyhow!("import {directory}: the result of btu {verb}, not of btu pingpong");
        return Err(Failure::usage(cause));
    }
    let stored = StoredPingPong::open(&files, OpenMode::Strict).map_err(Failure::unreadable)?;
    let host = btu_report::pingpong_result(&stored.journal, &stored.analysis).host;
    let plan = &stored.journal.plan;
    let curves = stored.analysis.timed().map(|curve| curve.to_foreign(&directory, &host, plan));
    let lines: Vec<Line> = curves.map(|curve| Line::PingPongForeign(Box::new(curve))).collect();
    if lines.is_empty() {
        return Err(Failure::usage(anyhow!("import {directory}: no curve is in it")));
    }
    Ok(lines)
}
