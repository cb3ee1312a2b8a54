//! The files that a link leaves: statistics, captured packets.

use std::fs::File;
use std::io;
use std::io::BufWriter;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use btu_testbed::capture::Capture;
use btu_testbed::capture::End;
use btu_testbed::capture::write_pcapng;
use serde_json::Value;

use super::options::OutputArgs;
use crate::exit::Failure;

/// Files opened before anything runs, so that a wrong path costs nothing.
#[derive(Debug)]
pub(crate) struct Files {
    statistics: Option<File>,
    capture: Option<File>,
}

impl Files {
    /// Creates what the options name.
    pub(crate) fn create(args: &OutputArgs) -> Result<Self, Failure> {
        Ok(Self {
            statistics: create("--stats", args.stats.as_deref())?,
            capture: create("--capture", args.capture.as_deref())?,
        })
    }

    /// Writes both, as far as they were asked for. The capture shows what the command's end saw.
    pub(crate) fn write(self, document: &Value, packets: Option<&Capture>) -> Result<(), Failure> {
        if let Some(mut file) = self.statistics {
            writeln!(file, "{document:#}")
                .context("--stats: write")
                .map_err(Failure::environment)?;
        }
        if let Some((file, packets)) = self.capture.zip(packets) {
            capture(file, packets).context("--capture: write").map_err(Failure::environment)?;
        }
        Ok(())
    }
}

fn capture(file: File, packets: &Capture) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write_pcapng(&mut out, std::slice::from_ref(packets), End::Near)?;
    out.flush()
}

fn create(option: &str, path: Option<&Path>) -> Result<Option<File>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let created =
        File::create(path).with_context(|| format!("{option}: create {}", path.display()));
    created.map(Some).map_err(Failure::usage)
}
