//! Options that every verb with a document takes: its format, and files to write it to.

use std::path::PathBuf;

use crate::exit::Failure;
use crate::output;

/// Where a document goes, and in which form.
#[derive(Debug, clap::Args)]
pub(crate) struct Rendering {
    /// Format on stdout: text, md, html, csv or json [default: text]
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<String>,
    /// Write exactly one JSON document to stdout (as --format json)
    #[arg(long)]
    json: bool,
    /// Write to this file, and to stdout only what --json or --format asks for; its ending names the
    /// format; repeatable
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
        match self.of_stdout() {
            Some(format) => output::bytes(&render(format)?),
            None => Ok(()),
        }
    }

    /// Files take the place of stdout, unless somebody asked for a form there as well.
    fn of_stdout(&self) -> Option<&str> {
        let asked = if self.json { Some("json") } else { self.format.as_deref() };
        asked.or_else(|| self.export.is_empty().then_some("text"))
    }

    /// True where stdout carries JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format.as_deref() == Some("json")
    }
}
