//! Options that every verb with a document takes: its format, and files to write it to.

use std::path::PathBuf;

use crate::exit::Failure;
use crate::output;

/// Where a document goes, and in which form.
#[derive(Debug, clap::Args)]
pub(crate) struct Rendering {
    /// Format: text, md, html, csv or json
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: String,
    /// Write exactly one JSON document to stdout (as --format json)
    #[arg(long)]
    json: bool,
    /// Write to this file instead of stdout; its ending names the format; repeatable
    #[arg(long, value_name = "FILE")]
    export: Vec<PathBuf>,
}

impl Rendering {
    /// Writes every form that was asked for.
    pub(crate) fn write(
        &self,
        render: impl Fn(&str) -> Result<Vec<u8>, Failure>,
    ) -> Result<(), Failure> {
        for file in &self.export {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let bytes = render(ending)?;
            std::fs::write(file, bytes).map_err(|error| {
                Failure::environment(
                    anyhow::Error::new(error).context(format!("write {}", file.display())),
                )
            })?;
        }
        if self.export.is_empty() {
            let format = if self.is_json() { "json" } else { &self.format };
            output::bytes(&render(format)?)?;
        }
        Ok(())
    }

    /// True where stdout carries JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format == "json"
    }
}
