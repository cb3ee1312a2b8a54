//! Curves as files that `NetPIPE`'s own tools read.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use btu_core::pingpong::analysis::Analysis;
use btu_core::pingpong::analysis::Measured;
use btu_core::pingpong::import::export_netpipe3;

use crate::exit::Failure;

/// Writes a single curve to `file`, several to `file.LABEL` each.
pub(super) fn export(analysis: &Analysis, file: &Path) -> Result<(), Failure> {
    let curves: Vec<&Measured> = analysis.timed().collect();
    for curve in &curves {
        let path = if curves.len() == 1 { file.to_owned() } else { labelled(file, &curve.label) };
        std::fs::write(&path, export_netpipe3(&curve.curve))
            .with_context(|| format!("write {}", path.display()))
            .map_err(Failure::environment)?;
    }
    Ok(())
}

/// `np.out.tcp-spin`
fn labelled(file: &Path, label: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", label.replace([' ', '/'], "-")));
    name.into()
}
